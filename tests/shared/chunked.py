"""The collection `chunking_evaluation`, five ways to cut its documents, and edits of them with known truth."""

import csv
import io
import itertools
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from leadline.formats.documents import read_texts
from leadline.formats.source import Source
from leadline.passages.against import token_starts
from leadline.passages.tables import Evidence, EvidenceRow

Range = tuple[int, int]
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")


@dataclass(frozen=True)
class Collection:
    """Texts by id, questions by id, and the evidence of each question."""

    documents: dict[str, str]
    queries: dict[str, str]
    evidence: Evidence


def read_collection(folder: Path) -> Collection:
    """The whole collection: 472 questions and 790 pieces of evidence in five documents."""
    csv.field_size_limit(1 << 30)
    table = Source.open(folder / "questions_df.csv.gz").read_all().decode()
    queries, rows = {}, []
    for place, row in enumerate(csv.DictReader(io.StringIO(table, newline=""))):
        query_id = f"q{place:03}"
        queries[query_id] = row["question"]
        for one in json.loads(row["references"]):
            rows.append(
                EvidenceRow(query_id, row["corpus_id"], one["start_index"], one["end_index"], one["content"])
            )
    return Collection(read_texts(folder / "corpora"), queries, Evidence.of(rows, "questions_df.csv.gz"))


# ------------------------------------------------------------------------------------------------- five chunkers


def characters(text: str, size: int = 800) -> list[Range]:
    """Every `size` characters, whatever stands there."""
    return [(start, min(start + size, len(text))) for start in range(0, len(text), size)]


def tokens(text: str, size: int = 160, overlap: int = 40) -> list[Range]:
    """Every `size` tokens, each chunk beginning `overlap` tokens before the one before ends."""
    starts = [*token_starts(text), len(text)]
    found = []
    for first in range(0, max(1, len(starts) - 1 - overlap), size - overlap):
        found.append((starts[first], starts[min(first + size, len(starts) - 1)]))
    return found


def sentences(text: str) -> list[Range]:
    """Every sentence or line alone, with the white space after it."""
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    edges = [0, *ends, len(text)]
    return [(a, b) for a, b in itertools.pairwise(edges) if a < b]


def paragraphs(text: str) -> list[Range]:
    """Every paragraph: cut at blank lines and before Markdown headings."""
    cuts = {match.end() for match in re.finditer(r"\n\s*\n", text)}
    cuts |= {match.start() for match in re.finditer(r"^#{1,6} ", text, re.MULTILINE)}
    edges = sorted(cuts | {0, len(text)})
    return [(a, b) for a, b in itertools.pairwise(edges) if a < b]


def recursive(text: str, size: int = 800) -> list[Range]:
    """Cut at blank lines, then lines, then sentences, then blanks, until each is at most `size`; neighbours are joined."""
    return _split(text, 0, len(text), size, [r"\n\s*\n", r"\n", r"(?<=[.!?])\s", r"\s"])


def _split(text: str, start: int, end: int, size: int, marks: list[str]) -> list[Range]:
    if end - start <= size:
        return [(start, end)] if start < end else []
    if not marks:
        return [(place, min(place + size, end)) for place in range(start, end, size)]
    cuts = [match.end() for match in re.compile(marks[0]).finditer(text, start, end)]
    edges = [start, *(cut for cut in cuts if start < cut < end), end]
    joined: list[Range] = []
    for a, b in itertools.pairwise(edges):
        if joined and b - joined[-1][0] <= size:
            joined[-1] = (joined[-1][0], b)
        else:
            joined.append((a, b))
    return [one for a, b in joined for one in _split(text, a, b, size, marks[1:])]


CHUNKERS: dict[str, Callable[[str], list[Range]]] = {
    "characters, 800": characters,
    "tokens, 160 with 40 shared": tokens,
    "sentences": sentences,
    "paragraphs": paragraphs,
    "recursive, up to 800": recursive,
}

# --------------------------------------------------------------------------------------- edits with known truth

EDITS = ("insert", "delete", "rewrite", "reorder", "all four")


@dataclass(frozen=True)
class Piece:
    """A sentence of the new text: the range of the old text that it comes from, and whether it is that to the letter."""

    text: str
    old: Range | None
    whole: bool


@dataclass(frozen=True)
class Edited:
    """A document after edits: its text, and for every piece of it where it comes from and where it stands."""

    text: str
    pieces: tuple[Piece, ...]
    starts: tuple[int, ...]

    def truth(self, start: int, end: int) -> tuple[str, Range | None]:
        """What became of a range of the old text: `kept` (to the letter, in one piece), `changed` or `gone`; and where.

        Of a changed range it is the range in the new text from its first piece to its last, where that is no longer
        than three times the old one; else None.
        """
        own = sorted(
            (piece.old, at)
            for at, piece in enumerate(self.pieces)
            if piece.old is not None and piece.old[0] < end and start < piece.old[1]
        )
        if not own:
            return "gone", None
        places = [at for _, at in own]
        whole = all(self.pieces[at].whole for at in places)
        complete = sum(min(old[1], end) - max(old[0], start) for old, _ in own) == end - start
        in_a_row = places == list(range(places[0], places[0] + len(places)))
        if whole and complete and in_a_row:
            low = self.starts[places[0]] + start - own[0][0][0]
            return "kept", (low, low + end - start)
        low = min(self.starts[at] for at in places)
        high = max(self.starts[at] + len(self.pieces[at].text) for at in places)
        return "changed", (low, high) if high - low <= 3 * (end - start) + 200 else None


def edited(text: str, kind: str, rng: random.Random, share: float = 0.05) -> Edited:
    """A text of which `share` of the sentences were edited: one of `EDITS`."""
    pieces = [Piece(text[a:b], (a, b), True) for a, b in sentences(text)]
    kinds = EDITS[:4] if kind == "all four" else (kind,)
    count = max(1, round(len(pieces) * share / len(kinds)))
    words = text.split()
    for one in kinds:
        chosen = rng.sample(range(len(pieces)), min(count, len(pieces)))
        if one == "insert":
            for at in sorted(chosen, reverse=True):
                new = " ".join(rng.choice(words) for _ in range(rng.randint(5, 20))).capitalize() + ". "
                pieces.insert(at, Piece(new, None, False))
        elif one == "delete":
            gone = set(chosen)
            pieces = [piece for at, piece in enumerate(pieces) if at not in gone]
        elif one == "rewrite":
            for at in chosen:
                if pieces[at].old is not None:
                    pieces[at] = Piece(_rewritten(pieces[at].text, words, rng), pieces[at].old, False)
        else:
            moved = [pieces[at] for at in chosen]
            gone = set(chosen)
            pieces = [piece for at, piece in enumerate(pieces) if at not in gone]
            for piece in moved:
                pieces.insert(rng.randint(0, len(pieces)), piece)
    starts, place = [], 0
    for piece in pieces:
        starts.append(place)
        place += len(piece.text)
    return Edited("".join(piece.text for piece in pieces), tuple(pieces), tuple(starts))


def _rewritten(sentence: str, words: list[str], rng: random.Random) -> str:
    """A sentence of which about a third of the words were replaced, dropped or doubled by others; never as it was."""
    tail = sentence[len(sentence.rstrip()) :]
    found = []
    own = sentence.split()
    least = rng.randrange(len(own)) if own else -1
    for at, word in enumerate(own):
        if at != least and rng.random() > 1 / 3:
            found.append(word)
            continue
        how = rng.random()
        if how < 0.5:
            found.append(rng.choice(words) + "x")
        elif how < 0.75:
            found += [word, rng.choice(words)]
    return (" ".join(found) or "Rewritten.") + tail
