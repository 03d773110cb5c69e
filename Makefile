# perf-gate: `make demo` runs the main job, `make test` passes the tests; both set up everything they need.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# Debian's own interpreter first: it lies at a world-readable path, which the sandbox needs.
PYTHON ?= $(shell for p in /usr/bin/python3 /usr/bin/python3.12 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$p && break; done)
ONCE ?=
SLOW ?=

.PHONY: help demo test check system clean bench
help:
	@echo "make demo            run the main job on this machine (ONCE=1 to exit after the verdict, SLOW=normalize for a regression)"
	@echo "make test            format, lint, types and tests"
	@echo "make bench           ten plain and ten slow demos, with what each measured (half an hour)"
	@echo "make .venv           the environment with perf-gate in it"
	@echo "make clean           remove what these targets made"

# System packages: installed where we are root, else named in one line.
system:
	@PYTHON="$(PYTHON)" bash demo/system-packages.sh

.venv: pyproject.toml constraints.txt | system
	@$(PYTHON) -m venv --clear .venv
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	@.venv/bin/uv pip install --quiet --python .venv/bin/python --constraint constraints.txt --editable '.[dev]'
	@touch .venv

# Iris pins much, so it lives in an environment of its own.
.iris: demo/iris-constraints.txt | .venv
	@.venv/bin/uv venv --quiet --clear --python $(PYTHON) .iris
	@.venv/bin/uv pip install --quiet --python .iris/bin/python --prerelease if-necessary-or-explicit --requirement demo/iris-constraints.txt
	@touch .iris

demo: .venv .iris
	@.venv/bin/python -m demo $(if $(ONCE),--once) $(if $(SLOW),--slow $(SLOW))

check: .venv
	@.venv/bin/ruff format --check --quiet .
	@.venv/bin/ruff check --quiet .
	@.venv/bin/mypy

bench: .venv .iris
	@.venv/bin/python -m bench.demos

test: .venv .iris check
	@.venv/bin/python -m pytest

clean:
	rm -rf .venv .iris .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
