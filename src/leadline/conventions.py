"""The switches that decide what a number means, and the profiles that set them all at once."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args, get_type_hints

from leadline.errors import UnknownNameError, UsageError


@dataclass(frozen=True)
class Conventions:
    """Every switch of an evaluation; a profile is a named set of them, and they are printed with the numbers.

    Attributes
    ----------
    profile: the name of the profile the switches came from.
    queries: `judged` averages over all judged queries (an unanswered one counts 0); `intersection` over
        the queries that are both judged and answered; `exact` refuses (exit 4) where the two differ.
    undefined: `skip` leaves a query without relevant documents out of the mean and counts it; `zero` counts 0.
    order: `score` (equal scores by document id descending), `rank` (the rank column) or `file`.
    score_width: 64, or 32 to read scores as 32-bit floats as trec_eval 9 does.
    ties: `docid`, or `expected` for the expected value over random order of equal scores.
    gain: how a bare nDCG, DCG or NCG is read: `exp2` (2^g − 1) or `linear` (the grade).
    recall_levels: how a bare IPrec or 11pt finds its levels: `least`, `floor` (trec_eval 9), `round` (10).
    duplicates: a document twice for one query: `error`, or `first` keeps the better-ranked one and counts.
    comments: lines that start with `#` are comments in TREC files.
    ignore_self: drop documents whose id equals the query id, counted.
    complete: everything unlisted is declared not relevant (known-item sets).
    depth: cut every run to this many documents first; None cuts nothing.
    collapse: chunks become their documents first, which stand where their best chunk stands (`first`), or by the
        largest score (`max`) or the sum of scores (`sum`) of their chunks; None: ids are documents.
    collapse_separator: a chunk's document is what stands before the last one of these in its id.
    collapse_unmatched: a chunk id that names no document: `error`, or `keep` it as a document, counted.
    """

    profile: str = "leadline-1"
    queries: Literal["judged", "intersection", "exact"] = "judged"
    undefined: Literal["skip", "zero"] = "skip"
    order: Literal["score", "rank", "file"] = "score"
    score_width: Literal[64, 32] = 64
    ties: Literal["docid", "expected"] = "docid"
    gain: Literal["exp2", "linear"] = "exp2"
    recall_levels: Literal["least", "floor", "round"] = "least"
    duplicates: Literal["error", "first"] = "error"
    comments: bool = False
    ignore_self: bool = False
    complete: bool = False
    depth: int | None = None
    collapse: Literal["first", "max", "sum"] | None = None
    collapse_separator: str | None = None
    collapse_unmatched: Literal["error", "keep"] = "error"

    def to_dict(self) -> dict[str, Any]:
        """The switches as they stand in the JSON output."""
        return asdict(self)

    def order_rule(self) -> str:
        """The rule for order in words, as a report names it."""
        by = {
            "max": "documents by the largest score of their chunks: ",
            "sum": "documents by summed scores: ",
        }
        of = ", documents where their best chunks stand" if self.collapse == "first" else ""
        before = by.get(self.collapse or "", "")
        if self.order != "score":
            return before + {"rank": "the rank column", "file": "the order of the file"}[self.order] + of
        width = " read as 32-bit floats" if self.score_width == 32 else ""
        ties = "expected value over ties" if self.ties == "expected" else "ties by document id descending"
        return f"{before}score{width} descending, {ties}{of}"


PROFILES: dict[str, Conventions] = {
    "leadline-1": Conventions(),
    "trec_eval-9": Conventions(
        "trec_eval-9", "intersection", "zero", score_width=32, gain="linear", recall_levels="floor"
    ),
    "trec_eval-10": Conventions(
        "trec_eval-10", "exact", "zero", gain="linear", recall_levels="round", comments=True
    ),
    "ir_measures": Conventions(
        "ir_measures", "judged", "zero", score_width=32, gain="linear", recall_levels="floor"
    ),
    "msmarco": Conventions("msmarco", "judged", "skip", order="rank"),
    "beir": Conventions(
        "beir", "intersection", "zero", score_width=32, gain="linear", recall_levels="floor", ignore_self=True
    ),
}
"""The profiles by name. `leadline-1` is the default and never changes."""


def conventions(profile: str = "leadline-1", **switches: Any) -> Conventions:
    """The switches of a profile, with single ones set otherwise (None leaves the profile's own).

    Raises
    ------
    UnknownNameError: no such profile. UsageError: no such switch, or a value it does not take.

    >>> conventions("trec_eval-9", undefined="skip").score_width
    32
    """
    if profile not in PROFILES:
        raise UnknownNameError("profile", profile, PROFILES)
    chosen = {key: value for key, value in switches.items() if value is not None}
    kinds = get_type_hints(Conventions)
    for key, value in chosen.items():
        if key not in kinds or key == "profile":
            raise UnknownNameError("switch", key, set(kinds) - {"profile"})
        # Of `Literal[…] | None` the words; of `int | None` nothing, as kinds are no words.
        parts = [word for one in get_args(kinds[key]) for word in (get_args(one) or [one])]
        allowed = [word for word in parts if not isinstance(word, type)]
        if allowed and value not in allowed:
            raise UsageError(
                f"{key.replace('_', '-')} {value!r} is not one of {', '.join(map(str, allowed))}"
            )
        if key == "depth" and (not isinstance(value, int) or value < 1):
            raise UsageError(f"depth {value!r} is not a whole number of at least 1")
    found = replace(PROFILES[profile], **chosen)
    _check_collapse(found, set(chosen))
    return found


def _check_collapse(found: Conventions, given: set[str]) -> None:
    """Raise UsageError for switches of chunks that do not go together."""
    own = sorted(name for name in given if name.startswith("collapse_"))
    if found.collapse is None and own:
        raise UsageError(f"--{own[0].replace('_', '-')} goes with --collapse first, max or sum")
    if found.collapse_separator == "":
        raise UsageError("--collapse-separator: at least one character, such as '#'")
    if found.collapse == "sum" and found.order != "score":
        raise UsageError(f"--collapse sum adds up scores, and --order {found.order} has none; first or max")
    if found.collapse == "first" and found.ties == "expected":
        raise UsageError(
            "--ties expected averages over equal scores, and --collapse first leaves none; use --collapse max"
        )
