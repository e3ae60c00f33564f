"""The page on judging as a team: its commands are run as they stand there, by five assessors and a lead."""

import json
import re
import shlex
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest
import typer
from test_serving import Server, started

from leadline.cli.main import app

PAGE = (Path(__file__).resolve().parents[2] / "docs/how-to/judge-team.md").read_text(encoding="utf-8")
PAIRS = 60


def commands() -> list[list[str]]:
    """The commands of the page's `sh` blocks, in their order, without the word `leadline`."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    words = [shlex.split(line) for line in lines]
    assert all(one[0] == "leadline" for one in words)
    return [one[1:] for one in words]


def write_files() -> None:
    """What the first command names: pairs, documents, queries, a guideline, two runs."""
    rows = [(f"q{n % 3}", f"d{n}") for n in range(PAIRS)]
    files: dict[str, list[dict[str, Any]]] = {
        "to-judge": [{"query_id": query, "doc_id": doc} for query, doc in rows],
        "corpus": [{"id": doc, "text": f"text of {doc}"} for _, doc in rows],
        "queries": [{"query_id": f"q{n}", "text": f"question {n}"} for n in range(3)],
    }
    for name, found in files.items():
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    Path("guideline.md").write_text("## 0 off topic\n\n## 1 related\n\n## 2 answers\n")
    for name in ("old", "new"):
        Path(f"{name}.run").write_text("".join(f"{q} Q0 {d} 1 {i} x\n" for i, (q, d) in enumerate(rows)))


def log_in(server: Server, token: str) -> dict[str, Any]:
    """Open a link and press its button; from here on the server is asked as that person."""
    server.cookie = server.token = ""
    with server.ask("/api/login", {"token": token}) as answer:
        server.cookie = answer.headers["Set-Cookie"].partition(";")[0]
    settings: dict[str, Any] = server.json("/api/settings")
    server.token = settings["csrf"]
    return settings


def judge_some(server: Server, count: int, grade: int) -> int:
    """Judge at most so many pairs; how many there were."""
    for done in range(count):
        pairs = server.json("/api/next?count=1")["pairs"]
        if not pairs:
            return done
        row = {"id": str(uuid.uuid4()), "pair": pairs[0]["pair"], "grade": grade}
        server.json("/api/judgments", row)
    return count


def test_the_commands_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    serve, *after = commands()
    assert serve[0] == "serve" and [one[:2] for one in after] == [
        ["agreement", "judgments.db"],
        ["book", "export"],
    ]
    write_files()
    with started(*serve) as server:
        assert server.process.stdout is not None
        printed = server.printed + [
            server.process.stdout.readline() for _ in range(serve.count("--invite") - 1)
        ]
        links = re.findall(
            r"(lead|assessor) +(\w+): https://labels\.example\.org/judging/invite/(\S+)", "".join(printed)
        )
        roles = {name: role for role, name, _ in links}
        assert roles == {**dict.fromkeys(("ana", "bob", "cai", "dee", "eli"), "assessor"), "eve": "lead"}
        told = 0
        for place, (role, name, token) in enumerate(links):
            settings = log_in(server, token)
            assert (settings["assessor"], settings["role"], settings["root"]) == (name, role, "/judging")
            if role == "assessor":
                # The last one takes all that is left.
                told += judge_some(server, 10 if name != "eli" else 200, place % 3)
        # Sixty pairs and those for two people; who is last cannot be the second of a pair that is their own.
        assert told > PAIRS
        open_pairs = server.json("/api/disagreements")["pairs"]
        assert open_pairs, "people differ on some of the pairs for two"
        for one in open_pairs:
            server.json("/api/adjudications", {"id": str(uuid.uuid4()), "pair": one["pair"], "grade": 2})
        for path in ("agreement", "queries", "compare?query_id=q0&a=old&b=new"):
            assert server.json(f"/api/{path}")
        # While it runs.
        done = [
            subprocess.run(
                [sys.executable, "-m", "leadline", *words], capture_output=True, text=True, check=True
            )
            for words in after
        ]
    assert all(
        re.search(rf"^{name} ", done[0].stdout, re.MULTILINE) for name in ("ana", "bob", "cai", "dee", "eli")
    )
    assert re.search(r"wrote qrels.txt: 60 labels by the rule adjudicated", done[1].stdout)
    assert len(Path("qrels.txt").read_text().splitlines()) == PAIRS


def test_every_option_that_the_page_names_is_one() -> None:
    command = typer.main.get_command(app).commands["serve"]  # type: ignore[attr-defined]
    known = {option for parameter in command.params for option in parameter.opts}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) - {"--rule"}
    assert named and named <= known, named - known
