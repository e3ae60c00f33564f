"""Every code that a check of files can give, in one table: what it means and what to do."""

import re
from dataclasses import dataclass
from typing import Literal

Severity = Literal["fault", "warning"]


@dataclass(frozen=True)
class Code:
    """One kind of finding: its stable name, whether it is a fault or a warning, what it means, and what to do."""

    name: str
    severity: Severity
    meaning: str
    advice: str


_FAULTS = (
    ("unreadable", "the file cannot be read: it is not there, empty, damaged, or not what it was said to be",
     "look whether it is there and whole, and write or fetch it again; name what it is with --run, --qrels, --queries or "
     "--documents"),
    ("unknown-kind", "the content does not tell what the file is",
     "name it: --run F, --qrels F, --queries F or --documents F; if it is none of these, bring it into the form of one"),
    ("line-ends", "lines that end with a carriage return alone, as on old Macs",
     "write the file with LF or CRLF at the ends of lines"),
    ("encoding", "bytes that are not UTF-8 text", "save the file as UTF-8"),
    ("not-text", "a NUL byte or half of a surrogate pair: text has none", "write the file again from its source"),
    ("fields", "a row with too few or too many fields, or a column that is unknown, missing or there twice",
     "bring the row into the form that the message names; --comments passes over lines that begin with #"),
    ("quotes", "quotes that do not close, or stand inside a field", "write the file with a CSV library"),
    ("json", "a line or file that is not the JSON it should be", "write it with a JSON library, one object a line"),
    ("id", "an id that is missing, or is no text and no whole number", "give each row its ids, as text"),
    ("number", "a score, rank, grade or probability that is no number, or not one that can stand there",
     "write a plain number, with a point before its decimals; a score that could not be computed is no row"),
    ("list", "a list of ids or scores that is none, or of another length", "write lists as JSON or Parquet lists, not as text"),
    ("twice", "one id that stands twice where it may stand once", "keep one of the rows"),
    ("document-twice", "a document stands twice for one query",
     "find out why, and remove the copies; or keep the better-ranked one: --duplicates first"),
    ("pair-conflict", "a pair is judged twice with different grades",
     "settle them, or name a rule: --conflicts max, min, last, …"),
    ("needs", "alternatives of one need with different grades, or a document under two needs of a query",
     "give the alternatives of a need one grade, and each document one need; without the column need each counts for itself"),
    ("wrong-row", "a row that cannot stand, for another reason", "see the message"),
)  # fmt: skip
_SAME = "check that both files belong to one collection and have the same ids"
_WARNINGS = (
    ("rank-score", "the rank column contradicts the scores",
     "scores decide; if the ranks are right, use --order rank, else write the ranks again"),
    ("swapped-columns", "columns that seem to stand in each other's place",
     "look at the first lines, and put the columns in order"),
    ("rising-scores", "scores rise down the ranks, as distances do", "write the scores with a minus, or use --order rank"),
    ("equal-scores", "all documents of a query have one score", "write real scores, or use --order rank or --order file"),
    ("ties-at-k", "equal scores on both sides of a cutoff: the order of ids decides what is in the top k",
     "write scores with more digits, or use --ties expected"),
    ("infinite-score", "a score that is infinite", "write finite scores; infinite ones all tie"),
    ("document-dropped", "a document stands twice for one query, and --duplicates first drops the further rows",
     "find out why, and remove the copies"),
    ("few-rows", "queries with fewer documents than k", "retrieve deeper, or use a smaller k"),
    ("more-columns", "lines of a TREC run with more than six columns: all after the fifth is the tag, which other tools refuse",
     "write a tag without white space; look whether an id or a score holds some"),
    ("failed-queries", "queries whose row is an error", "ask them again"),
    ("pair-twice", "a pair is judged twice with the same grade", "remove the copies; they are merged"),
    ("pair-settled", "a pair is judged twice with different grades, and the rule of --conflicts settles them",
     "look whether the rule is right for them"),
    ("pair-subtopics", "a pair has different grades under different subtopics",
     "ask for a measure of subtopics, such as StRecall@10 or alpha_nDCG@10; for others name a rule: --conflicts max, min, …"),
    ("negative-grade", "grades below 0, whose meaning differs from tool to tool",
     "find out what they mean, and map them: --grade-map -1=0"),
    ("off-scale", "grades outside the scale named with --grades", "correct them, or map them with --grade-map"),
    ("no-relevant", "queries without a document of grade 1 or more: most measures are undefined there",
     "judge more of them, or leave them out; --undefined says how they count"),
    ("query-text-twice", "queries with the same text", "keep one, or they count twice in every mean"),
    ("empty-query", "queries without text", "give them a text"),
    ("empty-document", "documents without text, which no search can find", "fill them, or leave them out"),
    ("empty-answer", "answers without text, in a file of labelled answers", "see whether the system failed, or leave them out"),
    ("no-label", "claims of answers on which nobody said anything", "label them, or leave them out of every share"),
    ("text-twice", "documents with the same text under several ids", "keep one id; a judged copy makes its twins wrong answers"),
    ("text-alike", "documents whose texts differ only in case, punctuation and white space",
     "keep one id; a judged copy makes its twins wrong answers"),
    ("lost-zeros", "ids that would join if one file had not lost its leading zeros", "read and write ids as text"),
    ("float-ids", "ids that were turned into numbers with decimals or exponents, such as 12.0 or 1e5",
     "read and write ids as text"),
    ("case-ids", "ids that would join but for upper and lower case", "use one spelling in all files"),
    ("space-ids", "ids that would join but for white space", "take the white space away where the ids are made"),
    ("no-overlap", "two files have no id in common", _SAME),
    ("little-overlap", "two files have few ids in common", _SAME),
    ("swapped-ids", "query ids of one file are document ids of the other", "put the columns of query and document in order"),
    ("unanswered", "judged queries that are not in the run; they count as 0", "ask them, or say --queries intersection"),
    ("unknown-queries", "queries that the file of queries has not", "take the queries that were judged and asked"),
    ("unknown-documents", "documents that the file of documents has not", "take the documents that were searched"),
    ("two-numberings", "ids of both files are numbers and join, but may count different things",
     "look up the text of one query and read its judged documents; if they do not fit, the numbers are of two kinds"),
    ("judged-share", "documents in the top k that nobody judged; they count as not relevant",
     "see --bounds for what that hides, and judge them: leadline pool"),
    ("texts-unmatched", "something was left out when a file was read with --queries", "see the message"),
)  # fmt: skip

TABLE: tuple[Code, ...] = (
    *(Code(name, "fault", meaning, advice) for name, meaning, advice in _FAULTS),
    *(Code(name, "warning", meaning, advice) for name, meaning, advice in _WARNINGS),
)
"""Every code; the page Check and the tests read it."""
CODES = {code.name: code for code in TABLE}

_BY_WORDS = (
    ("encoding", r"expected UTF-8|not UTF-8"),
    ("not-text", r"NUL byte|expected text, without"),
    ("id", r"is text (of at least|or a whole)"),
    ("quotes", r"^quotes"),
    ("line-ends", r"lone carriage return"),
    ("needs", r"of one need|two needs"),
    ("pair-conflict", r"judges the same pair"),
    ("document-twice", r"same document for this query"),
    (
        "twice",
        r"may occur once|stands once|may stand once|same document|second row|twice",
    ),
    ("json", r"not JSON|JSON that is|one JSON object|is a JSON object|in one object"),
    ("list", r"is a list|one score for each|each entry of"),
    ("fields", r"columns?\b|fields?\b|a query id, a tab|has no retrieved ids"),
    ("number", r"number|probability|finite"),
    ("id", r"\bid\b|_id\b"),
)


def fault_code(expected: str) -> str:
    """The code of a fault by what its message says was expected.

    >>> fault_code("3 columns; a run line has 6: …"), fault_code("expected a number as score"), fault_code("so so")
    ('fields', 'number', 'wrong-row')
    """
    for name, words in _BY_WORDS:
        if re.search(words, expected):
            return name
    return "wrong-row"
