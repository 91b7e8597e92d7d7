# Two commands on a fresh machine: `make demo` and `make test`. Each sets up what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2
PAPER ?=
SLOWEST := --durations 30 --durations-min 3
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help setup demo test test-fast nightly lint format docs package paper-quick paper clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/ -/'

setup: $(STAMP)  ## make the virtual environment

# torch goes first: asked for loosely, it would bring gigabytes of GPU packages along.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch
	$(PIP) --editable '.[dev]'
	@touch $(STAMP)

demo: $(STAMP)  ## impute a small survey and show what happened
	$(BIN)/diffjoint demo

test: $(STAMP)  ## run all tests, doctests included
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal $(SLOWEST)  # a process for each core

test-fast: $(STAMP)  ## run the tests that take less than a second each, for use while editing
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal -m "not slow"

nightly: $(STAMP)  ## faults at every step, altered and random input, load: a night; writes benchmarks/results/reliability.md
	$(PIP) --editable '.[fuzz]'
	$(BIN)/python -m tests.faults
	$(BIN)/python -m tests.fuzz
	$(BIN)/python -m tests.load

lint: $(STAMP)  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

paper-quick: $(STAMP)  ## a small version of every table of the paper, in minutes
	$(BIN)/python -m benchmarks.paper --quick --jobs 2

paper: $(STAMP)  ## every table of the paper: many hours, the last for days; goes on where it stopped
	$(PIP) --editable '.[cacti]'
	$(BIN)/python -m benchmarks.paper --jobs $(JOBS) $(PAPER)

docs: $(STAMP)  ## build the site in build/site, warnings are errors
	$(BIN)/mkdocs build --quiet --strict

package: $(STAMP)  ## build the wheel and the source distribution in dist/, and try both
	$(BIN)/python -m hatchling build -d dist
	$(BIN)/python -m pytest tests/test_package.py

format: $(STAMP)  ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove what the other targets made
	rm -rf $(VENV) demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
