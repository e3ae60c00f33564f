"""`python -m fuzz.worker TARGET PROGRAM OPTIONS… FOLDERS…`: libFuzzer over one target; findings do not end it."""

import hashlib
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import atheris

SHARED_MEMORY = Path("/dev/shm")


def main() -> None:
    """Load the target with its coverage counted, and hand it to the fuzzer."""
    name = sys.argv[1]
    # What a reader imports while it runs is counted too, so the hook stays for as long as the process.
    hook = atheris.instrument_imports(include=["leadline"])
    hook.__enter__()
    from fuzz.campaign import WORK
    from fuzz.case import attempt
    from fuzz.readers import known
    from fuzz.seeds import seeds

    target = known(name)
    warnings.simplefilter("error")
    folder = Path(
        tempfile.mkdtemp(prefix="leadline-fuzz-", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None)
    )
    found = WORK / "findings" / name
    found.mkdir(parents=True, exist_ok=True)
    known_keys: set[str] = set()

    def one_input(data: bytes) -> None:
        finding = attempt(target, data, folder)
        if finding is None:
            return
        key = hashlib.sha256(finding.key.encode()).hexdigest()[:12]
        if key not in known_keys:
            known_keys.add(key)
            (found / f"{key}.bin").write_bytes(data)
            (found / f"{key}.txt").write_text(f"{finding.key}\n\n{finding.story}", errors="backslashreplace")
            print(f"FINDING {finding.key}", file=sys.stderr, flush=True)

    for seed in seeds(target):
        one_input(seed)
    atheris.Setup(sys.argv[2:], one_input)
    try:
        atheris.Fuzz()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
