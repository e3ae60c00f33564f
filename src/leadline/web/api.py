"""The API for judging: settings, next pairs, documents, judgments, undo, progress, login."""

import asyncio
from concurrent.futures import Future
from dataclasses import asdict
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from leadline.judging.judgment import Judgment, Span
from leadline.web.accounts import Account
from leadline.web.desk import Desk, Given
from leadline.web.documents import AROUND, SHOWN
from leadline.web.pairs import Pair
from leadline.web.refusal import Refusal, unknown
from leadline.web.security import Gate, Person, Tries, person_of
from leadline.web.settings import KEYS
from leadline.web.setup import Setup
from leadline.web.shapes import (
    DocumentOut,
    GradeOut,
    HealthOut,
    JudgmentIn,
    JudgmentOut,
    LoginIn,
    LoginOut,
    NextOut,
    PairOut,
    Problem,
    ProgressOut,
    RevealOut,
    SavedOut,
    SettingsOut,
    UndoIn,
    UndoneOut,
)

T = TypeVar("T")
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": words}
    for status, words in {
        400: "the body cannot be read",
        401: "log in first",
        403: "not allowed: no token, or only for a lead",
        404: "no such thing",
        409: "it cannot be stored as things stand; nothing was",
        413: "the body is too long",
        422: "a value that cannot stand",
        429: "too often",
        503: "the book could not be written; nothing was stored",
    }.items()
}
router = APIRouter(prefix="/api", responses=PROBLEMS)


async def desk_of(request: Request) -> Desk:
    """The desk of the application."""
    desk: Desk = request.app.state.desk
    return desk


async def asks(request: Request) -> Person:
    """Who asks.

    Raises
    ------
    Refusal: nobody has logged in.
    """
    person = person_of(request)
    if person is None:
        raise Refusal(401, "login", "log in first: open the link that you were sent")
    return person


async def changes(request: Request, person: Annotated[Person, Depends(asks)]) -> Person:
    """Who asks for a change, with the session's token.

    Raises
    ------
    Refusal: nobody has logged in, or the token is not there.
    """
    gate: Gate = request.app.state.gate
    gate.check_token(request, person)
    return person


Asks = Annotated[Person, Depends(asks)]
Changes = Annotated[Person, Depends(changes)]
TheDesk = Annotated[Desk, Depends(desk_of)]


async def done(future: "Future[T]") -> T:
    """The result of the writer's thread."""
    return await asyncio.wrap_future(future)


@router.get("/health")
async def health() -> HealthOut:
    """The server answers; the book is not asked."""
    return HealthOut(ok=True)


@router.get("/settings")
async def settings(request: Request, person: Asks, desk: TheDesk) -> SettingsOut:
    """What a page needs to begin: who judges, the scale, the guideline, the keys, the token."""
    setup, gate = desk.setup, request.app.state.gate
    return SettingsOut(
        assessor=person.name,
        role=person.role,
        auth=setup.auth,
        root=request.scope.get("root_path", ""),
        scale=[GradeOut(**asdict(one)) for one in setup.rules.scale],
        guideline_html=request.app.state.guideline,
        guideline_version=setup.rules.version,
        book=request.app.state.book_id,
        keys=dict(KEYS),
        reserve_seconds=setup.plan.reserve,
        csrf=gate.signer.token(person.nonce),
    )


@router.get("/next")
async def next_pairs(
    person: Asks, desk: TheDesk, count: Annotated[int, Query(ge=1, le=50)] = 5, skipped: bool = False
) -> NextOut:
    """The next pairs of the assessor, reserved for them; or, with `skipped`, those that they skipped."""
    names, progress = await done(desk.next(person.name, count, skipped))
    pairs = [shown(desk.setup, pair, name) for name in names if (pair := _found(desk, name)) is not None]
    return NextOut(pairs=pairs, progress=ProgressOut(**asdict(progress)))


@router.get("/pairs/{pair}")
async def one_pair(pair: str, person: Asks, desk: TheDesk) -> PairOut:
    """One pair again, with what the assessor said of it."""
    own = await done(desk.look(person.name, pair))
    found = _found(desk, pair)
    if found is None:
        raise unknown("pair")
    return shown(desk.setup, found, pair, own)


@router.get("/documents/{doc_id:path}")
async def document(doc_id: str, person: Asks, desk: TheDesk) -> DocumentOut:
    """The full document, and where the chunk stands in it."""
    one = desk.setup.documents.get(doc_id)
    if one is None:
        raise unknown("document")
    around = desk.setup.documents.around(doc_id)
    return DocumentOut(
        doc_id=one.doc_id,
        title=one.title,
        path=one.path,
        link=one.link,
        image=one.image,
        fields=dict(one.fields),
        text=one.text if around is None else around.text,
        start=None if around is None else around.start,
        end=None if around is None else around.end,
    )


@router.post("/judgments")
async def judge(body: JudgmentIn, person: Changes, desk: TheDesk) -> SavedOut:
    """Store a judgment; answered once it is on disk. The same id again is acknowledged, and stored once."""
    saved = await done(desk.save(person.name, given(desk, body, body.evidence)))
    reveal = None
    if saved.others is not None:
        others = [JudgmentOut.of(row) for row in saved.others]
        reveal = RevealOut(ranks=all_ranks(desk.setup, saved.pair), others=others)
    return SavedOut(saved=saved.id, progress=ProgressOut(**asdict(saved.progress)), reveal=reveal)


@router.post("/undo")
async def undo(person: Changes, desk: TheDesk, given: UndoIn | None = None) -> UndoneOut:
    """Take back the assessor's last judgment that stands, or the one that is named."""
    name, row, progress = await done(desk.undo(person.name, given.judgment if given else None))
    pair = None if name is None else _found(desk, name)
    undone = None if name is None or pair is None else shown(desk.setup, pair, name, row)
    return UndoneOut(undone=undone, progress=ProgressOut(**asdict(progress)))


@router.get("/progress")
async def progress(person: Asks, desk: TheDesk) -> ProgressOut:
    """Where the assessor stands."""
    found = await done(desk.progress(person.name))
    return ProgressOut(**asdict(found))


@router.post("/login")
async def login(body: LoginIn, request: Request, response: Response, desk: TheDesk) -> LoginOut:
    """Let in who holds an invitation link; the link is used up."""
    tries: Tries = request.app.state.tries
    address = request.client.host if request.client else ""
    tries.check(address)
    accounts, gate = request.app.state.accounts, request.app.state.gate
    if not desk.setup.auth:
        raise unknown("invitation: this server has no accounts")
    try:
        account: Account = await done(desk.ask(lambda batch: accounts.redeem(batch.writing(), body.token)))
    except Refusal:
        tries.failed(address)
        raise
    gate.remember(request, response, {"name": account.name, "epoch": account.epoch})
    return LoginOut(assessor=account.name, role=account.role)


@router.post("/logout")
async def logout(request: Request, response: Response, person: Changes) -> HealthOut:
    """End this browser's session."""
    request.app.state.gate.forget(request, response)
    return HealthOut(ok=True)


def given(desk: Desk, body: Any, evidence: Any = ()) -> Given:
    """What a page sent, checked against the scale.

    Raises
    ------
    Refusal: neither a grade nor a mark, both, or a grade that is not of the scale.
    """
    if (body.grade is None) == (body.mark is None):
        raise Refusal(422, "input", "a judgment has a grade or a mark, and not both")
    if body.grade is not None and body.grade not in desk.setup.rules.grades:
        scale = ", ".join(f"{one:g}" for one in desk.setup.rules.grades)
        raise Refusal(422, "input", f"grade {body.grade:g} is not of the scale: {scale}")
    spans = tuple(Span(one.start, one.end, one.quote) for one in evidence)
    seconds, text_hash = getattr(body, "seconds", None), getattr(body, "text_hash", None)
    return Given(body.id, body.pair, body.grade, body.mark, spans, body.note, seconds, text_hash)


def shown(setup: Setup, pair: Pair, name: str, own: Judgment | None = None) -> PairOut:
    """A pair as it is judged: the query, the document, the grey text around it."""
    query, document = setup.query(pair.query_id), setup.documents.by_id[pair.doc_id]
    around = setup.documents.around(pair.doc_id)
    text = document.text[:SHOWN]
    before = after = ""
    has_more = len(document.text) > SHOWN
    if around is not None:
        before = around.text[max(0, around.start - AROUND) : around.start]
        after = around.text[around.end : around.end + AROUND] if not has_more else ""
        has_more = has_more or around.start > len(before) or len(around.text) > around.end + len(after)
    return PairOut(
        pair=name,
        query_id=pair.query_id,
        query=query.text,
        need=query.need,
        doc_id=pair.doc_id,
        title=document.title,
        path=document.path,
        link=document.link,
        image=document.image,
        fields=dict(document.fields),
        before=before,
        text=text,
        after=after,
        text_hash=document.hash,
        has_more=has_more,
        judgment=None if own is None else JudgmentOut.of(own),
    )


def all_ranks(setup: Setup, pair: Pair) -> dict[str, int]:
    """Where each system ranked the document: by the pairs' file, and by the runs."""
    ranks = dict(pair.ranks)
    for system, of_query in setup.ranks.items():
        rank = of_query.get(pair.query_id, {}).get(pair.doc_id)
        if rank is not None:
            ranks[system] = rank
    return ranks


def _found(desk: Desk, name: str) -> Pair | None:
    # Opaque names never change while the server runs: the writer's thread need not be asked.
    found = desk.queue.find(name)
    return None if found is None else found[0]
