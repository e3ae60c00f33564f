"""Scores built by hand for the reports."""

import numpy as np
import pytest

from leadline.conventions import PROFILES
from leadline.scores import ERROR, SCORED, UNANSWERED, UNDEFINED, Cell, Scores, Summary


def cell(system, measure, values, states=None, ids=None):
    values = np.array(values, dtype=float)
    codes = np.array([SCORED] * len(values) if states is None else states, dtype=np.uint8)
    return Cell(system, measure, ids or [f"q{i + 1}" for i in range(len(values))], values, codes)


def summary(system, measure, mean, low=None, high=None, **more):
    usual = {"interval": "t", "sd": 0.3171, "ceiling": None, "n_queries": 3, "n_scored": 3}
    counts = {"n_unanswered": 0, "n_undefined": 0, "n_error": 0}
    return Summary(system, measure, mean, low, high, **{**usual, **counts, **more})


EACH_STATE = {"n_queries": 4, "n_scored": 1, "n_unanswered": 1, "n_undefined": 1, "n_error": 1}


@pytest.fixture
def make():
    """The makers of cells and summaries, for tests that need others."""
    return cell, summary


@pytest.fixture
def one():
    """One system, three measures, every state."""
    nan = float("nan")
    return Scores(
        cells=(
            cell("bm25", "nDCG@10", [0.5, nan, 0.0, nan], [SCORED, UNDEFINED, UNANSWERED, ERROR]),
            cell("bm25", "R@5", [1.0, nan, 0.0, nan], [SCORED, UNDEFINED, UNANSWERED, ERROR]),
            cell("bm25", "NumRet", [7.0, 3.0, 0.0, nan], [SCORED, SCORED, UNANSWERED, ERROR]),
        ),
        summaries=(
            summary("bm25", "nDCG@10", 0.25, -0.1, 0.6, **EACH_STATE),
            summary("bm25", "R@5", 0.5, None, None, ceiling=0.93, **EACH_STATE),
            summary("bm25", "NumRet", 10.0, sd=None, interval=None, **(EACH_STATE | {"n_undefined": 0})),
        ),
        account={
            "qrels": {
                "queries": 4, "judgments": 12, "relevant": 5, "grades": {"0": 7, "2": 5},
                "merged": 0, "resolved": 0,
            },
            "systems": {
                "bm25": {
                    "rows": 10, "queries": 3, "unjudged_queries": 0, "unanswered": 1, "empty": 0, "failed": 1,
                    "duplicates_dropped": 0, "self_matches": 0,
                    "ties_across_cutoffs": {"5": 2, "10": 0}, "judged_at": {"10": 0.833},
                }
            },
        },
        conventions=PROFILES["leadline-1"].to_dict(),
        inputs=({"path": "qrels.txt", "sha256": "ab" * 32, "rows": 12},),
        warnings=("only 4 queries: estimates, no verdict",),
        seed=7,
        headings={"nDCG@10": "nDCG(gain=exp2)@10"},
    )  # fmt: skip


@pytest.fixture
def two():
    """Two systems, two measures, with slices."""
    systems, measures = ("bm25", "dense"), ("nDCG@10", "Success@1")
    means = {
        ("bm25", "nDCG@10"): 0.7,
        ("dense", "nDCG@10"): 0.8,
        ("bm25", "Success@1"): 2 / 3,
        ("dense", "Success@1"): 1.0,
    }
    rows = [
        summary(s, m, means[s, m], means[s, m] - 0.1, min(1.0, means[s, m] + 0.1),
                interval="t" if m == "nDCG@10" else "wilson", group=group)
        for group in (None, "lang=de", "lang=en") for m in measures for s in systems
    ]  # fmt: skip
    return Scores(
        cells=tuple(cell(s, m, [means[s, m]] * 3) for s in systems for m in measures),
        summaries=tuple(rows),
        account={
            "qrels": {"queries": 3, "judgments": 9, "relevant": 4},
            "systems": {
                "bm25": {"rows": 30, "queries": 3, "unanswered": 0},
                "dense": {"rows": 28, "queries": 3, "unanswered": 2},
            },
        },
        conventions=PROFILES["trec_eval-9"].to_dict() | {"undefined": "skip"},
    )
