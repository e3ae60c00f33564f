"""The GitHub action and the GitLab job of the docs: their own lines are run, as those services run them."""

import json
import os
import re
import stat
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

if os.environ.get("LEADLINE_REQUIRE_ALL") == "1":
    import yaml
else:
    yaml = pytest.importorskip("yaml", reason="pyyaml is not installed: pip install 'leadline[test]'")

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "how-to" / "gate.md").read_text(encoding="utf-8")
N = 40

GH = r"""#!{python}
# Stands in for GitHub's own program: the comments of the one pull request are a list in a file.
import json, sys
from pathlib import Path
store = Path({store!r})
comments = json.loads(store.read_text()) if store.exists() else []
words = sys.argv[1:]
address = next(word for word in words if word.startswith("repos/"))
with Path({calls!r}).open("a") as calls:
    calls.write(" ".join(words) + "\n")
if "--method" not in words:
    marker = words[words.index("--jq") + 1].split('startswith("')[1].split('")')[0]
    print("\n".join(str(one["id"]) for one in comments if one["body"].startswith(marker)))
    sys.exit()
body = Path(words[words.index("-F") + 1].removeprefix("body=@")).read_text()
if words[words.index("--method") + 1] == "POST":
    assert address.endswith("/issues/7/comments"), address
    comments.append({{"id": len(comments) + 100, "body": body}})
else:
    number = int(address.rpartition("/")[2])
    next(one for one in comments if one["id"] == number)["body"] = body
store.write_text(json.dumps(comments))
"""


def script(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@dataclass
class Repository:
    """A small repository with a pinned release, and a folder of programs that stand first on the path."""

    folder: Path
    programs: Path

    @property
    def environment(self) -> dict[str, str]:
        own = {key: value for key, value in os.environ.items() if not key.startswith("LEADLINE_")}
        return {**own, "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}"}

    def run(self, lines: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Lines as a step with `shell: bash` runs them."""
        place = self.programs / "step.sh"
        place.write_text(lines, encoding="utf-8")
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(place)],
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def ranked(self, name: str, share: int) -> None:
        """A run with the relevant document second in one query of `share`, third in all the others where it is 1."""
        lines = []
        for i in range(N):
            order = "bca" if share == 1 and i % 2 else "bac" if i % share == 0 else "abc"
            lines += [f"q{i} Q0 {doc} {rank} {9 - rank} x" for rank, doc in enumerate(order, 1)]
        (self.folder / name).write_text("\n".join(lines) + "\n")

    def comments(self) -> list[dict[str, Any]]:
        store = self.programs / "comments.json"
        return json.loads(store.read_text()) if store.exists() else []


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository", tmp_path / "programs")
    made.folder.mkdir()
    made.programs.mkdir()
    # The package that these tests run with is the one installed.
    script(made.programs / "leadline", f'#!/bin/sh\nexec "{sys.executable}" -m leadline "$@"\n')
    script(made.programs / "python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    script(made.programs / "pip", f'#!/bin/sh\necho "$@" >> "{made.programs}/pip.txt"\n')
    store, calls = str(made.programs / "comments.json"), str(made.programs / "calls.txt")
    script(made.programs / "gh", GH.format(python=sys.executable, store=store, calls=calls))
    qrels = [f"q{i} 0 {doc} {int(doc == 'a')}" for i in range(N) for doc in "abc"]
    (made.folder / "qrels.txt").write_text("\n".join(qrels) + "\n")
    made.ranked("old.run", 8)
    for line in ("leadline init --qrels qrels.txt -m nDCG@10 --margin 0.05", "leadline baseline old.run"):
        done = made.run(line)
        assert done.returncode == 0, done.stderr
    return made


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with each `${{ … }}` in it; one that is not known is an error."""
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: values[match[1]], text)


def action(
    repository: Repository, event: str = "pull_request", **given: str
) -> tuple[int, dict[str, str], str]:
    """Run the action's steps after the installation: the exit code of the gate, its outputs, the job's summary."""
    values = {
        f"inputs.{name}": given.get(name, one.get("default", "")) for name, one in ACTION["inputs"].items()
    }
    assert set(given) <= set(ACTION["inputs"])
    values |= {"github.token": "t", "github.repository": "o/r", "github.event.pull_request.number": "7"}
    output, summary = repository.programs / "output", repository.programs / "summary"
    for file in (output, summary):
        file.write_text("")
    code, outputs = 0, {}
    for step in ACTION["runs"]["steps"][1:]:
        assert step["shell"] == "bash"
        condition = step.get("if")
        if condition is not None:
            # The one condition there is: also after a failed step, where comments are wanted, on a pull request.
            assert condition == (
                "always() && inputs.comment == 'true' && github.event_name == 'pull_request'"
            )
            if values["inputs.comment"] != "true" or event != "pull_request":
                continue
        elif code:
            continue
        environment = {key: filled(value, values) for key, value in step.get("env", {}).items()}
        files = {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
        done = repository.run(filled(step["run"], values), **environment, **files)
        if step.get("id") == "gate":
            outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
            code = done.returncode
        else:
            assert done.returncode == 0, done.stderr
    named = {name: one["value"] for name, one in ACTION["outputs"].items()}
    given_back = {f"steps.gate.outputs.{name}": value for name, value in outputs.items()}
    return (
        code,
        {name: filled(value, given_back) for name, value in named.items() if given_back},
        summary.read_text(),
    )


def test_the_action_installs_what_it_is_asked_to(repository: Repository) -> None:
    step = ACTION["runs"]["steps"][0]
    script(repository.programs / "python", f'#!/bin/sh\nprintf "%s|" "$@" > "{repository.programs}/called"\n')
    for version in (ACTION["inputs"]["version"]["default"], "leadline[demo]==0.1.0"):
        done = repository.run(filled(step["run"], {"inputs.version": version}))
        assert done.returncode == 0, done.stderr
        assert (repository.programs / "called").read_text() == f"-m|pip|install|--quiet|{version}|"


@pytest.mark.parametrize(
    ("make", "code", "outcome"),
    [("pass", 0, "pass"), ("fail", 1, "fail"), ("strict", 3, "judge-first"), ("none", 4, "not-comparable"),
     ("errors", 5, "too-many-errors")],
)  # fmt: skip
def test_the_action_gates_says_the_outcome_and_comments(
    repository: Repository, make: str, code: int, outcome: str
) -> None:
    repository.ranked("candidate.run", 1 if make == "fail" else 8)
    policy, place = repository.folder / "leadline.toml", repository.folder / "candidate.run"
    if make == "strict":
        policy.write_text(policy.read_text().replace('on_undecided = "warn"', 'on_undecided = "fail"'))
        place.write_text(re.sub(r"^(q\d+ Q0 )a ", r"\1unknown ", place.read_text(), flags=re.MULTILINE))
    if make == "none":
        (repository.folder / "baseline.json").unlink()
    if make == "errors":
        rows = [
            {"query_id": f"q{i}", **({"doc_ids": ["a"]} if i else {"error": "time-out"})} for i in range(N)
        ]
        place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found, outputs, summary = action(repository, run="candidate.run")
    assert (found, outputs) == (code, {"outcome": outcome})
    comment = (repository.folder / "leadline-gate.md").read_text()
    assert summary == comment
    assert [one["body"] for one in repository.comments()] == [comment]
    assert int(ET.parse(repository.folder / "leadline-gate.xml").getroot().get("tests")) == 1


def test_the_action_updates_its_one_comment(repository: Repository) -> None:
    store = repository.programs / "comments.json"
    store.write_text(json.dumps([{"id": 3, "body": "A reader's own comment on <!-- leadline-gate -->"}]))
    repository.ranked("candidate.run", 8)
    assert action(repository, run="candidate.run")[0] == 0
    repository.ranked("candidate.run", 1)
    assert action(repository, run="candidate.run")[0] == 1
    comments = repository.comments()
    assert [one["body"].split("\n")[0] for one in comments] == [
        "A reader's own comment on <!-- leadline-gate -->",
        "<!-- leadline-gate -->",
    ]
    assert "### fail: worse by more than .05" in comments[1]["body"]


def test_the_action_comments_only_where_it_is_wanted(repository: Repository) -> None:
    repository.ranked("candidate.run", 8)
    assert action(repository, run="candidate.run", comment="false")[0] == 0
    assert action(repository, event="push", run="candidate.run")[0] == 0
    assert repository.comments() == []
    # `comment` is true where nothing is said.
    assert action(repository, run="candidate.run")[0] == 0
    assert len(repository.comments()) == 1


def test_wrong_use_of_the_action_leaves_no_older_verdict(repository: Repository) -> None:
    repository.ranked("candidate.run", 8)
    assert action(repository, run="candidate.run")[0] == 0
    before = repository.comments()
    code, outputs, summary = action(repository, run="absent.run")
    assert (code, outputs, summary) == (2, {}, "")
    assert not (repository.folder / "leadline-gate.json").exists()
    assert repository.comments() == before


def test_names_with_spaces_and_another_policy(repository: Repository) -> None:
    repository.ranked("the new; $(touch made).run", 8)
    (repository.folder / "leadline.toml").rename(repository.folder / "my rules.toml")
    code, outputs, _ = action(repository, run="the new; $(touch made).run", config="my rules.toml")
    assert (code, outputs) == (0, {"outcome": "pass"})
    assert not (repository.folder / "made").exists()


def block(after: str, kind: str = "yaml") -> str:
    """The first block of the docs' page after a heading."""
    return re.search(rf"^## {after}\n.*?^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]


def test_the_docs_use_the_action_as_it_is() -> None:
    workflow = yaml.safe_load(block("GitHub"))
    # Without the repository there is no policy, and without the right there is no comment.
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    steps = workflow["jobs"]["gate"]["steps"]
    assert steps[0]["uses"].startswith("actions/checkout@")
    (used,) = [step for step in steps if step.get("uses", "").startswith("leadline/leadline@")]
    assert set(used["with"]) <= set(ACTION["inputs"])
    needed = {name for name, one in ACTION["inputs"].items() if one.get("required")}
    assert needed <= set(used["with"])
    assert (ACTION["runs"]["using"], ACTION["inputs"]["run"]["required"]) == ("composite", True)
    # Anything of the page and the action that a reader may rely on.
    assert all(outcome in ACTION["outputs"]["outcome"]["description"] for outcome in
               ("pass", "fail", "judge-first", "too-few-queries", "not-comparable", "too-many-errors"))  # fmt: skip


@pytest.mark.parametrize(("make", "code"), [("pass", 0), ("fail", 1), ("none", 4)])
def test_the_gitlab_job_of_the_docs(repository: Repository, make: str, code: int) -> None:
    (job,) = yaml.safe_load(block("GitLab")).values()
    repository.ranked("made.run", 1 if make == "fail" else 8)
    (repository.folder / "make_run.py").write_text("print(open('made.run').read(), end='')\n")
    if make == "none":
        (repository.folder / "baseline.json").unlink()
    # The runner joins the lines of a script and stops at the first that fails.
    done = repository.run("\n".join(job["script"]) + "\n")
    assert done.returncode == code, done.stderr
    assert (repository.programs / "pip.txt").read_text() == "install leadline\n"
    artifacts = job["artifacts"]
    # Uploaded also where the gate fails, and all there.
    assert artifacts["when"] == "always"
    for path in artifacts["paths"]:
        assert (repository.folder / path).read_text().startswith("<!-- leadline-gate -->\n")
    root = ET.parse(repository.folder / artifacts["reports"]["junit"]).getroot()
    assert (root.tag, root.get("tests")) == ("testsuites", "1")
