"""`python -m leadline`: the same as the command `leadline`."""

from leadline.cli.main import run

if __name__ == "__main__":
    run()
