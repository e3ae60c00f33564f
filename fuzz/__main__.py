"""`python -m fuzz [TARGET …] --seconds 300`: fuzz readers one after another, then keep the inputs that reach something new."""

import argparse
import sys
from importlib.util import find_spec

from fuzz.campaign import CORPUS, fuzz, shrink
from fuzz.readers import BY_NAME, known


def main() -> int:
    """Run what was asked; 1 where there was a finding."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"all by default: {', '.join(BY_NAME)}")
    parser.add_argument("--seconds", type=int, default=300, help="processor seconds for each target (300)")
    parser.add_argument("--merge-only", action="store_true", help="only make the committed corpus small")
    asked = parser.parse_args()
    targets = [known(name) for name in asked.targets or BY_NAME]
    if find_spec("atheris") is None:
        print('fuzzing needs an optional part: pip install "leadline[fuzz]"', file=sys.stderr)
        return 2
    found = 0
    for target in targets:
        if not asked.merge_only:
            found += fuzz(target, asked.seconds)
        shrink(target)
    size = sum(file.stat().st_size for file in CORPUS.rglob("*") if file.is_file())
    print(f"corpus: {size:,} bytes; kinds of findings: {found}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
