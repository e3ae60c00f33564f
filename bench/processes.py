"""Whole processes timed from outside: wall time, processor time, peak memory, and what they printed."""

import os
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """One finished process: wall and processor seconds, peak memory in bytes, its standard output."""

    wall: float
    cpu: float
    peak: int
    output: str


@dataclass(frozen=True)
class Row:
    """A program on one input: its runs, and the medians of them."""

    name: str
    runs: tuple[Run, ...]

    @property
    def wall(self) -> float:
        """Median wall seconds."""
        return statistics.median(run.wall for run in self.runs)

    @property
    def cpu(self) -> float:
        """Median processor seconds (user + system)."""
        return statistics.median(run.cpu for run in self.runs)

    @property
    def peak(self) -> float:
        """Median peak memory in MB."""
        return statistics.median(run.peak for run in self.runs) / 1e6

    @property
    def means(self) -> list[float]:
        """The numbers that the program printed last on each line."""
        return [
            float(line.split()[-1]) for line in self.runs[0].output.splitlines() if re.search(r"\d", line)
        ]


def one(command: list[str]) -> Run:
    """Run a command once and account for it.

    Byte code is written as an installed package has it, whatever the environment says.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output.decode())


def side_by_side(programs: dict[str, list[str]], rounds: int = 5) -> list[Row]:
    """Each program once to warm up, then all in turn, `rounds` times."""
    runs: dict[str, list[Run]] = {name: [] for name in programs}
    for command in programs.values():
        one(command)
    for number in range(rounds):
        for name, command in programs.items():
            print(f"  round {number + 1} of {rounds}: {name}", file=sys.stderr)
            runs[name].append(one(command))
    return [Row(name, tuple(done)) for name, done in runs.items()]
