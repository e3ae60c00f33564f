"""A campaign: one target in a process of its own, started again where it dies, and its corpus made small afterwards."""

import json
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from fuzz.readers import Target
from fuzz.seeds import seeds, words

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "fuzz" / "corpus"
WORK = ROOT / ".fuzz"
"""Inputs, logs and findings of the campaigns on this machine; not committed."""
LONGEST = 1 << 16
"""Bytes of an input at most."""
BUDGET = 48 << 10
"""Bytes of the committed corpus of one target at most; the smallest inputs are kept."""
LIMITS = ("-timeout=30", "-rss_limit_mb=3000", f"-max_len={LONGEST}")


def fuzz(target: Target, seconds: int) -> int:
    """Fuzz one target for so many processor seconds; how many kinds of findings there were, which stand in `.fuzz/findings`.

    Processor seconds, as the clock of a machine that others use says little about how much was tried; ten times as long by the
    clock is the end of it.
    A process that dies (a crash outside Python, a hang of 30 s, 3 GB) leaves its input there too, and another goes on.
    """
    folder, found = WORK / "inputs" / target.name, WORK / "findings" / target.name
    for place in (folder, found, WORK / "logs", CORPUS / target.name):
        place.mkdir(parents=True, exist_ok=True)
    for file in found.iterdir():
        # What went wrong before is tried again.
        if file.suffix == ".txt":
            file.unlink()
        else:
            file.replace(folder / f"found-{file.name}")
    for number, seed in enumerate(seeds(target)):
        (folder / f"seed-{number}").write_bytes(seed)
    dictionary = WORK / "words.dict"
    dictionary.write_text("".join(f'"{word}"\n' for word in words()), encoding="ascii")
    log, begun, before, deaths, executed = (
        WORK / "logs" / f"{target.name}.log",
        time.monotonic(),
        _processor_seconds(),
        0,
        0,
    )
    with log.open("wb") as out:
        while (
            left := seconds - (_processor_seconds() - before)
        ) > 1 and time.monotonic() - begun < 10 * seconds:
            options = [f"-max_total_time={int(left)}", f"-dict={dictionary}", f"-artifact_prefix={found}/died-",
                       "-print_final_stats=1", *LIMITS]  # fmt: skip
            start = out.tell()
            done = _worker(target, options, [folder, CORPUS / target.name], out)
            executed += _executed(log.read_bytes()[start:])
            deaths += done != 0
    new = [file for file in found.iterdir() if file.suffix != ".txt"]
    reached = re.findall(rb"cov: (\d+) ft: (\d+) corp: (\d+)", log.read_bytes())
    edges, features, inputs = map(int, reached[-1]) if reached else (0, 0, 0)
    row = {"target": target.name, "seconds": round(_processor_seconds() - before), "executions": executed, "edges": edges,
           "features": features, "inputs": inputs, "findings": len(new), "deaths": deaths}  # fmt: skip
    with (WORK / "results.jsonl").open("a", encoding="utf-8") as results:
        results.write(json.dumps(row) + "\n")
    print(json.dumps(row), flush=True)
    return len(new)


def shrink(target: Target) -> None:
    """Keep in the committed corpus only inputs that reach something that no smaller one reaches, within the budget."""
    place, made = CORPUS / target.name, WORK / "merged" / target.name
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    place.mkdir(parents=True, exist_ok=True)
    folders = [made, place, WORK / "inputs" / target.name]
    with (WORK / "logs" / f"{target.name}.merge.log").open("wb") as out:
        done = _worker(target, ["-merge=1", *LIMITS], [one for one in folders if one.is_dir()], out)
    if done != 0:
        print(f"{target.name}: the merge failed; the corpus stays as it is", file=sys.stderr)
        return
    shutil.rmtree(place)
    place.mkdir()
    room = BUDGET
    for file in sorted(made.iterdir(), key=lambda one: (one.stat().st_size, one.name)):
        room -= file.stat().st_size
        if room < 0:
            break
        shutil.copyfile(file, place / file.name[:16])


def _worker(target: Target, options: list[str], folders: list[Path], out: object) -> int:
    # The fuzzer calls itself by the name that it was called by when it merges, so that has to be a program.
    program = WORK / f"{target.name}.sh"
    line = shlex.join([sys.executable, "-m", "fuzz.worker", target.name, str(program)])
    program.write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    command = [str(program), *options, *map(str, folders)]
    return subprocess.run(command, cwd=ROOT, stdout=out, stderr=out, check=False).returncode  # type: ignore[call-overload,no-any-return]


def _processor_seconds() -> float:
    """What the ended processes of this one have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _executed(log: bytes) -> int:
    """How many inputs a process ran: as it says at its end, else the last number it showed."""
    final = re.findall(rb"number_of_executed_units: (\d+)", log) or re.findall(rb"(?m)^#(\d+)", log)
    return int(final[-1]) if final else 0
