"""The files of RefChecker, FaithBench and RAGChecker's meta evaluation: answers with labels of people, and of tools."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from leadline.errors import InputError, UsageError, amount, printable
from leadline.formats.faults import Faults
from leadline.formats.jsonwalk import Node, counted, tree
from leadline.formats.labelled import Answer, Claim, Label, LabelledAnswers, held_of_answers
from leadline.formats.lists import Held
from leadline.formats.source import Source
from leadline.formats.toolsniff import recognise_tool

ENTAILMENT = ("Entailment", "Neutral", "Contradiction")
CLAIMS = "_response_kg"
"""The ending of RefChecker's field of claims; before it stands who took them out of the answer."""
ASPECTS = {
    "correctness_label": "correctness",
    "completeness_label": "completeness",
    "overall_label": "overall",
}
PAIR = ("model1", "model2")


def labelled_answers(path: str | Path, input_format: str | None = None) -> LabelledAnswers:
    """The answers, claims and labels of a file, by its content or in the format named.

    Raises
    ------
    UsageError: it is no file of labelled answers. InputError, RowsError: the file is wrong.

    >>> import tempfile, pathlib
    >>> claim = '{"triplet": ["it", "is", "red"], "human_label": "Neutral"}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "answers.json")
    ...     _ = file.write_text('[{"id": "7", "response": "It is red.", "m_response_kg": [' + claim + "]}]")
    ...     labelled_answers(file).claim_table()["text"].to_list()
    ['it is red']
    """
    source = Source.open(path)
    form = input_format or recognise_tool(source.head(), "queries")
    if form not in READERS:
        raise UsageError(f"{printable(source.name)}: no file of labelled answers: {', '.join(READERS)}")
    return READERS[form](source)


def of_refchecker(source: Source) -> LabelledAnswers:
    """RefChecker: a list of answers, the claims of each as triplets, and one person's label on each of them."""
    faults = Faults(source.name)
    answers: dict[str, Answer] = {}
    claims: list[Claim] = []
    labels: list[Label] = []
    extractors: set[str] = set()
    for row in _rows(source, faults):
        with counted(faults):
            own = _new(row.need("id"), answers)
            answer = Answer(own, row.need("response").text("response"), line=len(answers) + 1)
            answers[own] = answer
            fields = [(name, node) for name, node in row.fields() if name.endswith(CLAIMS)]
            if len(fields) != 1:
                raise row.wrong(
                    f"one field of claims, named after who took them out, such as claude2{CLAIMS}"
                )
            extractors.add(fields[0][0].removesuffix(CLAIMS))
            for number, node in enumerate(fields[0][1].each(), start=1):
                with counted(faults, f"answer {printable(own)!r}"):
                    parts = tuple(one.text("part of a claim") for one in node.need("triplet").each())
                    if len(parts) != 3:
                        raise node.need("triplet").wrong("a list of three texts: subject, relation, object")
                    said = _one_of(node.need("human_label"), ENTAILMENT)
                    claims.append(Claim(own, number, " ".join(parts), parts))
                    labels.append(Label(own, number, "person", "entailment", said))
    faults.check()
    notes = (f"claims taken out by {printable(', '.join(sorted(extractors)))}",) if extractors else ()
    return _made(source, answers.values(), claims, labels, notes)


def of_faithbench(source: Source) -> LabelledAnswers:
    """FaithBench: summaries (the answers) of a source (the context); each marked passage is a claim, by one person, with any
    number of labels. What detectors said of the whole summary are labels of the aspect `faithful`.
    """
    faults = Faults(source.name)
    answers: dict[str, Answer] = {}
    claims: list[Claim] = []
    labels: list[Label] = []
    without = 0
    for row in _rows(source, faults, "samples"):
        with counted(faults):
            own = _new(row.need("sample_id"), answers)
            text, context = row.need("summary").text("summary"), row.need("source").text("source")
            more = row.need("metadata")
            system = more.get("summarizer")
            name = None if system is None else system.text("summarizer")
            answers[own] = Answer(own, text, system=name, contexts=(context,), line=len(answers) + 1)
            for who, node in more.fields():
                if who in ("summarizer", "raw_sample_id"):
                    continue
                without += node.value is None
                if node.value is not None:
                    labels.append(Label(own, None, "model", "faithful", None, node.number("verdict"), who))
            for number, node in enumerate(row.need("annotations").each(), start=1):
                with counted(faults, f"sample {printable(own)!r}"):
                    claim, found = _marked(node, own, number, text, context)
                    claims.append(claim)
                    labels += found
    faults.check()
    notes = (f"{amount(without, 'verdict')} of detectors missing: null",) if without else ()
    return _made(source, answers.values(), claims, labels, notes)


def _marked(node: Node, own: str, number: int, text: str, context: str) -> tuple[Claim, list[Label]]:
    """One marked passage and its labels."""
    start, end, said = _span(node, "summary", text)
    source = _span(node, "source", context) if node.get("source_span") is not None else (None, None, None)
    who = node.need("annotator_id").id("annotator's id")
    told = node.get("note")
    note = "" if told is None else told.text("note")
    claim = Claim(own, number, said, (), start, end, source[2], source[0], source[1])
    names = [one.text("label") for one in node.need("label").each()]
    return claim, [Label(own, number, "person", "faithfulness", name, None, who, note=note) for name in names]


def _span(node: Node, name: str, text: str) -> tuple[int, int, str]:
    """A passage by its characters, which must be what stands there."""
    said = node.need(f"{name}_span")
    start, end = (_whole(node.need(f"{name}_{edge}")) for edge in ("start", "end"))
    if not 0 <= start <= end <= len(text) or text[start:end] != said.text("passage"):
        raise said.wrong(f"the text of characters {start} to {end} of the {name}")
    return start, end, text[start:end]


def of_ragchecker_meta(source: Source) -> LabelledAnswers:
    """RAGChecker's meta evaluation: pairs of answers to one question, `model1` and `model2`.

    A person's label compares the two, from -2 to 2; below 0 speaks for the first. Each person has a row of their own, and the
    file does not name them: who comes first is `1`. The file of its own scores has a number for each answer instead.
    """
    faults = Faults(source.name)
    answers: dict[str, Answer] = {}
    labels: list[Label] = []
    seen: dict[str, int] = {}
    for row in _rows(source, faults):
        with counted(faults):
            instance = row.need("instance_id").id("instance's id")
            place = seen[instance] = seen.get(instance, 0) + 1
            both = []
            for name in PAIR:
                answer, scores = _of_pair(row, row.need(name), f"{instance}/{name}", len(answers) + 1)
                before = answers.setdefault(answer.answer_id, answer)
                if _words(before) != _words(answer):
                    raise row.need(name).wrong(
                        f"the same answer as before under {printable(answer.answer_id)!r}"
                    )
                both.append(answer.answer_id)
                labels += scores
            for field, aspect in ASPECTS.items():
                given = row.get(field)
                if given is not None:
                    value = _whole(given)
                    if not -2 <= value <= 2:
                        raise given.wrong("a whole number from -2 to 2")
                    labels.append(
                        Label(both[0], None, "person", aspect, None, float(value), str(place), both[1])
                    )
    faults.check()
    return _made(source, answers.values(), [], labels)


def _of_pair(row: Node, node: Node, own: str, line: int) -> tuple[Answer, list[Label]]:
    """One answer of a pair, and the scores of the tool on it."""
    collection, reference = row.get("dataset"), row.get("gt_answer")
    answer = Answer(
        own,
        node.need("response").text("response"),
        row.need("query_id").id("query's id"),
        None if collection is None else collection.text("dataset"),
        row.need("query").text("query"),
        None if reference is None else reference.text("gt_answer"),
        node.need("model_name").text("model's name"),
        line=line,
    )
    scores = node.get("ragchecker")
    found = [] if scores is None else scores.fields()
    return answer, [
        Label(own, None, "model", ASPECTS.get(name, name), None, one.number("score"), "ragchecker")
        for name, one in found
    ]


def _words(answer: Answer) -> tuple[Any, ...]:
    return (answer.text, answer.query_id, answer.collection, answer.question, answer.reference, answer.system)


def _rows(source: Source, faults: Faults, field: str = "") -> list[Node]:
    """The elements of the list that the file is, or that stands in its field."""
    whole = tree(source)
    rows: list[Node] = []
    with counted(faults):
        rows += (whole.need(field) if field else whole).each()
    return rows


def _new(node: Node, known: dict[str, Answer]) -> str:
    """The id of an answer that has not stood before."""
    own = node.id("answer's id")
    if own in known:
        raise node.wrong("an id that stands once")
    return own


def _one_of(node: Node, names: tuple[str, ...]) -> str:
    if node.value not in names:
        raise node.wrong(f"one of {', '.join(names)}")
    return str(node.value)


def _whole(node: Node) -> int:
    if isinstance(node.value, bool) or not isinstance(node.value, int) or abs(node.value) > 2**53:
        raise node.wrong("a whole number")
    return node.value


def _made(
    source: Source,
    answers: Iterable[Answer],
    claims: list[Claim],
    labels: list[Label],
    notes: tuple[str, ...] = (),
) -> LabelledAnswers:
    rows = tuple(answers)
    if not rows:
        raise InputError(f"{printable(source.name)}: no answers in it")
    return LabelledAnswers(rows, tuple(claims), tuple(labels), source.name, notes)


READERS = {"refchecker": of_refchecker, "faithbench": of_faithbench, "ragchecker-meta": of_ragchecker_meta}
"""The reader of each format."""


def read_refchecker(source: Source) -> Held:
    """The answers of a RefChecker file as queries; see `held_of_answers`."""
    return held_of_answers(of_refchecker(source))


def read_faithbench(source: Source) -> Held:
    """The summaries of a FaithBench file as queries; see `held_of_answers`."""
    return held_of_answers(of_faithbench(source))


def read_ragchecker_meta(source: Source) -> Held:
    """The answers of RAGChecker's meta evaluation as queries; see `held_of_answers`."""
    return held_of_answers(of_ragchecker_meta(source))
