"""Killed at any moment: no stored reply is lost, and none is paid twice that a server could have known again."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from models.server import counting

SCRIPT = Path(__file__).with_name("killed.py")


def killed(folder: Path, kills: int, *, honours: bool, seed: int) -> dict[str, Any]:
    """What the killing program found, with the number of billed replies and of those billed again."""
    with counting(folder, honours=honours) as server:
        command = [sys.executable, str(SCRIPT), server.url, str(folder), str(kills), str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        paid = server.paid()
    told |= {"paid": len(paid), "repeats": len(paid) - len(Counter(paid))}
    assert told["faults"] == []
    assert told["stored"] == told["calls"] == len(Counter(paid))
    assert told["still_open"] == 0
    if honours:
        assert told["paid"] == told["calls"], told
    assert told["repeats"] <= told["on_their_way"], told
    return told


@pytest.mark.parametrize("honours", [True, False], ids=["honours Idempotency-Key", "ignores it"])
def test_killed_at_random_moments(tmp_path: Path, honours: bool) -> None:
    """The short form: 10 kills."""
    told = killed(tmp_path, 10, honours=honours, seed=1)
    # Something was on its way when it was killed: there was something to lose.
    assert told["on_their_way"] > 0


@pytest.mark.prove
@pytest.mark.skipif(os.environ.get("LEADLINE_PROVE") != "1", reason="the long form: make prove")
@pytest.mark.parametrize("honours", [True, False], ids=["honours Idempotency-Key", "ignores it"])
def test_killed_hundreds_of_times(tmp_path: Path, honours: bool) -> None:
    told = killed(tmp_path, 300, honours=honours, seed=2)
    print(f"\n{'honours' if honours else 'ignores'} Idempotency-Key: {told}")
    assert told["kills"] == 300
