"""Who may do what, and the usual attacks."""

import base64
import json
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from office import Someone, alone, invite, setup, team
from sqlalchemy import text
from starlette.testclient import TestClient

from leadline.errors import UsageError
from leadline.judging.book import Book
from leadline.web.accounts import checked_name
from leadline.web.app import create_app
from leadline.web.documents import Document, Documents
from leadline.web.pairs import Query
from leadline.web.refusal import Refusal
from leadline.web.security import LARGEST, TRIES, Signer, Tries

CHANGES = ["judgments", "undo", "adjudications", "invitations", "accounts/revoke", "logout"]
READS = ["settings", "next", "progress", "queries", "pairs/x", "documents/d0"]
LEAD_READS = ["compare?query_id=q0", "disagreements", "agreement", "export", "accounts"]


def fresh(someone: Someone) -> TestClient:
    """Another browser at the same server."""
    return TestClient(someone.client.app, base_url="http://127.0.0.1")


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


@pytest.fixture
def book(tmp_path: Path) -> str:
    return str(tmp_path / "judgments.db")


@pytest.mark.parametrize("path", CHANGES)
def test_no_change_without_the_token(book: str, path: str) -> None:
    bodies = {"judgments": {"id": "0" * 32, "pair": "x", "grade": 1}, "adjudications": {"id": "0" * 32, "pair": "x", "grade": 1},
              "invitations": {"name": "x"}, "accounts/revoke": {"name": "x"}}  # fmt: skip
    with team(setup(book), eve="lead", bob="lead") as people:
        eve, bob = people["eve"], people["bob"]
        for token in ("", "x", bob.token, eve.token[:-1]):
            answer = eve.client.post(f"/api/{path}", json=bodies.get(path), headers={"X-CSRF-Token": token})
            assert code(answer) == (403, "csrf"), token
        assert eve.client.post(f"/api/{path}", json=bodies.get(path)).status_code == 403
    with alone(setup(book)) as ana:
        assert code(ana.client.post(f"/api/{path}", json=bodies.get(path))) == (403, "csrf")


def test_nothing_without_a_session(book: str) -> None:
    with team(setup(book), ana="assessor") as people:
        client = fresh(people["ana"])
        for path in READS + LEAD_READS:
            assert code(client.get(f"/api/{path}")) == (401, "login"), path
        token = {"X-CSRF-Token": people["ana"].token}
        assert code(client.post("/api/undo", headers=token)) == (401, "login")
        assert client.get("/api/health").json() == {"ok": True}


def test_an_assessor_may_not_lead(target: str) -> None:
    with team(setup(target), ana="assessor") as people:
        ana = people["ana"]
        for path in LEAD_READS:
            assert code(ana.get(path)) == (403, "role"), path
        name = ana.next(1)[0]["pair"]
        assert code(ana.post("adjudications", {"id": "0" * 32, "pair": name, "grade": 1})) == (403, "role")
        assert code(ana.post("invitations", {"name": "x", "role": "lead"})) == (403, "role")
        assert code(ana.post("accounts/revoke", {"name": "ana"})) == (403, "role")


def test_a_session_cannot_be_made_up_or_changed(book: str) -> None:
    with team(setup(book), ana="assessor", eve="lead") as people:
        ana = people["ana"]
        cookie = next(iter(ana.client.cookies.keys()))
        word = ana.client.cookies[cookie]
        body, mark = word.split(".")
        content = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        assert content["name"] == "ana"
        forged = (
            base64.urlsafe_b64encode(json.dumps(content | {"name": "eve"}).encode()).rstrip(b"=").decode()
        )
        words = [
            f"{forged}.{mark}",
            f"{body}.{'0' * 64}",
            body,
            "",
            ".",
            "a.b",
            f"{body}.é",
            Signer("other").sign(content),
        ]
        for one in words:
            client = fresh(ana)
            sent = f"{cookie}={one}".encode()
            assert client.get("/api/export", headers={b"cookie": sent}).status_code == 401, one


def test_a_session_ends_in_time(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with team(setup(target), ana="assessor") as people:
        ana = people["ana"]
        name, word = next(iter(ana.client.cookies.items()))
        client = fresh(ana)
        # By hand: the client's own jar would let the cookie run out by itself.
        sent = {"Cookie": f"{name}={word}"}
        assert client.get("/api/progress", headers=sent).status_code == 200
        late = time.time() + 31 * 24 * 3600
        monkeypatch.setattr("leadline.web.security.time.time", lambda: late)
        assert client.get("/api/progress", headers=sent).status_code == 401


def test_sessions_outlive_the_server(target: str) -> None:
    with team(setup(target), ana="assessor") as people:
        ana = people["ana"]
    with TestClient(create_app(setup(target, auth=True, hosts=())), base_url="http://127.0.0.1") as client:
        client.cookies = ana.client.cookies
        again = Someone(client)
        again.token = ana.token
        assert again.grade(again.next(1)[0]["pair"]).status_code == 200


def test_the_cookie_is_kept_from_scripts_and_other_sites(book: str) -> None:
    app = create_app(setup(book, auth=True, hosts=()))
    with TestClient(app, base_url="https://labels.example", root_path="/judging") as client:
        token = invite(app, "ana")
        cookie = client.post("/api/login", json={"token": token}).headers["set-cookie"].lower()
        assert (
            "httponly" in cookie
            and "samesite=lax" in cookie
            and "secure" in cookie
            and "path=/judging" in cookie
        )
        plain = TestClient(app, base_url="http://127.0.0.1")
        token = invite(app, "bob")
        assert "secure" not in plain.post("/api/login", json={"token": token}).headers["set-cookie"].lower()


def test_a_link_works_once(target: str) -> None:
    with team(setup(target), eve="lead") as people:
        eve = people["eve"]
        made = eve.post("invitations", {"name": "dan", "role": "assessor"}).json()
        assert made["path"] == f"/invite/{made['token']}"
        assert [one["name"] for one in eve.get("accounts").json()["invitations"]] == ["dan"]
        client = fresh(eve)
        assert client.post("/api/login", json={"token": made["token"]}).json() == {
            "assessor": "dan",
            "role": "assessor",
        }
        assert code(fresh(eve).post("/api/login", json={"token": made["token"]})) == (404, "unknown")
        found = eve.get("accounts").json()
        assert [one["name"] for one in found["accounts"]] == ["dan", "eve"] and found["invitations"] == []
        # Of a link the database has the hash alone.
        with Book.open(target) as opened, opened.engine.connect() as connection:
            stored = connection.execute(text("SELECT * FROM invitations")).fetchall()
        assert stored and made["token"] not in str(stored)


def test_a_link_expires(target: str) -> None:
    with team(setup(target), eve="lead") as people:
        token = invite(people["eve"].client.app, "dan", valid=-1)
        assert code(fresh(people["eve"]).post("/api/login", json={"token": token})) == (404, "unknown")


def test_revoking_ends_sessions_and_links(target: str) -> None:
    with team(setup(target), ana="assessor", eve="lead") as people:
        ana, eve = people["ana"], people["eve"]
        ana.grade(ana.next(1)[0]["pair"])
        token = eve.post("invitations", {"name": "ana", "role": "assessor"}).json()["token"]
        assert eve.post("accounts/revoke", {"name": "ana"}).json() == {"revoked": "ana"}
        assert code(ana.get("progress")) == (401, "login")
        assert fresh(ana).post("/api/login", json={"token": token}).status_code == 404
        # What was judged stays, and a new link lets the person in again, but not the old session.
        assert len(eve.get("export").text.splitlines()) == 1
        token = eve.post("invitations", {"name": "ana", "role": "assessor"}).json()["token"]
        client = fresh(ana)
        assert client.post("/api/login", json={"token": token}).status_code == 200
        assert client.get("/api/progress").json()["done"] == 1
        assert ana.get("progress").status_code == 401
        assert code(eve.post("accounts/revoke", {"name": "nobody"})) == (404, "unknown")


def test_no_role_by_a_second_link(target: str) -> None:
    with team(setup(target), ana="assessor", eve="lead") as people:
        assert code(people["eve"].post("invitations", {"name": "ana", "role": "lead"})) == (409, "role")
        assert code(people["eve"].post("invitations", {"name": "x", "role": "king"})) == (422, "input")


def test_logging_out_forgets_the_session(target: str) -> None:
    with team(setup(target), ana="assessor") as people:
        ana = people["ana"]
        assert ana.post("logout").json() == {"ok": True}
        assert ana.get("progress").status_code == 401


def test_guessing_links_is_slowed_down(book: str) -> None:
    with team(setup(book), eve="lead") as people:
        client = fresh(people["eve"])
        tries = [client.post("/api/login", json={"token": f"guess{i}"}) for i in range(TRIES + 1)]
        assert [one.status_code for one in tries] == [404] * TRIES + [429]
        assert 1 <= int(tries[-1].headers["retry-after"]) <= 61
        # Right or wrong: whoever guesses learns no more.
        token = invite(people["eve"].client.app, "dan")
        assert client.post("/api/login", json={"token": token}).status_code == 429


def test_the_limit_is_by_address_and_passes() -> None:
    now = [0.0]
    tries = Tries(lambda: now[0])
    for _ in range(TRIES):
        tries.check("a")
        tries.failed("a")
    with pytest.raises(Refusal):
        tries.check("a")
    tries.check("b")
    now[0] = 61
    tries.check("a")
    for place in range(200):
        tries.failed(str(place))
    with pytest.raises(Refusal):
        tries.check("new")


@pytest.mark.parametrize("name", ["", " ", "a" * 65, "a\nb", "a\x1b[31m", "a‮b"])
def test_names_that_cannot_be_seen_are_refused(name: str) -> None:
    with pytest.raises(UsageError):
        checked_name(name)


def test_other_names_of_this_machine_are_not_answered(book: str) -> None:
    """A page elsewhere whose name points to 127.0.0.1 (DNS rebinding) could read the token otherwise."""
    with alone(setup(book)) as ana:
        for host in ("evil.example", "127.0.0.1.evil.example", "evil.example:8737", "", "[::2]"):
            assert code(ana.client.get("/api/settings", headers={"Host": host})) == (403, "host"), host
        for host in ("127.0.0.1:8737", "localhost", "[::1]:8737"):
            assert ana.client.get("/api/settings", headers={"Host": host}).status_code == 200, host


def test_every_answer_has_the_headers(book: str) -> None:
    made = setup(book, image_hosts=["img.example.org"])
    with alone(made) as ana:
        for path in ("/api/settings", "/api/nothing", "/nothing", "/api/openapi.json"):
            headers = ana.client.get(path).headers
            policy = headers["content-security-policy"]
            assert (
                "default-src 'none'" in policy and "script-src 'self';" in policy and "unsafe" not in policy
            )
            assert "img-src 'self' img.example.org;" in policy and "frame-ancestors 'none'" in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cache-control"] == "no-store"
        assert ana.client.get("/static/dom.js").headers["cache-control"] == "no-cache"
        refused = ana.client.get("/api/settings", headers={"Host": "evil.example"})
        assert "content-security-policy" in refused.headers
        assert "access-control-allow-origin" not in refused.headers


def test_a_fault_of_the_server_tells_nothing(book: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(setup(book))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        monkeypatch.setattr(app.state.desk.queue, "find", lambda name: 1 / 0)
        answer = client.get("/api/pairs/x")
        assert code(answer) == (500, "server") and "Zero" not in answer.text


def test_long_bodies_are_refused(book: str) -> None:
    with alone(setup(book)) as ana:
        long = b'{"id": "' + b"0" * LARGEST + b'"}'
        headers = {"X-CSRF-Token": ana.token, "Content-Type": "application/json"}
        assert code(ana.client.post("/api/judgments", content=long, headers=headers)) == (413, "large")

        def parts() -> Any:
            for _ in range(LARGEST // 1000 + 2):
                yield b" " * 1000

        # Without a length that is told before.
        assert code(ana.client.post("/api/judgments", content=parts(), headers=headers)) == (413, "large")
        assert ana.client.get("/api/health").status_code == 200


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b"null", b"[" * 100_000, b'{"id": NaN}', b"1" * 5000]
)
def test_wrong_json_is_refused(book: str, body: bytes) -> None:
    with alone(setup(book)) as ana:
        headers = {"X-CSRF-Token": ana.token, "Content-Type": "application/json"}
        answer = ana.client.post("/api/judgments", content=body, headers=headers)
        assert answer.status_code in (400, 422) and answer.json()["code"] == "input"


def test_a_form_is_no_json(book: str) -> None:
    with alone(setup(book)) as ana:
        headers = {"X-CSRF-Token": ana.token, "Content-Type": "text/plain"}
        body = b'{"id": "00000000", "pair": "x", "grade": 1}'
        assert ana.client.post("/api/judgments", content=body, headers=headers).status_code == 422


SCRIPT = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u2028"


def test_scripts_in_texts_stay_texts(book: str) -> None:
    document = Document("d0", SCRIPT, SCRIPT, SCRIPT, fields={SCRIPT: SCRIPT})
    made = replace(
        setup(book, 1), documents=Documents([document]), queries={"q0": Query("q0", SCRIPT, SCRIPT)}
    )
    with alone(made) as ana:
        answer = ana.get("next")
        assert answer.headers["content-type"] == "application/json"
        one = answer.json()["pairs"][0]
        assert one["text"] == one["title"] == one["query"] == one["need"] == SCRIPT
        ana.grade(one["pair"], 1, note=SCRIPT)
        assert json.loads(ana.get("export").text)["note"] == SCRIPT


@pytest.mark.parametrize(
    "path",
    ["../../../etc/passwd", "..%2F..%2Fetc%2Fpasswd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd", "%2Fetc%2Fpasswd",
     "d0%00", "d0/../d1", "..\\..\\etc\\passwd", "file:%2F%2F%2Fetc%2Fpasswd"],
)  # fmt: skip
def test_document_ids_are_no_paths(book: str, path: str) -> None:
    with alone(setup(book)) as ana:
        for start in ("/api/documents/", "/static/"):
            answer = ana.client.get(start + path)
            assert answer.status_code == 404 or answer.json()["doc_id"] == "d1", (start, path)
            assert "root:" not in answer.text


def test_any_id_is_found_again(book: str) -> None:
    ids = ["a/b", "a b", "ä?x=1&y#z", "100%", "a\\b", "https://x.example/y"]
    made = replace(setup(book, 1), documents=Documents([Document(one, one) for one in ids]))
    with alone(made) as ana:
        for one in ids:
            assert ana.get(f"documents/{quote(one, safe='/')}").json()["doc_id"] == one
            assert ana.get(f"documents/{quote(one, safe='')}").json()["doc_id"] == one


def test_nothing_sent_gets_into_headers(book: str) -> None:
    with team(setup(book), eve="lead") as people:
        eve = people["eve"]
        for text in ("x\r\nSet-Cookie: a=b", "x\nLocation: //evil.example"):
            for answer in (
                eve.get(f"compare?query_id={quote(text)}"),
                eve.get(f"documents/{quote(text)}"),
                fresh(eve).post("/api/login", json={"token": text}),
                eve.post("invitations", {"name": text, "role": "assessor"}),
            ):
                assert answer.status_code in (404, 422)
                assert "evil" not in str(answer.headers) and not re.search("a=b", str(answer.headers))
