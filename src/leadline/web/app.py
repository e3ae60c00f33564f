"""The application: the API, the pages, the writer's thread behind them."""

import hashlib
import importlib
import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.staticfiles import StaticFiles

from leadline.errors import LeadlineError
from leadline.web import api, api_lead
from leadline.web.accounts import Accounts, secret_of
from leadline.web.desk import Desk
from leadline.web.refusal import Refusal
from leadline.web.security import Gate, Guard, Signer, Tries, refused
from leadline.web.setup import Setup
from leadline.web.writer import BookFailure

STATIC = Path(__file__).parent / "static"


def create_app(setup: Setup) -> FastAPI:
    """The application over one file of pairs and one book; the book is opened here and closed with the application.

    Raises
    ------
    InputError: the book cannot be opened.
    """
    desk = Desk(setup)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.close()

    app = FastAPI(
        title="Leadline judging",
        version="1",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    app.state.desk = desk
    app.state.accounts = accounts = Accounts(desk.book)
    secret = secret_of(desk.book)
    # Pages keep what is not sent yet under the book's own name: another book at this address must not get it.
    app.state.book_id = hashlib.sha256(f"book{secret}".encode()).hexdigest()[:12]
    app.state.gate = Gate(Signer(secret), None if setup.auth else setup.name, accounts.find)
    app.state.tries = Tries()
    app.state.guideline = setup.rules.html()
    app.include_router(api.router)
    app.include_router(api_lead.router)
    # The pages may be left out of an installation that only serves the API.
    if importlib.util.find_spec("leadline.web.pages") is not None:
        app.include_router(importlib.import_module("leadline.web.pages").router)
    if STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=STATIC), name="static")
    _answer_errors(app)
    app.add_middleware(Guard, hosts=setup.hosts, image_hosts=setup.image_hosts)
    return app


def _answer_errors(app: FastAPI) -> None:
    """Every error as `{"error", "code"}`, without a traceback."""

    @app.exception_handler(Refusal)
    async def _refusal(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, Refusal)
        return refused(error.status, error.code, str(error), error.wait)

    @app.exception_handler(BookFailure)
    async def _failure(_: Request, error: Exception) -> JSONResponse:
        return refused(503, "book", str(error))

    @app.exception_handler(LeadlineError)
    async def _wrong(_: Request, error: Exception) -> JSONResponse:
        return refused(422, "input", str(error))

    @app.exception_handler(Exception)
    async def _fault(_: Request, error: Exception) -> JSONResponse:
        # The traceback goes to the server's own log; it is nobody's business outside.
        return refused(500, "server", "the server failed; nothing was stored")

    @app.exception_handler(RequestValidationError)
    async def _shape(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        return refused(422, "input", f"{place}: {first['msg']}" if place else str(first["msg"]))

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        code = {404: "unknown", 405: "method", 400: "input"}.get(error.status_code, "input")
        response = refused(error.status_code, code, str(error.detail))
        response.headers.update(error.headers or {})
        return response
