"""The collected cases about books and agreement, and real judges: people's grades beside those of three models."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline.errors import InputError
from leadline.formats.heldtables import qrels_of_held
from leadline.formats.lists import Graded, Held
from leadline.formats.quepid import guarded, unguarded
from leadline.formats.source import Source
from leadline.formats.tools import read_tool, write_tool
from leadline.formats.toolsniff import recognise_tool
from leadline.formats.write import write_qrels
from leadline.judging.agreement import Rules, agreement_report
from leadline.judging.assignment import Places, order_for
from leadline.judging.book import Book
from leadline.judging.exchange import read_judgments
from leadline.judging.judgment import Judgment
from leadline.judging.labels import make_labels, quepid_consensus, rounded
from leadline.stats.agreement import cohen_kappa, confusion_table, grade_counts, gwet_ac
from leadline.stats.krippendorff import METRICS, krippendorff_alpha
from shared.folder import CASES, everything_required

if not CASES.exists() and not everything_required():
    pytest.skip(f"{CASES} is absent", allow_module_level=True)


def load(name: str) -> dict[str, dict[str, Any]]:
    lines = (CASES / name).read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


JUDGING, STATISTICS = load("judging.jsonl"), load("statistics.jsonl")


def listed(folder: Path, text: str) -> Any:
    path = folder / "list"
    path.write_text(text)
    source = Source.open(path)
    kind = recognise_tool(source.head(), "judgments")
    assert kind is not None
    return read_tool(kind, source)


def test_quepids_lists(tmp_path: Path) -> None:
    j01 = listed(tmp_path, JUDGING["j01"]["input"])
    assert [[row.query, row.doc_id, row.grade] for row in j01.graded] == JUDGING["j01"]["expected"]["pairs"]
    assert j01.keys() == JUDGING["j01"]["expected"]["queries"]
    j02 = JUDGING["j02"]
    assert [guarded(text) for text in j02["input"]["internal"]] == j02["expected"]["file_values"]
    assert [unguarded(text) for text in j02["expected"]["file_values"]] == j02["expected"]["round_trip"]
    j03 = listed(tmp_path, JUDGING["j03"]["input"])
    assert [[row.query, row.doc_id, row.grade] for row in j03.graded] == JUDGING["j03"]["expected"]
    j31 = listed(tmp_path, JUDGING["j31"]["input"])
    assert [[r.query, r.doc_id, r.who, r.grade] for r in j31.graded] == JUDGING["j31"]["expected"]


def test_lists_of_other_tools(tmp_path: Path) -> None:
    j04, j05, j33 = JUDGING["j04"], JUDGING["j05"], JUDGING["j33"]
    for shape in j04["input"].values():
        query = {"placeholders": {"$query": "q"}, **shape}
        found = listed(tmp_path, json.dumps({"queries": [query]}))
        assert {row.doc_id: row.grade for row in found.graded} == j04["expected"]
    (row,) = (found := listed(tmp_path, j05["input"])).graded
    told = {"grade": row.grade, "qid": found.own[row.query], "doc_id": row.doc_id, "query": row.query}
    assert told == j05["expected"]
    for name in ("a", "b"):
        rating = {"judgmentRatings": [{"query": "q", "ratings": [j33["input"][name]]}]}
        assert [one.grade for one in listed(tmp_path, json.dumps(rating)).graded] == [j33["expected"][name]]
    null = {"judgmentRatings": [{"query": "q", "ratings": [j33["input"]["c"]]}]}
    with pytest.raises(InputError, match="query 'q', document 'd1'"):
        listed(tmp_path, json.dumps(null))


def test_ids_of_any_text_and_texts_that_are_kept_apart(tmp_path: Path) -> None:
    ids = JUDGING["j41"]["input"]
    held = Held("text", tuple(Graded(text, one, 1.0) for text in JUDGING["j44"]["input"] for one in ids))
    for name in ("quepid", "quepid-book", "quepid-json", "opensearch", "rre"):
        write_tool(name, held, tmp_path / name)
        found = read_tool(name, Source.open(tmp_path / name))
        assert [(row.query, row.doc_id) for row in found.graded] == [
            (row.query, row.doc_id) for row in held.graded
        ]
    with pytest.raises(InputError, match="white space"):
        write_qrels(qrels_of_held(held), tmp_path / "x.qrels")
    (tmp_path / "latin.csv").write_bytes(bytes.fromhex(JUDGING["j43"]["input"]["bytes_hex"]))
    with pytest.raises(InputError, match="line 2, column 2: text that is not UTF-8"):
        read_tool("quepid", Source.open(tmp_path / "latin.csv"))


def test_labels() -> None:
    j07 = JUDGING["j07"]
    assert [quepid_consensus(votes) for votes in j07["input"]] == j07["expected"]["raw"]
    assert [rounded(quepid_consensus(votes)) for votes in j07["input"]] == j07["expected"]["rounded"]
    assert [v for v in (0.5, 1.5, 2.5) if round(v) != rounded(v)] == j07["expected"][
        "python_round_differs_for"
    ]
    with Book.open(":memory:") as book:
        for step in ("after_step1", "after_step2"):
            row = {"after_step1": {"grade": 2}, "after_step2": {"mark": "unsure"}}[step]
            book.add([Judgment("q", "d1", who="ana", **row)])
            found = {one.doc_id: one.grade for one in make_labels(book.rows()).labels}
            assert found == JUDGING["j08"]["expected"][step]


def test_places_orders_and_undoing() -> None:
    j09 = JUDGING["j09"]
    rows = []
    for doc, who, what in j09["input"]["rows"]:
        kind = "model" if who.startswith("llm") else "person"
        said = {"grade": 1} if what == "judged" else {"mark": what}
        rows.append(Judgment("q", doc, who=who, kind=kind, **said))
    places, overlap = Places(rows), j09["input"]["overlap"]
    assert places.is_open(("q", "p1"), j09["expected"]["p1_open_for"], overlap)
    assert len(places.graded_by(("q", "p1"))) == j09["expected"]["p1_human_grades"]
    assert (places.free(("q", "p2"), overlap) > 0) is j09["expected"]["p2_open"]
    assert not places.fits(Judgment("q", "p2", 1, who="carl"), overlap)
    j47 = JUDGING["j47"]["input"]
    pairs = [("q", doc) for doc in j47["pairs"]]
    for who in j47["assessors"]:
        assert order_for(who, pairs, j47["seed"]) == order_for(who, pairs[::-1], j47["seed"])
        assert sorted(order_for(who, pairs, j47["seed"])) == pairs
    with Book.open(":memory:") as book:
        done = None
        for step in JUDGING["j48"]["input"]:
            if step == "undo":
                done = book.undo("ana")
            else:
                doc, grade = step.removeprefix("judge ").split("=")
                book.add([Judgment("q", doc, float(grade), who="ana")])
        assert done is None and book.standing() == []
        assert len(book.rows()) == JUDGING["j48"]["expected"]["log_rows"]


def test_agreement() -> None:
    case = STATISTICS["cohen_kappa_2x2"]
    kappa = cohen_kappa(case["input"]["table"])
    assert kappa.estimate == pytest.approx(case["expected"]["kappa"], abs=case["tolerance"])
    assert kappa.se == pytest.approx(case["expected"]["se"], abs=case["tolerance"])
    case = STATISTICS["weighted_kappa_4"]
    for weights, name in (("none", "k"), ("linear", "lin"), ("quadratic", "quad")):
        found = cohen_kappa(case["input"]["table"], weights).estimate
        assert found == pytest.approx(case["expected"][name], abs=case["tolerance"])
    case = STATISTICS["weighted_kappa_missing_grade"]
    grades = case["input"]["grades"]
    table = confusion_table(case["input"]["a"], case["input"]["b"], grades)
    assert cohen_kappa(table, "quadratic", grades).estimate == pytest.approx(
        case["expected"]["full"], abs=1e-12
    )
    case = STATISTICS["krippendorff_canonical"]
    units = [[g for g in unit if g is not None] for unit in zip(*case["input"]["data"], strict=True)]
    for metric in METRICS:
        found = krippendorff_alpha(grade_counts(units, range(1, 6)), range(1, 6), metric)
        assert found == pytest.approx(case["expected"][metric], abs=case["tolerance"])
    case = STATISTICS["gwet_ac1_ac2"]
    cells = enumerate(case["input"]["table"])
    counts = grade_counts([[i, j] for i, row in cells for j, n in enumerate(row) for _ in range(n)], range(3))
    for weights, name in (("none", "ac1"), ("linear", "ac2_linear"), ("quadratic", "ac2_quadratic")):
        assert gwet_ac(counts, range(3), weights) == pytest.approx(
            case["expected"][name], abs=case["tolerance"]
        )
    case = JUDGING["j29"]
    found = krippendorff_alpha(grade_counts(case["input"]["units"], [0, 1]), [0, 1], "nominal")
    assert found == pytest.approx(case["expected"]["alpha"], abs=1e-5)
    assert krippendorff_alpha(grade_counts(case["input"]["all_same"], [0, 1]), [0, 1], "nominal") is None


def test_real_judges(shared_data, needs, tmp_path: Path) -> None:
    """4,423 pairs of 25 queries by people and three models, through files and a book, against other programs."""
    metrics, program = needs("sklearn.metrics"), needs("krippendorff")
    with Book.open(tmp_path / "judgments.db") as book:
        book.merge(read_judgments(shared_data("llmjudge/llmjudge_test_qrel_idx.txt"), who="people").rows)
        for name in ("h2oloo-fewself", "Olz-gpt4o", "TREMA-4prompts"):
            path = tmp_path / f"{name}.qrels"
            path.write_bytes(gzip.decompress(shared_data(f"llmjudge/scores/{name}.txt.gz").read_bytes()))
            # As persons, so that they are compared.
            book.merge(read_judgments(path, who=name).rows)
        rows = book.rows()
    report = agreement_report(rows, Rules(scale=(0, 1, 2, 3), resamples=500))
    judges = ["Olz-gpt4o", "TREMA-4prompts", "h2oloo-fewself", "people"]
    graded: dict[str, dict[tuple[str, str], float]] = {name: {} for name in judges}
    for row in rows:
        graded[row.who][row.query_id, row.doc_id] = row.grade
    pairs = sorted(graded["people"])
    assert report["overall"]["pairs"] == len(pairs) == 4423
    table = np.array([[graded[name].get(pair, np.nan) for pair in pairs] for name in judges])
    for metric in METRICS:
        theirs = program.alpha(reliability_data=table, value_domain=[0, 1, 2, 3], level_of_measurement=metric)
        assert report["alpha"][metric] == pytest.approx(theirs, abs=1e-9)
    assert report["alpha"]["low"] < report["alpha"]["ordinal"] < report["alpha"]["high"]
    assert [(row["a"], row["b"]) for row in report["pairs_of_persons"]] == [
        (a, b) for i, a in enumerate(judges) for b in judges[i + 1 :]
    ]
    for row in report["pairs_of_persons"]:
        both = [pair for pair in pairs if pair in graded[row["a"]] and pair in graded[row["b"]]]
        a, b = ([graded[who][pair] for pair in both] for who in (row["a"], row["b"]))
        for ours, weights in (("none", None), ("linear", "linear"), ("quadratic", "quadratic")):
            theirs = metrics.cohen_kappa_score(a, b, labels=[0, 1, 2, 3], weights=weights)
            assert row[f"kappa_{ours}"] == pytest.approx(theirs, abs=1e-9)
        assert row["confusion"] == metrics.confusion_matrix(a, b, labels=[0, 1, 2, 3]).tolist()
        assert row["low"] < row["kappa"] < row["high"]
