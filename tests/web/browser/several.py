"""One process that serves many books apart, each under a path of its own: `python several.py FOLDER PORT COUNT`."""

import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from leadline.web.app import create_app
from leadline.web.queue import Plan
from leadline.web.setup import Files, Setup, read_files


def main(folder: Path, port: int, count: int) -> None:
    """Serve `count` books of ana's over the same files."""
    read = read_files(
        Files(
            str(folder / "pairs.jsonl"),
            str(folder / "documents.jsonl"),
            str(folder / "queries.jsonl"),
            str(folder / "guideline.md"),
        )
    )
    apps = [
        create_app(
            Setup(
                read.pairs,
                read.documents,
                read.queries,
                read.rules,
                Plan(repeats=0, overlap=1, people=3),
                book=str(folder / f"book-{number}.db"),
                name="ana",
                ranks=read.ranks,
            )
        )
        for number in range(count)
    ]
    routes = [Mount(f"/{number}", app=app) for number, app in enumerate(apps)]
    uvicorn.run(Starlette(routes=routes), port=port, log_level="warning")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
