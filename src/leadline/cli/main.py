"""The command `leadline`: its commands, and how errors and interruptions end it."""

import os
import signal
import sys
import threading
from types import FrameType
from typing import Annotated

import typer

from leadline.cli.agreement import agreement
from leadline.cli.ann import ann
from leadline.cli.autojudge import autojudge
from leadline.cli.book import app as book
from leadline.cli.certify import certify
from leadline.cli.check import check
from leadline.cli.collect import collect
from leadline.cli.compare import compare, power
from leadline.cli.context import context
from leadline.cli.convert import convert
from leadline.cli.demo import demo
from leadline.cli.drift import drift
from leadline.cli.evaluate import evaluate
from leadline.cli.evidence import app as evidence
from leadline.cli.gate import baseline, gate, init
from leadline.cli.judge import judge
from leadline.cli.measures import measures
from leadline.cli.pack import pack
from leadline.cli.pool import pool
from leadline.cli.serve import serve
from leadline.cli.simulate import simulate
from leadline.errors import LeadlineError
from leadline.machine import spare_addresses

HELP = """Leadline tells whether a change to a search or RAG system helped, how sure that is, and where it broke.

Examples:

  leadline demo                              a real collection to play with

  leadline evaluate a.run --qrels q.txt      measure a run against judgments

  leadline measures nDCG                     what a measure means
"""

app = typer.Typer(
    name="leadline", help=HELP, no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False
)
app.command(rich_help_panel="Start")(demo)
app.command(rich_help_panel="Measure")(evaluate)
app.command(rich_help_panel="Measure")(measures)
app.command(rich_help_panel="Measure")(check)
app.command(rich_help_panel="Measure")(convert)
app.command(rich_help_panel="Decide")(compare)
app.command(rich_help_panel="Decide")(power)
app.command(rich_help_panel="Decide")(simulate)
app.command(rich_help_panel="Decide")(init)
app.command(rich_help_panel="Decide")(baseline)
app.command(rich_help_panel="Decide")(gate)
app.command(rich_help_panel="Judge")(pool)
app.command(rich_help_panel="Judge")(judge)
app.command(rich_help_panel="Judge")(autojudge)
app.command(rich_help_panel="Judge")(serve)
app.add_typer(book, name="book", rich_help_panel="Judge")
app.command(rich_help_panel="Judge")(agreement)
app.command(rich_help_panel="Judge")(certify)
app.command(rich_help_panel="Judge")(drift)
app.command(rich_help_panel="Index and context")(context)
app.command(rich_help_panel="Index and context")(pack)
app.command(rich_help_panel="Index and context")(collect)
app.add_typer(evidence, name="evidence", rich_help_panel="Index and context")
app.command(rich_help_panel="Index and context")(ann)


def _version(asked: bool) -> None:
    if asked:
        from leadline.report.wording import tool_version

        typer.echo(f"leadline {tool_version()}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The options of the command itself; its help is HELP."""


options.__doc__ = HELP


def run(arguments: list[str] | None = None) -> None:
    """Run the command and leave with its exit code: 0, 2 wrong use or input, 4 nothing to compare, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    spare_addresses()
    _tidy_when_ended()
    try:
        app(args=arguments, prog_name="leadline")
    except LeadlineError as error:
        _leave(f"leadline: {error}", error.exit_code)
    except MemoryError:
        _leave(
            "leadline: out of memory; a run whose rows stand together by query (sort -s -k1,1) needs least", 2
        )
    except KeyboardInterrupt:
        _leave("leadline: interrupted", 130)
    except BrokenPipeError:
        # The reader of our output has gone (a pager was closed): nothing more is to be said.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _leave(f"leadline: cannot write the output ({error.strerror or error})", 2)


def _tidy_when_ended() -> None:
    """Have a request to end (a CI job's time is up, a terminal is closed) clear away what was half written, as Ctrl-C does."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            # One that is ignored, as under nohup, stays ignored.
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)


def _end(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _leave(message: str, code: int) -> None:
    print(message, file=sys.stderr)
    sys.exit(code)
