"""Index fidelity for a terminal: recall, latency, the sweep, the worst queries, and what the loss costs."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from leadline.ann.fidelity import Agreement, Fidelity, Point
from leadline.errors import amount, printable
from leadline.locate.index_cost import IndexCost
from leadline.report.plain_table import table_lines
from leadline.report.wording import ABSENT, brackets

WIDTH = 100
METRIC_WORDS = {"cosine": "cosine", "ip": "inner product", "l2": "Euclidean distance"}


def ann_text(found: Fidelity, cost: IndexCost | None = None, worst: int = 10) -> str:
    """The report; tables fit 100 columns."""
    lines = [*_head(found), "", *_table(found)]
    lines += [*_notes(found), *_chosen(found)]
    if worst:
        lines += _worst(found, worst)
    if cost is not None:
        lines += ["", *_cost(found, cost)]
    warned = [f"! {one}" for one in found.warnings]
    return "\n".join(_wrapped(line) for line in [*lines, *(["", *warned] if warned else [])]) + "\n"


def agreement_text(found: Agreement, worst: int = 10) -> str:
    """How far two indexes agree."""
    shares = found.found.shares
    lines = [
        f"{printable(found.first)} against {printable(found.second)}, the first {found.k} of each, no truth"
    ]
    if not len(shares):
        return lines[0] + "\nno query was answered by either\n"
    same = int((shares == 1).sum())
    lines.append(
        f"overlap {_share(float(shares.mean()))} on average over {amount(len(shares), 'query', 'queries')}; {same} the same"
    )
    for name, latency, errors in zip((found.first, found.second), found.latency, found.errors, strict=True):
        if latency is not None:
            lines.append(f"{printable(name)}: {_latency(latency)}" + (f", {errors} failed" if errors else ""))
        elif errors:
            lines.append(f"{printable(name)}: {errors} failed")
    rows = [
        (found.queries.id_of(int(found.found.query_rows[at])), _share(float(shares[at])),
         str(found.found.first_only[at]), str(found.found.second_only[at]))
        for at in found.found.least(worst)
    ]  # fmt: skip
    if rows:
        lines += ["", *table_lines(("agree least", "overlap", "first only", "second only"), rows)]
    lines.append("overlap says that they differ, not which is right: --vectors gives the truth")
    return "\n".join(_wrapped(line) for line in lines) + "\n"


def _head(found: Fidelity) -> Iterator[str]:
    counted = len(found.points[0].recall.query_rows)
    source = "by its own exact search" if found.truth == "target" else "by exact search over the vectors"
    of = (
        f" in {amount(found.documents.rows, 'vector')} of {found.documents.dimensions} dimensions"
        if found.documents
        else ""
    )
    yield f"{printable(found.target)} against the true {found.k} neighbours{of}"
    yield f"{METRIC_WORDS[found.metric]}; truth {source}; {amount(counted, 'query', 'queries')}"
    if found.given:
        yield "set: " + ", ".join(f"{name}={printable(str(value))}" for name, value in found.given.items())


def _table(found: Fidelity) -> list[str]:
    timed = any(one.latency for one in found.points)
    head = ["setting", "recall", "tie-aware", "median", "worst 5 %", "below .9"]
    head += ["p50 ms", "p95", "p99", "a second"] if timed else []
    rows = []
    for one in found.points:
        spread = one.recall.spread
        values = (spread.mean, spread.tie_aware_mean, spread.median, spread.p5)
        low = ABSENT if spread.low_share is None else f"{spread.low_share:.1%}"
        row = [one.name or "as it is", *map(_share, values), low]
        if timed:
            latency = one.latency or {}
            row += [_milliseconds(latency.get(name)) for name in ("p50", "p95", "p99")]
            speed = latency.get("per_second")
            row.append(ABSENT if speed is None else f"{speed:.0f}")
        rows.append(row)
    return table_lines(head, rows, width=WIDTH)


def _notes(found: Fidelity) -> Iterator[str]:
    """What did not count, and what came back oddly."""
    first = found.points[0].recall
    if first.excluded:
        yield f"left out: {amount(first.excluded, 'query', 'queries')} without any true neighbour"
    if found.filtered:
        yield f"filtered: {amount(found.filtered, 'query', 'queries')}, each compared with the neighbours its filter lets through"
    if found.tied:
        yield (
            f"ties: in {amount(found.tied, 'query', 'queries')} other documents are as near as the last neighbour; "
            "the tie-aware recall takes either (tolerance 1e-6 of the scale)"
        )
    if first.excluded == 0 and found.tied == 0 and not found.filtered:
        yield "no ties across the last place"
    for one in found.points:
        odd = [
            (one.recall.errors, "failed and not counted"),
            (one.recall.unanswered, "answered with nothing, counted as 0"),
            (one.recall.short, f"answered with fewer than there are (up to {found.k})"),
            (one.recall.duplicates, "ids returned again, counted once"),
        ]
        told = [f"{count} {words}" for count, words in odd if count]
        if told:
            yield f"{one.name or 'queries'}: {'; '.join(told)}"


def _chosen(found: Fidelity) -> Iterator[str]:
    if found.reach is None:
        return
    best = found.cheapest
    if best is None:
        known = [one for one in found.points if one.mean is not None]
        top = max(known, key=lambda one: one.mean or 0.0, default=None)
        told = "" if top is None else f"; the best is {_share(top.mean)} ({top.name or 'as it is'})"
        yield f"no setting reaches a recall of {found.reach:g}{told}"
        return
    latency = best.latency or {}
    yield (
        f"cheapest setting with a recall of at least {found.reach:g}: {best.name or 'as it is'} "
        f"({_share(best.mean)}, p50 {_milliseconds(latency.get('p50'))} ms)"
    )


def _worst(found: Fidelity, count: int) -> list[str]:
    point = chosen_point(found)
    recall, rows = point.recall, []
    for at in recall.worst(count):
        row = int(recall.query_rows[at])
        got = set((point.answers.ids[row] or [])[: found.k])
        lost = [one for one in found.exact_ids[row] if one not in got]
        tied = ABSENT if recall.tie_aware is None else _share(float(recall.tie_aware[at]))
        rows.append((found.queries.id_of(row), " ".join(lost[:5]) + (" …" if len(lost) > 5 else ""),
                     _share(float(recall.by_id[at])), tied))  # fmt: skip
    if not rows:
        return ["every query got all its neighbours"] if len(recall.by_id) else []
    name = f" at {point.name}" if point.name and len(found.points) > 1 else ""
    return [
        "",
        *table_lines((f"worst queries{name}", "lost, nearest first", "recall", "tie-aware"), rows, texts=2),
    ]


def chosen_point(found: Fidelity) -> Point:
    """The setting that details are shown of: the cheapest that reaches what was asked, else the last."""
    return found.cheapest or found.points[-1]


def _cost(found: Fidelity, cost: IndexCost) -> Iterator[str]:
    """What the loss costs in retrieval, and which part of what is missing is the index's."""
    point = chosen_point(found)
    name = f" ({point.name})" if point.name else ""
    yield f"what the loss costs{name}: {amount(cost.queries, 'judged query', 'judged queries')}, exact and returned lists"
    rows = [
        (one.measure, _number(one.mean_baseline), _number(one.mean_candidate), _signed(one.difference),
         brackets(one.low, one.high), f"{one.wins}/{one.ties}/{one.losses}")
        for one in (*cost.rows, *([] if cost.recall in cost.rows else [cost.recall]))
    ]  # fmt: skip
    yield from table_lines(("measure", "exact", "index", "difference", "95 % interval", "up/same/down"), rows)
    if cost.left_out:
        yield f"left out: {amount(cost.left_out, 'judged query', 'judged queries')} that the index was not asked, or failed on"
    mean, recall = point.mean, cost.recall
    if mean is None or recall.mean_baseline is None or recall.mean_candidate is None:
        return
    yield from said_of_both(found.k, mean, recall.mean_baseline, recall.mean_candidate)


def said_of_both(k: int, ann: float, exact: float, index: float) -> list[str]:
    """ANN recall and retrieval recall told apart: one is about the vectors' neighbours, one about what is relevant.

    >>> said_of_both(10, 0.99, 0.6, 0.6)[0]
    'The index returns 99.0 % of the true neighbours; of the relevant documents 60.0 % are found.'
    """
    lost, missing = exact - index, 1 - exact
    own = f", {lost * 100:.1f} points by it."
    if lost < 0:
        own = f"; by chance the index finds {-lost * 100:.1f} points more."
    lines = [
        f"The index returns {ann * 100:.1f} % of the true neighbours; "
        f"of the relevant documents {index * 100:.1f} % are found.",
        f"Exact search over the same vectors finds {exact * 100:.1f} % of them in its first {k}: "
        f"{missing * 100:.1f} points are lost before the index (in the vectors, the chunks, the queries or k){own}",
    ]
    if missing > 0 and missing > 4 * max(lost, 0):
        lines.append("A better index cannot bring those back: near is not the same as relevant.")
    elif lost > 0 and lost >= missing:
        lines.append(
            "Most of what is missing is lost by the index: search wider before changing the vectors."
        )
    return lines


def _latency(latency: Mapping[str, float | None]) -> str:
    parts = [f"{name} {_milliseconds(latency.get(name))} ms" for name in ("p50", "p95", "p99")]
    speed = latency.get("per_second")
    return ", ".join(parts) + ("" if speed is None else f", {speed:.0f} a second")


def _share(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.4f}"


def _number(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.4f}"


def _signed(value: float | None) -> str:
    return ABSENT if value is None else f"{value:+.4f}".replace("-", "−")


def _milliseconds(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _wrapped(line: str) -> str:
    if len(line) <= WIDTH or "─" in line[:3]:
        return line
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def sweep_rows(found: Fidelity) -> Sequence[tuple[str, float, float]]:
    """The name, the median latency and the recall of every setting that has both."""
    rows = []
    for one in found.points:
        middle = (one.latency or {}).get("p50")
        if one.mean is not None and middle is not None:
            rows.append((one.name or "as it is", middle, one.mean))
    return rows
