"""`leadline serve`: the judging pages for a team."""

from typing import Annotated, Any

import typer

from leadline.cli import serving
from leadline.errors import UsageError, amount, printable

Auth = Annotated[bool, typer.Option("--auth", help="People log in by the links that they are sent.")]
Invite = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="Print a link for an assessor, NAME=lead for a lead; good for 7 days, once."
    ),
]
NameOf = Annotated[
    str | None, typer.Option("--name", help="Without --auth: the name that the judgments bear.")
]
Host = Annotated[
    str, typer.Option(help="The address to listen at; another than this machine's own asks for --auth.")
]
RootPath = Annotated[str, typer.Option(metavar="/PATH", help="The path that the proxy in front takes away.")]
ProxyHeaders = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ADDRESS", help="Believe X-Forwarded-For and X-Forwarded-Proto of the proxy at this address."
    ),
]
Url = Annotated[
    str | None,
    typer.Option(metavar="URL", help="The address that people use, for the links that are printed."),
]


def serve(
    to_judge: serving.ToJudge,
    documents: serving.DocumentsFile,
    queries: serving.QueriesFile = None,
    book: serving.BookPlace = "judgments.db",
    guideline: serving.GuidelineFile = None,
    scale: serving.Scale = None,
    auth: Auth = False,
    invite: Invite = None,
    name: NameOf = None,
    run: serving.RunFiles = None,
    qrels: serving.QrelsFile = None,
    order: serving.OrderOf = "shuffled",
    overlap: serving.Overlap = 0.1,
    people: serving.PeopleOf = 2,
    repeats: serving.Repeats = 0.05,
    seed: serving.SeedOf = "leadline",
    image_host: serving.ImageHosts = None,
    host: Host = "127.0.0.1",
    port: serving.Port = None,
    root_path: RootPath = "",
    proxy_headers: ProxyHeaders = None,
    url: Url = None,
) -> None:
    """Judge as a team: the pages of `leadline judge` for several people, each with a name and a queue of their own.

    Example: leadline serve to-judge.jsonl --documents corpus.jsonl --auth --invite ana --invite bob --invite eve=lead
    """
    chosen = dict(locals())
    _refuse(auth, host, root_path, bool(invite))
    setup = serving.setup_of(chosen, name=name or serving.login_name(), auth=auth, root_path=root_path)
    from leadline.web.app import create_app

    listening = serving.listen(host, port)
    app = create_app(setup)
    own = serving.address_of(listening, root_path)
    address = (url.rstrip("/") + "/") if url else own
    serving.tell_of_book(app)
    typer.echo(f"{amount(len(setup.pairs), 'pair')} to judge, into {printable(app.state.desk.book.name)}")
    typer.echo(f"{address}  (Control-C ends; everything is saved as people go)")
    if url:
        typer.echo(f"  listening at {own}")
    if auth:
        _print_links(app.state, invite or [], address)
    serving.run_app(app, listening, root_path=root_path, proxies=proxy_headers or ())


def _refuse(auth: bool, host: str, root_path: str, invites: bool) -> None:
    """Refuse before any work what would let strangers in, or cannot work."""
    if not auth and not serving.is_loopback(host):
        raise UsageError(
            f"--host {printable(host)} lets other machines in, and without --auth nobody would have to log in: add --auth"
        )
    if not serving.ROOT.fullmatch(root_path):
        raise UsageError(
            f"--root-path {printable(root_path)!r}: a path such as /judging, without a slash at its end"
        )
    if invites and not auth:
        raise UsageError("--invite makes links to log in with: add --auth")


def _print_links(state: Any, invited: list[str], address: str) -> None:
    """Print the links of those invited; where nobody leads yet and no lead is invited, one for who started the server."""
    accounts, desk = state.accounts, state.desk
    asked = [(one.partition("=")[0], one.partition("=")[2] or "assessor") for one in invited]
    if not accounts.has_lead() and all(role != "lead" for _, role in asked):
        asked.append((serving.login_name(), "lead"))
    for name, role in asked:
        made = desk.ask(lambda batch, n=name, r=role: accounts.invite(batch.writing(), n, r)).result()
        typer.echo(f"  {role:8}  {printable(made.name)}: {address}invite/{made.token}")
