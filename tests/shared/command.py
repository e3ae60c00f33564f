"""The command as a person calls it, in this process: what it printed, and the code it ended with."""

import pytest

from leadline.cli.main import run


def leadline(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code, what was printed, and what was said on standard error."""
    code = exit_code(*arguments)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def exit_code(*arguments: str) -> int:
    """The exit code alone."""
    with pytest.raises(SystemExit) as ended:
        run(list(arguments))
    return int(ended.value.code or 0)
