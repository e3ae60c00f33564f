"""The account of a collection for the terminal and as JSON."""

import textwrap
from collections.abc import Sequence

from leadline.collecting.collector import Account
from leadline.errors import amount, printable
from leadline.report.json_text import document_text
from leadline.report.wording import tool_version

WIDTH = 100


def collected_text(account: Account, notes: Sequence[str], name: str, k: int) -> str:
    """What became of the queries, in lines of at most 100 columns."""
    many = amount(account.queries, "query", "queries")
    lines = [
        f"{printable(name)}: {many}, first {k}",
        f"{account.answered} answered, {account.empty} answered with nothing, {account.failed} failed"
        + (f", {account.not_asked} not asked" if account.not_asked else ""),
    ]
    if account.kept:
        lines.append(f"{account.kept} kept from before, not asked again")
    sent = f"{amount(account.requests, 'request')} in {account.seconds:.1f} s"
    if account.latency_ms is not None:
        shown = ", ".join(f"{point} {value:.0f} ms" for point, value in account.latency_ms.items())
        sent += f"; latency of the answers: {shown}"
    lines.append(sent)
    if account.input_tokens is not None or account.output_tokens is not None:
        lines.append(f"tokens: {_count(account.input_tokens)} in, {_count(account.output_tokens)} out")
    for kind, count in account.failures.items():
        many = amount(count, "query", "queries")
        lines.append(
            f"! failed, {printable(kind)}: {many}, such as: {printable(account.examples.get(kind, kind))}"
        )
    if account.never:
        lines.append(f"! in no answer at its place: {', '.join(account.never)}")
    if account.not_asked:
        lines.append("! stopped: too many failures in a row")
    if account.over:
        lines.append(
            f"! more than {k} documents came back for {amount(account.over, 'query', 'queries')}; all are kept"
        )
    if account.repeated:
        where = amount(account.repeated, "query", "queries")
        lines.append(
            f"! a document twice in the answer to {where}: evaluate with --duplicates first, or mend it"
        )
    if account.unsorted:
        where = amount(account.unsorted, "query", "queries")
        lines.append(f"! the scores rise somewhere down the list for {where}: evaluate with --order file")
    lines += [f"! {note}" for note in notes]
    return (
        "\n".join(
            textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for line in lines
        )
        + "\n"
    )


def collected_json(account: Account, notes: Sequence[str], name: str, k: int) -> str:
    """The account as one JSON object."""
    return document_text(
        {
            "leadline": tool_version(),
            "command": "collect",
            "target": name,
            "k": k,
            **account.to_dict(),
            "notes": list(notes),
        }
    )


def _count(value: int | None) -> str:
    return "not told" if value is None else str(value)
