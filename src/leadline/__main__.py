"""`python -m leadline`: the same as the command `leadline`."""

from leadline.cli.main import run

run()
