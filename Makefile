# `make help` lists the commands. Everything lives in .venv and .ki; nothing else is touched.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
KI := $(BIN)/ki
export KI_DB ?= sqlite:///.ki/ki.db

SIZES ?= 8000,100000,1000000
DATABASES ?= sqlite,postgresql
RECORD := fused-moe tokens=8192 hidden=2048 intermediate=768 experts=64 k=8 bf16 pass:backward

.PHONY: help run answer setup dev kernels test test-fast test-slow check format bench schemas docs lock clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: answer ## set up, load the starter evidence, answer the workload of record, serve the site
	@$(KI) serve

answer: setup ## the same without serving the site
	@$(KI) catalog rebuild --if-stale
	@$(KI) import starter
	@$(KI) import records
	@$(KI) resolve $(RECORD)

setup: $(VENV)/.core ## install KernelIndex into .venv (no torch)

dev: $(VENV)/.dev ## install what tests and checks need

kernels: dev ## torch, triton and ray too, for tests of kernels and runner (gigabytes where pip has no CPU build)
	@$(BIN)/python -m pip --disable-pip-version-check --quiet install -r requirements-kernels.txt

$(VENV)/.core: pyproject.toml scripts/setup.sh scripts/apt.sh requirements.lock
	@sh scripts/setup.sh core

$(VENV)/.dev: pyproject.toml scripts/setup.sh scripts/apt.sh requirements-dev.lock
	@sh scripts/setup.sh dev

test: COVERAGE := --cov --cov-report=
test: test-fast test-slow ## all tests, with coverage for `make check`

test-fast: dev ## the fast suite, under a minute
	@$(BIN)/python -m pytest -n 2 --dist loadfile -p no:schemathesis -m "not slow and not postgresql and not browser" $(COVERAGE)

test-slow: dev ## the second stage: PostgreSQL, browser, fuzzing and crash tests
	@sh scripts/packages.sh postgresql chromium libatomic1 fonts-liberation
	@$(BIN)/python -m pytest -n 2 --dist loadgroup -m "slow or postgresql or browser" $(if $(COVERAGE),$(COVERAGE) --cov-append)

check: dev ## format, lint, types, import contract, size budget, coverage ratchet
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python scripts/coverage_ratchet.py

format: dev ## rewrite files in the house format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: dev ## measure and write docs/performance.md (SIZES=8000,100000,1000000 DATABASES=sqlite,postgresql)
	@sh scripts/packages.sh postgresql wrk
	@$(BIN)/python -m benchmarks.run --sizes $(SIZES) --databases $(DATABASES)

schemas: dev ## write schemas/ and the generated reference pages again
	@$(BIN)/python scripts/generate.py

lock: dev ## resolve the development lock files again
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header --extra site pyproject.toml -o requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header --extra all --group dev pyproject.toml -o requirements-dev.lock

clean: ## remove .venv, .ki and caches
	@rm -rf $(VENV) .ki .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage
