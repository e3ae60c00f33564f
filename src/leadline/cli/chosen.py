"""From what was typed and set to the tables, measures and switches that commands work on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from leadline.config import KINDS, Settings
from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.conventions import Conventions
    from leadline.inputs import Inputs
    from leadline.measure import Measure
    from leadline.scores import Scores
    from leadline.tables import Qrels, RunSource

AVERAGES = ("judged", "intersection")
COLLAPSE = ("collapse", "collapse_separator", "collapse_unmatched")
SWITCHES = ("ties", "order", "undefined", "depth", "duplicates", "ignore_self", "comments", *COLLAPSE)


def settled(given: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting: the option given, else the environment, else `leadline.toml`, else None."""
    settings = Settings.nearest()
    chosen = {name: settings.value(name, given.get(name)) for name in KINDS}
    if given.get("complete") is not None:
        chosen["complete"] = given["complete"]
    elif chosen["judgments"] not in (None, "complete", "partial"):
        raise UsageError(f"judgments = {chosen['judgments']!r} is not one of complete, partial")
    else:
        chosen["complete"] = chosen["judgments"] == "complete" or None
    return chosen


def with_passages(chosen: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with those of evidence and chunks; evidence takes the place of judgments that a file only sets.

    Raises
    ------
    UsageError: evidence beside --qrels, or what belongs to evidence without it.
    """
    chosen |= {name: given.get(name) or None for name in ("evidence", "chunks", "documents")}
    chosen["share"] = given.get("share", 0.5)
    if chosen["evidence"] is None:
        if chosen["chunks"] is not None:
            raise UsageError("--chunks goes with --evidence FILE")
        return chosen
    if given.get("collapse") is not None:
        raise UsageError("--collapse makes documents of chunks, and --evidence measures chunks: not both")
    chosen |= dict.fromkeys((*COLLAPSE, "collapse_mapping"))
    if given.get("qrels") is not None:
        raise UsageError(
            "give --qrels or --evidence, not both: from evidence the judgments of chunks are made"
        )
    if chosen["complete"] is False:
        raise UsageError(
            "--no-complete: judgments made from evidence are complete, as unmarked text is no evidence"
        )
    chosen["qrels"] = None
    return chosen


def with_model_labels(chosen: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with a model's labels beside people's (--ppi), and the certificate of a model's labels.

    Raises
    ------
    UsageError: what --ppi cannot go with.
    """
    chosen |= {name: given.get(name) for name in ("certificate", "ppi")}
    if chosen["ppi"] is None:
        return chosen
    if chosen.get("qrels") is None:
        raise UsageError("--ppi goes with --qrels: people's labels of some of the queries")
    if given.get("documents") is not None:
        raise UsageError(
            "--documents does not go with --ppi: copies of a text would be one for people's labels alone"
        )
    if [*given["runs"], chosen["qrels"], chosen["ppi"]].count("-") > 1:
        raise UsageError("standard input (-) can be read once")
    wrong = next((name for name in ("cluster", "weight") if chosen.get(name)), None)
    if wrong is not None:
        raise UsageError(f"--{wrong} does not go with --ppi, whose intervals take every query for itself")
    return chosen


def powered_by(
    scores: "Scores",
    given: "Inputs",
    asked: "Mapping[str, Measure]",
    rules: "Conventions",
    chosen: Mapping[str, Any],
    baseline: str | None = None,
) -> "Scores":
    """The scores with what people's labels and a model's say together, where --ppi names the model's."""
    if chosen.get("ppi") is None:
        return scores
    from leadline.inputs import Inputs
    from leadline.prediction_powered import powered, read_model_labels

    grading = _grading(chosen)
    book = labels_of_book(chosen["ppi"], chosen["qrels_format"], grading, ("model",))
    model = read_model_labels(
        book or chosen["ppi"],
        grading,
        chosen.get("certificate"),
        qrels_format=chosen["qrels_format"],
        comments=rules.comments,
    )
    alpha = chosen.get("alpha") or 0.05
    found = powered(given, model, asked, rules, baseline=baseline, alpha=alpha)
    hashed = any(one["sha256"] for one in scores.inputs)
    read = Inputs((), model, paths=(("qrels", chosen["ppi"] if book is None else book.source),))
    return replace(scores, powered=found, inputs=(*scores.inputs, *read.described(hashed, {})))


def _grading(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What becomes of the grades of judgments."""
    return {
        "conflicts": chosen["conflicts"] or "error",
        "grade_map": grade_map(chosen["grade_map"]),
        "max_grade": chosen["max_grade"],
    }


def rules_of(chosen: Mapping[str, Any]) -> "Conventions":
    """The switches: the profile's, and what was set beside it."""
    from leadline.conventions import conventions

    return conventions(
        chosen["profile"] or "leadline-1",
        queries=which_queries(chosen["queries"])[0],
        complete=True if chosen.get("evidence") else chosen["complete"],
        **{name: chosen[name] for name in SWITCHES},
    )


def evidence_words(chosen: Mapping[str, Any]) -> list[str]:
    """The options of evidence as words of a command.

    >>> evidence_words({"evidence": "e.jsonl", "chunks": ["a=a.jsonl"], "documents": None, "share": 0.5})
    ['--evidence', 'e.jsonl', '--chunks', 'a=a.jsonl']
    """
    words = ["--evidence", str(chosen["evidence"])]
    for one in chosen["chunks"] or []:
        words += ["--chunks", one]
    words += ["--documents", str(chosen["documents"])] if chosen["documents"] else []
    return words + (["--share", f"{chosen['share']:g}"] if chosen["share"] != 0.5 else [])


def listed(value: Any) -> list[str]:
    """The parts of an option that takes commas or repetition."""
    given = [] if value is None else [value] if isinstance(value, str) else list(value)
    return [part.strip() for text in given for part in text.split(",") if part.strip()]


def which_queries(value: Any) -> tuple[str | None, str | None]:
    """Which queries count, and the file of queries, from the values of --queries.

    Raises
    ------
    UsageError: two of a kind.
    """
    given = listed(value)
    averages = [word for word in given if word in AVERAGES]
    files = [word for word in given if word not in AVERAGES]
    if len(averages) > 1 or len(files) > 1:
        raise UsageError("--queries takes one file and one of judged, intersection")
    return (averages[0] if averages else None), (files[0] if files else None)


def grade_map(text: str | None) -> dict[float, float] | None:
    """The map of grades from `1=4,2=3`.

    Raises
    ------
    UsageError: the text has another form.

    >>> grade_map("1=4,2=3")
    {1.0: 4.0, 2.0: 3.0}
    """
    if text is None:
        return None
    try:
        pairs = [part.split("=") for part in text.split(",") if part.strip()]
        return {float(old): float(new) for old, new in pairs}
    except ValueError:
        raise UsageError(f"--grade-map {text!r} has not the form 1=4,2=3") from None


def grade_list(text: str | None) -> tuple[float, ...] | None:
    """The grades from `0,1,2`, ascending.

    >>> grade_list("3,0,1")
    (0.0, 1.0, 3.0)
    """
    if text is None:
        return None
    try:
        found = tuple(sorted({float(part) for part in text.split(",") if part.strip()}))
    except ValueError:
        found = ()
    if not found or not all(abs(grade) < float("inf") for grade in found):
        raise UsageError(f"--grades {text!r} has not the form 0,1,2,3")
    return found


def labels_of_book(
    path: str | None,
    form: str | None = None,
    grading: Mapping[str, Any] | None = None,
    kinds: tuple[str, ...] | None = None,
) -> "Qrels | None":
    """The labels of a book of judgments by the rule `latest`; None where the path is none, or a format is named.

    `kinds` keeps the judgments of some judges: person, unstated, model.

    Raises
    ------
    LeadlineError: it is a book and cannot be read, or has no label.
    """
    if path is None or path == "-" or form is not None:
        return None
    from leadline.formats.bookfile import is_book, is_rows, shown_name
    from leadline.formats.source import Source

    if not is_book(path) and (not Path(path).is_file() or not is_rows(Source.open(path))):
        return None
    from leadline.judging.exchange import rows_of
    from leadline.judging.labels import make_labels, of_kinds

    scale = {name: (grading or {}).get(name) for name in ("grade_map", "max_grade")}
    rows = rows_of(path) if kinds is None else of_kinds(rows_of(path), kinds)
    return make_labels(rows).qrels(shown_name(path), **scale)


def prepared(
    runs: list[str], chosen: Mapping[str, Any], watch: "Callable[[RunSource], RunSource] | None" = None
) -> "tuple[Inputs, dict[str, Measure], Conventions]":
    """The tables, the measures by the text asked, and the switches."""
    from leadline.evaluation import default_measures
    from leadline.inputs import OF_TEXT, gather
    from leadline.spelling import parse_all

    file, evidence = which_queries(chosen["queries"])[1], chosen.get("evidence")
    rules = rules_of(chosen)
    asked = parse_all(chosen["measures"] or default_measures(chosen["k"]), rules)
    grading = _grading(chosen)
    formats = {"input_format": chosen["input_format"], "qrels_format": chosen["qrels_format"]}
    ppi = chosen.get("ppi") is not None
    # Beside a model's labels those of a book are people's; the certificate then is of the model's.
    kinds = ("person", "unstated") if ppi else None
    book = labels_of_book(chosen["qrels"], chosen["qrels_format"], grading, kinds)
    of_text = {name: chosen.get(name) for name in (OF_TEXT if evidence else ("documents",))}
    judgments = book or chosen["qrels"]
    given = gather(
        list(runs),
        judgments,
        file,
        rules,
        grading=grading,
        evidence=evidence,
        of_text=of_text,
        certificate=None if ppi else chosen.get("certificate"),
        subtopics=any(measure.of_subtopics for measure in asked.values()),
        mapping=chosen.get("collapse_mapping"),
        **formats,
    )
    if book is not None:
        given = replace(given, paths=(*given.paths, ("qrels", book.source)))
    if watch is not None:
        given = replace(given, runs=tuple(watch(one) for one in given.runs))
    return given, asked, rules


def without_judgments(
    runs: Sequence[str], chosen: Mapping[str, Any], rules: "Conventions", quiet: bool = False
) -> "list[RunSource]":
    """The runs alone, where nothing is judged yet; what is to be said of them is said, unless `quiet`."""
    from leadline.inputs import gather_runs

    tables = gather_runs(
        list(runs),
        rules,
        input_format=chosen["input_format"],
        queries=which_queries(chosen["queries"])[1],
        mapping=chosen["collapse_mapping"],
        documents=chosen.get("documents"),
    )
    for table in () if quiet else tables:
        for note in getattr(table, "notes", ()):
            typer.echo(f"! {note}", err=True)
    return tables
