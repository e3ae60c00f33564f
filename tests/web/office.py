"""A small pool of pairs, an application over it, and people who talk to it."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from starlette.testclient import TestClient

from leadline.web.app import create_app
from leadline.web.documents import Document, Documents
from leadline.web.pairs import Pair, Query, pair_name
from leadline.web.queue import Plan
from leadline.web.setup import Setup

HOSTS = ("127.0.0.1", "localhost", "::1")


def pair(query: str, doc: str, place: int = 0, **ranks: int) -> Pair:
    return Pair(query, doc, pair_name(query, doc), place, ranks or {"bm25": place + 1, "dense": place + 2})


def setup(book: str, count: int = 30, **changed: Any) -> Setup:
    """`count` pairs of three queries, one document each; overlap and repeats off unless a plan is given."""
    pairs = [pair(f"q{i % 3}", f"d{i}", i) for i in range(count)]
    documents = Documents([Document(f"d{i}", f"text of document {i}", f"title {i}") for i in range(count)])
    queries = {f"q{i}": Query(f"q{i}", f"query {i}", f"need {i}") for i in range(3)}
    made = Setup(
        pairs, documents, queries, plan=Plan(overlap=0, repeats=0), book=book, name="ana", hosts=HOSTS
    )
    return replace(made, **changed)


class Someone:
    """A person at a browser: a client with its cookies, and the token of its session."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.token = ""

    def begin(self) -> "Someone":
        self.token = self.get("settings").json()["csrf"]
        return self

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(f"/api/{path}", **more)

    def post(self, path: str, body: Any = None, **more: Any) -> Any:
        return self.client.post(f"/api/{path}", json=body, headers={"X-CSRF-Token": self.token}, **more)

    def next(self, count: int = 5, **more: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("next", params={"count": count, **more}).json()["pairs"]
        return found

    def grade(self, name: str, grade: float = 1, **more: Any) -> Any:
        return self.post("judgments", {"id": str(uuid.uuid4()), "pair": name, "grade": grade, **more})

    def mark(self, name: str, mark: str, **more: Any) -> Any:
        return self.post("judgments", {"id": str(uuid.uuid4()), "pair": name, "mark": mark, **more})


@contextmanager
def alone(made: Setup) -> Iterator[Someone]:
    """The one person of a server without accounts."""
    with TestClient(create_app(made), base_url="http://127.0.0.1") as client:
        yield Someone(client).begin()


@contextmanager
def team(made: Setup, **roles: str) -> Iterator[dict[str, Someone]]:
    """People with accounts, each with a browser of their own: `team(setup, ana="assessor", eve="lead")`."""
    app = create_app(replace(made, auth=True, hosts=()))
    with TestClient(app, base_url="http://127.0.0.1"):
        found = {}
        for name, role in roles.items():
            token = invite(app, name, role)
            someone = Someone(TestClient(app, base_url="http://127.0.0.1"))
            assert someone.client.post("/api/login", json={"token": token}).status_code == 200
            found[name] = someone.begin()
        yield found


def invite(app: Any, name: str, role: str = "assessor", **more: Any) -> str:
    """The token of a new link."""
    accounts, desk = app.state.accounts, app.state.desk
    made = desk.ask(lambda batch: accounts.invite(batch.writing(), name, role, **more)).result()
    token: str = made.token
    return token
