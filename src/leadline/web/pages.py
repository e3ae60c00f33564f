"""The pages: each is a template that a script fills from the API; a person who has not logged in is sent to do so."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from leadline.web.security import Person, person_of
from leadline.web.settings import KEYS
from leadline.web.templating import levels, template

router = APIRouter(include_in_schema=False)

JUDGING = (
    "dom.js",
    "text.js",
    "clock.js",
    "outbox.js",
    "api.js",
    "view.js",
    "judge.js",
    "hands.js",
    "start.js",
)
"""The scripts of the judging screen, in the order in which they run."""
MENU = (
    ("/judge", "Judge", False),
    ("/queries", "Queries", False),
    ("/compare", "Compare", True),
    ("/agreement", "Agreement", True),
    ("/adjudicate", "Adjudicate", True),
    ("/accounts", "People", True),
)
"""Address, name, and whether it is for the lead only."""


@router.get("/")
def home(request: Request) -> Response:
    """The way in: what there is to do."""
    return _page(request, "home.html", "/", "home.js")


@router.get("/judge")
def judge(request: Request) -> Response:
    """The judging screen."""
    rules = request.app.state.desk.setup.rules
    return _page(
        request,
        "judge.html",
        "/judge",
        *JUDGING,
        keys=KEYS,
        scale=levels(rules.scale),
        guideline_html=Markup(request.app.state.guideline),
    )


@router.get("/queries")
def queries(request: Request) -> Response:
    """Every query, with how much of it is judged."""
    return _page(request, "queries.html", "/queries", "queries.js")


@router.get("/compare")
def compare(request: Request) -> Response:
    """Two runs side by side for one query."""
    return _page(request, "compare.html", "/compare", "compare.js", lead=True)


@router.get("/agreement")
def agreement(request: Request) -> Response:
    """How far people agree with each other and with themselves."""
    return _page(request, "agreement.html", "/agreement", "agreement.js", lead=True)


@router.get("/adjudicate")
def adjudicate(request: Request) -> Response:
    """The pairs that people differ on, for the lead to decide."""
    return _page(request, "adjudicate.html", "/adjudicate", "text.js", "adjudicate.js", lead=True)


@router.get("/accounts")
def accounts(request: Request) -> Response:
    """Who takes part, and invitations."""
    return _page(request, "accounts.html", "/accounts", "accounts.js", lead=True)


@router.get("/login")
def login(request: Request) -> Response:
    """Where a person comes who has no session: sessions begin with an invitation link."""
    if person_of(request) is not None:
        return RedirectResponse(_root(request) + "/", 303)
    return HTMLResponse(
        _filled(request, "login.html", None, "/login", ("dom.js", "api.js", "login.js"), token="")
    )


@router.get("/invite/{token}")
def invite(request: Request, token: str) -> Response:
    """An invitation: a button, so that a program which only follows links does not use it up."""
    page = _filled(request, "login.html", None, "/login", ("dom.js", "api.js", "login.js"), token=token)
    return HTMLResponse(page, headers={"Cache-Control": "no-store"})


def _page(
    request: Request, name: str, here: str, *scripts: str, lead: bool = False, **values: Any
) -> Response:
    person = person_of(request)
    if person is None:
        return RedirectResponse(_root(request) + "/login", 303)
    if lead and not person.is_lead:
        return HTMLResponse(_filled(request, "lead_only.html", person, here, ()), 403)
    own = scripts if "dom.js" in scripts else ("dom.js", "api.js", *scripts, "log_out.js")
    return HTMLResponse(_filled(request, name, person, here, own, **values))


def _filled(
    request: Request, name: str, person: Person | None, here: str, scripts: tuple[str, ...], **values: Any
) -> str:
    auth = request.app.state.desk.setup.auth
    is_lead = person is not None and person.is_lead
    menu = [(path, words) for path, words, lead in MENU if is_lead or not lead]
    return template(name).render(
        root=_root(request),
        here=here,
        who="" if person is None else person.name,
        role="" if person is None else person.role,
        menu=menu if auth else [entry for entry in menu if entry[0] != "/accounts"],
        auth=auth,
        scripts=scripts,
        **values,
    )


def _root(request: Request) -> str:
    return str(request.scope.get("root_path") or "").rstrip("/")
