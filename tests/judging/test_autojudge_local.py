"""A real small model as a judge, behind a real server: everything around it works, and it is a poor judge, which must show."""

from pathlib import Path

from leadline.judging.autojudge import Asking, Item, judge_pairs, plan_judging
from leadline.judging.prompt import shipped_prompt
from leadline.models.cache import Cache
from leadline.models.endpoint import Endpoint
from models.local import NAME

ANSWERS = {
    "how long does the filter last": "A filter lasts six months. Order part 4711.",
    "how do I reset the pump": "Reset. Press the red button for ten seconds. The lamp turns green.",
    "which soap cleans the filter": "Never clean the filter with soap: it closes the pores. Rinse it under cold water.",
}


def test_a_small_model_is_a_poor_judge_and_that_shows(local_model: str, tmp_path: Path) -> None:
    """Nine calls: three queries with their own answers and with those of the others."""
    model = Endpoint(NAME, local_model, {"temperature": 0, "max_tokens": 150}, timeout=300)
    texts = list(ANSWERS.values())
    items = [
        Item(f"q{q}", f"d{d}", query, text) for q, query in enumerate(ANSWERS) for d, text in enumerate(texts)
    ]
    prompt, how = shipped_prompt(), Asking()
    with Cache.open(tmp_path / "c.db") as cache:
        plan = plan_judging(model, items, prompt, how, cache=cache)
        made = judge_pairs(model, items, prompt, how, cache=cache, concurrency=2)
        again = judge_pairs(model, items, prompt, how, cache=cache)
    assert plan.to_ask == made.spent.calls == 9
    assert again.spent.calls == 0 and again.results == made.results
    assert made.spent.prompt_tokens > 9 * 100
    # Every pair has a grade of the scale or an error with its reason, and nothing is left.
    assert len(made.labelled) + len(made.failed) == 9 and made.left == 0
    assert all(one.grade in prompt.grades for one in made.labelled)
    assert all(one.said for one in made.failed)
    # A person would give each query's own text 3 and the others 0 or 1. This judge does not come near.
    right = sum(
        one.grade is not None and (one.grade == 3) == (one.item.query_id[1] == one.item.doc_id[1])
        for one in made.results
    )
    assert right < 9
