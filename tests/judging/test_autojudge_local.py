"""A real small model as a judge, behind a real server: everything around it works, and it is a poor judge, which must show."""

from pathlib import Path

import pytest

from leadline.judging.autojudge import Asking, AutoJudged, Item, judge_pairs, plan_judging
from leadline.judging.certify import Rules, make_certificate
from leadline.judging.model_labels import write_file
from leadline.judging.prompt import shipped_prompt
from leadline.judging.two_judges import put_together, read_model, read_people
from leadline.models.cache import Cache
from leadline.models.endpoint import Endpoint
from leadline.report.certificate_text import certificate_text
from models.local import NAME

ANSWERS = {
    "how long does the filter last": "A filter lasts six months. Order part 4711.",
    "how do I reset the pump": "Reset. Press the red button for ten seconds. The lamp turns green.",
    "which soap cleans the filter": "Never clean the filter with soap: it closes the pores. Rinse it under cold water.",
    "what does the blue lamp mean": "A blue lamp means that the tank is full. Empty it within a day.",
    "where is the serial number": "The serial number is printed under the lid, on the left side.",
    "can the pump stand outside": "Keep the pump indoors. Frost breaks its housing.",
}
PEOPLE = {(f"q{q}", f"d{d}"): 3.0 if q == d else 0.0 for q in range(6) for d in range(6) if q // 3 == d // 3}
"""Each query with its own answer, which is a 3, and with those of two others."""


@pytest.fixture(scope="module")
def judged(local_model: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[AutoJudged, AutoJudged, int]:
    """What the model said of the eighteen pairs, the same from the cache, and how many calls the plan had."""
    model = Endpoint(NAME, local_model, {"temperature": 0, "max_tokens": 150}, timeout=300)
    queries, texts = list(ANSWERS), list(ANSWERS.values())
    items = [Item(q, d, queries[int(q[1])], texts[int(d[1])]) for q, d in PEOPLE]
    prompt, how = shipped_prompt(), Asking()
    with Cache.open(tmp_path_factory.mktemp("local") / "c.db") as cache:
        plan = plan_judging(model, items, prompt, how, cache=cache)
        made = judge_pairs(model, items, prompt, how, cache=cache, concurrency=2)
        return made, judge_pairs(model, items, prompt, how, cache=cache), plan.to_ask


def test_a_small_model_is_a_poor_judge_and_that_shows(judged: tuple[AutoJudged, AutoJudged, int]) -> None:
    made, again, planned = judged
    assert planned == made.spent.calls == 18
    assert again.spent.calls == 0 and again.results == made.results
    assert made.spent.prompt_tokens > 18 * 100
    # Every pair has a grade of the scale or an error with its reason, and nothing is left.
    assert len(made.labelled) + len(made.failed) == 18 and made.left == 0
    assert all(one.grade in shipped_prompt().grades for one in made.labelled)
    assert all(one.said for one in made.failed)
    # A person would give each query's own text 3 and the others 0. This judge does not come near.
    right = sum(
        one.grade is not None and (one.grade == 3) == (PEOPLE[one.item.pair] == 3) for one in made.results
    )
    assert right < 18


def test_its_certificate_says_that_it_is_a_poor_judge(
    judged: tuple[AutoJudged, AutoJudged, int], tmp_path: Path
) -> None:
    made = judged[0]
    labels = {one.item.pair: one.grade for one in made.labelled if one.grade is not None}
    write_file(tmp_path / "m.txt", made.judge, labels)
    (tmp_path / "p.txt").write_text("".join(f"{q} 0 {d} {grade:g}\n" for (q, d), grade in PEOPLE.items()))
    sides = read_people(str(tmp_path / "p.txt")), read_model(str(tmp_path / "m.txt"))
    found = make_certificate(put_together(*sides, range(4)), Rules("random"))
    assert found.judge == made.judge and found.body["n"] == len(labels)
    # It is refused, and not only because the sample is small: whoever calls everything 0 is right more often.
    equal = sum(grade == PEOPLE[pair] for pair, grade in labels.items()) / len(labels)
    zero = sum(PEOPLE[pair] == 0 for pair in labels) / len(labels)
    assert not found.valid and equal < zero
    assert (
        f"it does not beat the majority class: {equal:.3f} of its grades are people's, and one grade given to every pair "
        f"would reach {zero:.3f}"
    ) in found.reasons
    # Nor does its kappa lie above 0 for certain: a bound at or below it, or none at all.
    (of_kappa,) = [one for one in found.reasons if one.startswith("kappa")]
    low = found.body["kappa"]["low"]
    said = "has no interval" if low is None else f"lower bound, {low:.3f}, is not above 0"
    assert said in of_kappa and (low is None or low <= 0)
    assert certificate_text(found).startswith("not valid, neither for reporting nor for gating, because")
