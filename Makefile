# Every target sets up what it needs: a machine with python3, pip and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --constraint constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo check test test-all bench bench-server lint format clean

help:
	@echo "make demo      train a small model, log it, show the run"
	@echo "make check     format, lint, types, import contracts, fast tests"
	@echo "make test      check, plus tests with real processes and frameworks (what CI runs)"
	@echo "make test-all  test, plus long runs and other Python versions"
	@echo "make bench     measure against other trackers, print the ratios"
	@echo "make bench-server  the same for the server and its store"

$(VENV)/.base: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(PIP) --group dev
	@touch $@

$(VENV)/.frameworks: $(VENV)/.dev
	$(PIP) --group frameworks
	@touch $@

demo: $(VENV)/.base
	$(PIP) numpy
	$(BIN)/strobe demo

lint: $(VENV)/.dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

check: lint
	$(BIN)/python -m pytest -n 2 -m "not slow and not long and not frameworks"

test: lint $(VENV)/.frameworks
	$(BIN)/python -m pytest -n 2 -m "not long"

test-all: test
	$(BIN)/python -m pytest -m long
	$(BIN)/python tests/matrix.py

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

bench-server: $(VENV)/.dev
	$(PIP) duckdb
	$(BIN)/python benchmarks/server.py

clean:
	rm -rf $(VENV) .bench build dist
