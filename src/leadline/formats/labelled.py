"""Answers of systems with their claims and the labels that people or tools gave them: one shape, three tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from leadline.formats.lists import Asked, Held

if TYPE_CHECKING:
    import polars as pl

Kind = Literal["person", "model"]
TOLD = 12
"""How many labels at most are counted beside each answer where the answers become rows of queries."""


@dataclass(frozen=True)
class Answer:
    """One answer of one system.

    Attributes
    ----------
    answer_id: one answer in the file. text: of the answer. query_id, collection: the question's, as the file has them.
    question, reference: the question and the right answer, where the file has them. system: whose answer it is.
    contexts: what the answer was made from. line: the row of the file, from 1.
    """

    answer_id: str
    text: str
    query_id: str | None = None
    collection: str | None = None
    question: str | None = None
    reference: str | None = None
    system: str | None = None
    contexts: tuple[str, ...] = ()
    line: int = 0


@dataclass(frozen=True)
class Claim:
    """A statement of an answer: taken out of it, or a passage that somebody marked in it.

    Attributes
    ----------
    claim: its number among the answer's, from 1. parts: subject, relation and object, where it is given so.
    start, end: characters of the answer. source, source_start, source_end: the passage of the context that belongs to it.
    """

    answer_id: str
    claim: int
    text: str
    parts: tuple[str, ...] = ()
    start: int | None = None
    end: int | None = None
    source: str | None = None
    source_start: int | None = None
    source_end: int | None = None


@dataclass(frozen=True)
class Label:
    """One word on one claim, one answer, or a pair of answers.

    Attributes
    ----------
    claim: None where it is of the whole answer. other_id: of a pair, the second answer. who: said it; None where the file
    does not say. kind: of them. aspect: what was looked at. label: as the file has it, or value: a number.
    """

    answer_id: str
    claim: int | None
    kind: Kind
    aspect: str
    label: str | None = None
    value: float | None = None
    who: str | None = None
    other_id: str | None = None
    note: str = ""


@dataclass(frozen=True)
class LabelledAnswers:
    """What a file of labelled answers holds, in its order.

    >>> found = LabelledAnswers(
    ...     (Answer("a", "It is red and round."),), (Claim("a", 1, "it is red"),), (Label("a", 1, "person", "support", "no"),)
    ... )
    >>> found.answer_table().height, found.label_table()["label"].to_list(), found.counts()
    (1, ['no'], {'answers': 1, 'claims': 1, 'labels': 1})
    """

    answers: tuple[Answer, ...] = ()
    claims: tuple[Claim, ...] = ()
    labels: tuple[Label, ...] = ()
    source: str = "file"
    notes: tuple[str, ...] = field(default=())

    def answer_table(self) -> "pl.DataFrame":
        """One row an answer, with the columns of `Answer`; what the file does not say is null."""
        import polars as pl

        return _table(self.answers, {"contexts": pl.List(pl.String), "line": pl.Int64}, Answer)

    def claim_table(self) -> "pl.DataFrame":
        """One row a claim, with the columns of `Claim`."""
        import polars as pl

        numbers = dict.fromkeys(("claim", "start", "end", "source_start", "source_end"), pl.Int64)
        return _table(self.claims, {**numbers, "parts": pl.List(pl.String)}, Claim)

    def label_table(self) -> "pl.DataFrame":
        """One row a label, with the columns of `Label`."""
        import polars as pl

        return _table(self.labels, {"claim": pl.Int64, "value": pl.Float64}, Label)

    def counts(self) -> dict[str, int]:
        """How many answers, claims and labels there are."""
        return {"answers": len(self.answers), "claims": len(self.claims), "labels": len(self.labels)}

    def unlabelled(self) -> list[Claim]:
        """The claims on which nobody said anything."""
        told = {(label.answer_id, label.claim) for label in self.labels}
        return [claim for claim in self.claims if (claim.answer_id, claim.claim) not in told]


def held_of_answers(found: LabelledAnswers) -> Held:
    """The answers as queries, each a row of its own under its id: the question as the text, and beside it `answer`,
    `gold_answer`, `system`, `context` where there is one, and how many claims it has, in all and by what people said of
    them. What is left out is said.

    >>> held = held_of_answers(LabelledAnswers((Answer("a", "It is red.", question="what colour?"),)))
    >>> held.asked[0].text, held.asked[0].more["answer"]
    ('what colour?', 'It is red.')
    """
    claims: dict[str, int] = {}
    for claim in found.claims:
        claims[claim.answer_id] = claims.get(claim.answer_id, 0) + 1
    said: dict[str, dict[str, int]] = {}
    names = sorted({one.label for one in found.labels if one.claim is not None and one.label is not None})
    for label in found.labels:
        if label.claim is not None and label.label is not None and len(names) <= TOLD:
            mine = said.setdefault(label.answer_id, {})
            mine[label.label] = mine.get(label.label, 0) + 1
    asked = []
    for one in found.answers:
        more: dict[str, Any] = {
            "answer": one.text, "gold_answer": one.reference, "system": one.system,
            "of_query": one.query_id, "collection": one.collection,
            "context": one.contexts[0] if len(one.contexts) == 1 else None,
        }  # fmt: skip
        if found.claims:
            more["claims"] = claims.get(one.answer_id, 0)
            more |= {
                f"claims_{name}": said.get(one.answer_id, {}).get(name, 0) for name in names[:TOLD] if said
            }
        kept = {name: value for name, value in more.items() if value is not None}
        asked.append(Asked(one.answer_id, one.question, kept, one.line))
    left = {
        "contexts": sum(len(one.contexts) for one in found.answers if len(one.contexts) > 1),
        "claims": len(found.claims),
        "labels": len(found.labels),
    }
    notes = ("each row is an answer", *found.notes)
    return Held("id", asked=tuple(asked), notes=notes, source=found.source, left=left)


def _table(rows: tuple[Any, ...], types: Mapping[str, Any], of: type) -> "pl.DataFrame":
    import polars as pl

    names = list(of.__dataclass_fields__)  # type: ignore[attr-defined]
    columns = {name: [getattr(row, name) for row in rows] for name in names}
    for name, values in columns.items():
        columns[name] = [list(value) if isinstance(value, tuple) else value for value in values]
    return pl.DataFrame(columns, schema={name: types.get(name, pl.String) for name in names})
