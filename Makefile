# Every target sets itself up from a fresh clone: Python 3.11 or newer and make are all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check -q
LOCKED := $(PIP) install --no-deps --require-hashes
# Importing without cached bytecode costs two to four times as much.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-night test-clients test-clients-newest test-frameworks test-harbor test-model measure-clients measure-frameworks image release check check-tests format lock photos docs pictures bench clean

# Every worker collects all tests; servers, containers and clients keep one more than there are cores waiting.
SHARED := -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --maxprocesses 5 --dist loadgroup --no-loadscope-reorder
# What `make test` leaves to `make test-all`, and both to `make test-night`, by marker.
REST := docker or browser or office or latex or node or clients or postgres or ray or torch or speech or kills or seeds or slow
NIGHT := night or frameworks or harbor or model

help:  ## Show what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.run  ## See it work: score cards in the terminal
	@$(BIN)/m3bench demo

test: $(VENV)/.dev  ## Checks and tests that need nothing but Python: six minutes on two cores (BUDGET=N processor minutes)
	@$(BIN)/python -m tests.session $(if $(BUDGET),--budget $(BUDGET)) $(SHARED) -q -m "not ($(REST) or $(NIGHT))"

test-all: $(VENV)/.all check-tests  ## The other tests, and their types: Docker, browsers, Node, real clients, LibreOffice, LaTeX, PostgreSQL, torch, kills, seeds
	@$(BIN)/python -m pytest $(SHARED) -q -m "($(REST)) and not ($(NIGHT))"

test-night: $(VENV)/.all  ## What takes hours: all kills, seeds, schedules and examples, frameworks, Harbor, a real model
	@M3BENCH_FULL=1 M3BENCH_KILLS=1000 M3BENCH_FAULT_SCHEDULES=10000 M3BENCH_PRESSES=60 M3BENCH_EXAMPLES=all \
		$(BIN)/python -m pytest $(SHARED) -q -rs -m "$(NIGHT) or kills or seeds or hypothesis"

test-clients: $(VENV)/.all  ## Real clients play a task: pinned versions from npm, with a scripted model
	@$(BIN)/python -m pytest -q -m clients tests/clients/real

test-clients-newest: $(VENV)/.all  ## The newest version of each client plays eight tasks; the table is build/clients-newest.md (ONLY="codex gemini" for some)
	@$(BIN)/python -m tests.clients.real.newest $(ONLY)

test-frameworks: $(VENV)/.all  ## Frameworks for agents play a task, each in an environment of its own (not in test-all)
	@$(BIN)/python -m pytest -q -rs tests/clients/frameworks

test-harbor: $(VENV)/.dev  ## Harbor plays exported tasks in containers, in an environment of its own (not in test-all)
	@$(BIN)/python -m pytest -q -rs -m harbor tests/harbor

test-model: $(VENV)/.dev  ## A real language model of 130 MB from PyPI plays, in an environment of its own (not in test-all)
	@$(BIN)/python -m pytest -q -rs -m model tests/server/lab/headless/small_model

measure-clients: $(VENV)/.all  ## Measure the real clients anew and write the documentation from it
	@$(BIN)/python -m tests.clients.real.measure

measure-frameworks: $(VENV)/.all  ## Measure the frameworks anew (ONLY="autogen strands" for some) and write the documentation
	@$(BIN)/python -m tests.clients.frameworks.measure $(ONLY)

image: $(VENV)/.run  ## Build the Docker images (BASE=IMAGE to start from another one)
	@$(BIN)/m3bench image build $(if $(BASE),--base $(BASE))

release: $(VENV)/.run  ## Make the files of a release from the last commit, into dist/ (images too where an engine answers)
	@$(BIN)/python docs/release.py

check: $(VENV)/.dev  ## Lint, format, types, imports and licences
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python docs/licences.py --check

check-tests: $(VENV)/.all  ## Types of the tests: a minute, so `make test` leaves it to `make test-all`
	@$(BIN)/mypy tests

format: $(VENV)/.dev  ## Put the code in shape
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

# Versions stay as they are unless UPGRADE=1. Of a file, only what the one before does not always have is written.
COMPILE = $(VENV)/lock/bin/uv pip compile -q --universal --generate-hashes --no-header --no-annotate \
	--python-version 3.11 $(if $(UPGRADE),--upgrade)
WITHOUT = $$(sed -n 's/^\([[:alnum:]._-]*\)==[^ ;]* \\$$/--no-emit-package \1/p' $(1))

lock: $(VENV)/lock/bin/uv  ## Write the lock files anew: every version, with the hashes of its files
	@echo 'setuptools>=77' | $(COMPILE) pyproject.toml - -o locks/run.txt
	@$(COMPILE) --extra dev -c locks/run.txt $(call WITHOUT,locks/run.txt) pyproject.toml -o locks/dev.txt
	@$(COMPILE) --extra docs -c locks/run.txt -c locks/dev.txt $(call WITHOUT,locks/run.txt) pyproject.toml -o locks/docs.txt
	@echo torch > $(VENV)/lock/excludes
	@$(COMPILE) --extra dev-all --excludes $(VENV)/lock/excludes -c locks/run.txt -c locks/dev.txt -c locks/docs.txt \
		$(call WITHOUT,locks/run.txt locks/dev.txt locks/docs.txt) pyproject.toml -o locks/all.txt
	@awk '/^[^ ]/ {driver = /^psycopg/} driver' locks/all.txt > docker/driver.txt

$(VENV)/lock/bin/uv: | $(BIN)/python
	@$(PYTHON) -m venv $(VENV)/lock
	@$(VENV)/lock/bin/pip --disable-pip-version-check -q install uv==0.13.7

photos: $(VENV)/.run  ## Fetch the photographs of the set `photos` from the packages that bring them (90 MB, once)
	@$(BIN)/m3bench tasks fetch

docs: $(VENV)/.docs  ## Build the documentation as a site in build/docs; links that lead nowhere fail
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "Open build/docs/index.html"

pictures: $(VENV)/.run  ## Draw every picture of the README and the docs anew, from real runs
	@for script in pictures card_picture demo_picture screen_pictures; do $(BIN)/python docs/$$script.py || exit 1; done

bench: $(VENV)/.all  ## Measure, side by side (takes minutes)
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:  ## Remove what the targets made
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache tests/clients/node_modules

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "m3bench needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	@echo "Making $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

# Everything comes from lock files with hashes (`make lock` writes them).
$(VENV)/.run: pyproject.toml locks/run.txt | $(BIN)/python
	@echo "Installing m3bench ..."
	@$(LOCKED) -r locks/run.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

# mypy reads the packages under their import names through links.
$(VENV)/.dev: $(VENV)/.run locks/dev.txt
	@echo "Installing the development tools ..."
	@$(LOCKED) -r locks/dev.txt
	@mkdir -p $(VENV)/tree/m3bench
	@for name in server proxy tasks sandboxes; do ln -sfn ../../../$$name $(VENV)/tree/m3bench/$$name; done
	@touch $@

$(VENV)/.docs: $(VENV)/.run locks/docs.txt
	@echo "Installing what builds the documentation (105 MB) ..."
	@$(LOCKED) -r locks/docs.txt
	@touch $@

# torch has a build for each kind of machine, and no list of hashes covers all of them.
$(VENV)/.all: $(VENV)/.dev $(VENV)/.docs locks/all.txt
	@echo "Installing what test-all needs (Node, a browser's driver and torch: a gigabyte, once) ..."
	@$(LOCKED) -r locks/all.txt
	@$(PIP) install torch==2.13.0
	@touch $@
