"""`leadline judge`: the judging pages for one person, on this machine only."""

from typing import Annotated

import typer

from leadline.cli import serving
from leadline.errors import amount, printable


def judge(
    to_judge: serving.ToJudge,
    documents: serving.DocumentsFile,
    queries: serving.QueriesFile = None,
    book: serving.BookPlace = "judgments.db",
    guideline: serving.GuidelineFile = None,
    scale: serving.Scale = None,
    name: Annotated[
        str | None, typer.Option(help="The name that the judgments bear (default: your login name).")
    ] = None,
    run: serving.RunFiles = None,
    qrels: serving.QrelsFile = None,
    order: serving.OrderOf = "shuffled",
    overlap: serving.Overlap = 0.1,
    people: serving.PeopleOf = 2,
    repeats: serving.Repeats = 0.05,
    seed: serving.SeedOf = "leadline",
    image_host: serving.ImageHosts = None,
    port: serving.Port = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the pages in the browser.")
    ] = True,
) -> None:
    """Judge pairs of query and document in the browser: one person, on this machine, without a login.

    Every judgment is on disk before the page moves on. Control-C ends the server; the same command goes on where
    you were.

    Example: leadline judge to-judge.jsonl --documents corpus.jsonl --queries queries.jsonl
    """
    chosen = dict(locals())
    setup = serving.setup_of(chosen, name=name or serving.login_name(), auth=False)
    from leadline.web.app import create_app

    listening = serving.listen("127.0.0.1", port)
    app = create_app(setup)
    address = serving.address_of(listening)
    serving.tell_of_book(app)
    count = amount(len(setup.pairs), "pair")
    typer.echo(f"{count} to judge as {printable(setup.name)}, into {printable(app.state.desk.book.name)}")
    typer.echo(f"{address}  (Control-C ends; everything is saved as you go)")
    if browser:
        serving.open_browser(address)
    serving.run_app(app, listening)
