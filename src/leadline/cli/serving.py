"""What `judge` and `serve` share: their options, the setup of the application, and running it."""

import ipaddress
import re
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.errors import MissingExtraError, UsageError, amount, printable

if TYPE_CHECKING:
    from fastapi import FastAPI

    from leadline.web.setup import Setup

PORT = 8737
IMAGE_HOST = re.compile(r"(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?")
ROOT = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")
ORDERS = ("shuffled", "query", "file")

ToJudge = Annotated[
    str, typer.Argument(metavar="TO-JUDGE", help="The pairs to judge: JSONL of pool, gate or compare.")
]
DocumentsFile = Annotated[
    str,
    typer.Option(
        "--documents",
        metavar="FILE",
        help="The documents: rows with id and text (JSONL, CSV, TSV, Parquet), a BEIR corpus, or a folder of texts.",
    ),
]
QueriesFile = Annotated[
    str | None,
    typer.Option("--queries", metavar="FILE", help="The queries' texts and what the person wants (need)."),
]
BookPlace = Annotated[
    str,
    typer.Option("--book", metavar="BOOK", help="Where judgments are kept: a file, or postgresql://…"),
]
GuidelineFile = Annotated[
    str | None,
    typer.Option(
        "--guideline",
        metavar="FILE.md",
        help="The guideline, Markdown; headings such as `## 2 partly answers` give the grades.",
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(help="The grades: 0-3, binary, or 0=off topic,1=related,2=answers."),
]
RunFiles = Annotated[
    list[str] | None,
    typer.Option("--run", metavar="RUN", help="A run to look at side by side; NAME=PATH names it."),
]
QrelsFile = Annotated[
    str | None, typer.Option("--qrels", help="Judgments from elsewhere, to count what is judged.")
]
OrderOf = Annotated[
    str,
    typer.Option(
        "--order",
        help="shuffled; query: a query's pairs together; file: the file's order, shuffled in bands of 20.",
    ),
]
Overlap = Annotated[float, typer.Option(min=0, max=1, help="The share of pairs that several people judge.")]
PeopleOf = Annotated[
    int, typer.Option("--people", min=2, max=20, help="How many people judge a pair of that share.")
]
Repeats = Annotated[
    float, typer.Option(min=0, max=1, help="The share of pairs that a person is shown once more, unseen.")
]
SeedOf = Annotated[str, typer.Option("--seed", help="Chooses orders, overlap and repeats.")]
ImageHosts = Annotated[
    list[str] | None,
    typer.Option("--image-host", metavar="HOST", help="Show images of this host; may be repeated."),
]
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help=f"The port; by default {PORT}, or a free one where that is taken."),
]


def setup_of(chosen: Mapping[str, Any], *, name: str, auth: bool, root_path: str = "") -> "Setup":
    """The setup of the application from the options; remarks go to standard error.

    Raises
    ------
    UsageError, InputError: an option or a file that is wrong. MissingExtraError: the part is not installed.
    """
    try:
        import fastapi  # noqa: F401
        import sqlalchemy  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtraError("the judging pages", "serve") from None
    from leadline.web.accounts import checked_name
    from leadline.web.queue import Plan
    from leadline.web.setup import Files, Setup, read_files

    if chosen["order"] not in ORDERS:
        raise UsageError(f"--order {printable(chosen['order'])!r} is not one of {', '.join(ORDERS)}")
    hosts = image_hosts(chosen["image_host"])
    read = read_files(
        Files(
            chosen["to_judge"], chosen["documents"], chosen["queries"], chosen["guideline"], chosen["scale"],
            tuple(chosen["run"] or ()), chosen["qrels"], hosts,
        )
    )  # fmt: skip
    for remark in read.remarks:
        typer.echo(f"! {remark}", err=True)
    plan = Plan(
        seed=chosen["seed"],
        order=chosen["order"],
        overlap=chosen["overlap"],
        people=chosen["people"],
        repeats=chosen["repeats"],
    )
    return Setup(
        read.pairs,
        read.documents,
        read.queries,
        read.rules,
        plan,
        chosen["book"],
        checked_name(name),
        auth,
        read.ranks,
        read.judged,
        () if auth else ("127.0.0.1", "localhost", "::1"),
        hosts,
        root_path,
    )


def image_hosts(given: Sequence[str] | None) -> tuple[str, ...]:
    """The hosts of `--image-host`, which go into the page's content policy.

    Raises
    ------
    UsageError: one that is no host's name.
    """
    for host in given or ():
        if not IMAGE_HOST.fullmatch(host):
            raise UsageError(f"--image-host {printable(host)!r}: a host's name, such as img.example.org")
    return tuple(given or ())


def open_browser(address: str) -> None:
    """Show the address in the browser, where there is a screen; beside the server, which must not wait for it."""
    import os
    import threading
    import webbrowser

    # Without a screen, a browser of the terminal would take the terminal from the server.
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def tell_of_book(app: "FastAPI") -> None:
    """Say on standard error where the book holds judgments of these pairs under another guideline or scale."""
    desk = app.state.desk
    rules = desk.setup.rules
    own = [row for row in desk.standing().result() if row.kind == "person" and desk.queue.name_of(row)]
    other = sum(row.guideline not in ("", rules.version) for row in own)
    off = sum(row.grade is not None and row.grade not in rules.grades for row in own)
    if other:
        typer.echo(
            f"! under another guideline or scale: {amount(other, 'judgment')} of these pairs", err=True
        )
    if off:
        typer.echo(f"! not on today's scale: {amount(off, 'grade')} of these pairs", err=True)


def login_name() -> str:
    """The name that the person has on this machine."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "anonymous"


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine reach a server that listens there."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(host: str, port: int | None) -> socket.socket:
    """A listening socket; where no port was asked for and the usual one is taken, at a free one.

    Raises
    ------
    UsageError: the address cannot be listened at.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for one in [PORT, 0] if port is None else [port]:
        try:
            listening = socket.create_server((host, one), family=family, backlog=512)
            # Head and body of an answer are two writes: without this the second waits 40 ms for the first one's receipt.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return listening
        except OSError as error:
            reason = error
    where = f"{host}:{PORT if port is None else port}"
    raise UsageError(f"cannot listen at {printable(where)}: {reason.strerror or reason}") from None


def address_of(listening: socket.socket, root_path: str = "") -> str:
    """The address for a browser."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        # Every address of this machine: its name is one that others can use.
        host = socket.gethostname()
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}{root_path}/"


def run_app(
    app: "FastAPI", listening: socket.socket, *, root_path: str = "", proxies: Sequence[str] = ()
) -> None:
    """Serve until the person ends it; what was acknowledged is on disk."""
    import uvicorn

    # Two threads hand every save to each other; by default the one that waits for the other may wait for 5 ms.
    sys.setswitchinterval(0.0005)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        root_path=root_path,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies) or None,
        timeout_graceful_shutdown=3,
        # What a page sends is small, and never kept waiting for.
        timeout_keep_alive=30,
        ws="none",
    )
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        # Ending the server is how it is meant to end.
        sys.stderr.flush()
    finally:
        listening.close()
