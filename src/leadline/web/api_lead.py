"""The API for looking and leading: overview of queries, two runs side by side, disagreements, accounts, export."""

import json
from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from leadline.judging.judgment import Judgment
from leadline.web import concord, overview
from leadline.web.accounts import Accounts
from leadline.web.api import PROBLEMS, Asks, TheDesk, asks, changes, done, given, shown
from leadline.web.refusal import Refusal
from leadline.web.security import Person
from leadline.web.shapes_lead import (
    AccountOut,
    AccountsOut,
    AckOut,
    AdjudicationIn,
    AgreementOut,
    CompareOut,
    DisagreementsOut,
    InvitationOut,
    InvitedOut,
    InviteIn,
    QueriesOut,
    RevokedOut,
    RevokeIn,
)

router = APIRouter(prefix="/api", responses=PROBLEMS)


async def leads(person: Annotated[Person, Depends(asks)]) -> Person:
    """Who asks, where they lead.

    Raises
    ------
    Refusal: an assessor.
    """
    if not person.is_lead:
        raise Refusal(403, "role", "only a lead may do that")
    return person


async def decides(person: Annotated[Person, Depends(changes)]) -> Person:
    """Who asks for a change, where they lead.

    Raises
    ------
    Refusal: an assessor, or no token.
    """
    return await leads(person)


Leads = Annotated[Person, Depends(leads)]
Decides = Annotated[Person, Depends(decides)]


@router.get("/queries")
async def queries(
    person: Asks,
    desk: TheDesk,
    unjudged: bool = False,
    disputed: bool = False,
    text: Annotated[str, Query(max_length=200)] = "",
) -> QueriesOut:
    """Every query with what is judged of it, and of each system's first ten."""
    rows = await done(desk.standing())
    found = await run_in_threadpool(overview.queries, desk.setup, rows)
    kept = [
        one
        for one in found.queries
        if (not disputed or one.disputed)
        and (not unjudged or any(part.judged < part.returned for part in one.judged_at_10.values()))
        and text.lower() in f"{one.query_id}\n{one.query}\n{one.need or ''}".lower()
    ]
    return QueriesOut(systems=found.systems, queries=kept)


@router.get("/compare")
async def compare(
    person: Leads,
    desk: TheDesk,
    query_id: Annotated[str, Query(max_length=1000)],
    a: Annotated[str, Query(max_length=1000)] = "",
    b: Annotated[str, Query(max_length=1000)] = "",
    k: Annotated[int, Query(ge=1, le=100)] = 10,
) -> CompareOut:
    """Two systems' rankings of one query side by side, with moves and grades: what an assessor must not see before."""
    rows = await done(desk.standing())
    return await run_in_threadpool(overview.compare, desk.setup, rows, query_id, a, b, k)


@router.get("/agreement")
async def agreement(person: Leads, desk: TheDesk) -> AgreementOut:
    """How far people agree: over all, by person, by two people, by query."""
    rows = await done(desk.standing())
    return await run_in_threadpool(concord.agreement, desk.setup, rows)


@router.get("/disagreements")
async def disagreements(person: Leads, desk: TheDesk, all: bool = False) -> DisagreementsOut:
    """The pairs that people differ on, widest spread first; who said what is not told."""
    rows = await done(desk.standing())
    return await run_in_threadpool(overview.disagreements, desk.setup, rows, all, shown)


@router.post("/adjudications")
async def adjudicate(body: AdjudicationIn, person: Decides, desk: TheDesk) -> AckOut:
    """Store a lead's decision; an earlier one is taken back."""
    return AckOut(saved=await done(desk.adjudicate(person.name, given(desk, body))))


@router.get(
    "/export", response_class=StreamingResponse, responses={200: {"content": {"application/x-ndjson": {}}}}
)
async def export(person: Leads, desk: TheDesk) -> StreamingResponse:
    """The whole book as JSONL, every row in its order."""
    rows = await done(desk.rows())
    return StreamingResponse(
        _lines(rows),
        media_type="application/x-ndjson",
        headers={"Content-Disposition": 'attachment; filename="judgments.jsonl"'},
    )


def _lines(rows: list[Judgment]) -> Iterator[str]:
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        yield "".join(json.dumps(row.to_dict(), ensure_ascii=False) + "\n" for row in part)


async def accounts_of(request: Request) -> Accounts:
    """The accounts of the application."""
    accounts: Accounts = request.app.state.accounts
    return accounts


TheAccounts = Annotated[Accounts, Depends(accounts_of)]


@router.get("/accounts")
async def accounts(person: Leads, desk: TheDesk, team: TheAccounts) -> AccountsOut:
    """Who may judge, and who is invited."""
    links = await done(desk.ask(lambda batch: team.open_invitations(batch.writing())))
    return AccountsOut(
        accounts=[
            AccountOut(name=one.name, role=one.role, created=one.created, active=one.active)
            for one in team.everyone()
        ],
        invitations=[InvitationOut(**link) for link in links],
    )


@router.post("/invitations")
async def invite(body: InviteIn, person: Decides, desk: TheDesk, team: TheAccounts) -> InvitedOut:
    """A link for a new person, or for one who needs to log in again."""
    if not desk.setup.auth:
        raise Refusal(409, "auth", "this server has no accounts; start it with --auth")
    made = await done(desk.ask(lambda batch: team.invite(batch.writing(), body.name, body.role)))
    return InvitedOut(token=made.token, path=f"/invite/{made.token}", expires=made.expires)


@router.post("/accounts/revoke")
async def revoke(body: RevokeIn, person: Decides, desk: TheDesk, team: TheAccounts) -> RevokedOut:
    """End every session and every open link of a name."""
    closed = await done(desk.ask(lambda batch: team.revoke(batch.writing(), body.name)))
    return RevokedOut(revoked=closed.name)
