# perf-gate: `make demo` runs the main job, `make test` passes the tests; both set up everything they need.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Debian's own interpreter first: it lies at a world-readable path, which the sandbox needs.
PYTHON ?= $(shell for p in /usr/bin/python3 /usr/bin/python3.12 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$p && break; done)
ONCE ?=
SLOW ?=

.PHONY: help demo test check bench system system-tests system-bench clean .venv .iris
help:
	@echo "make demo            run the main job on this machine (ONCE=1 to exit after the verdict, SLOW=normalize for a regression)"
	@echo "make test            format, lint, types and tests"
	@echo "make bench           speed beside Probot, both databases, kills and storms; ten plain and ten slow demos (an hour and a half)"
	@echo "make .venv           the environment with perf-gate in it"
	@echo "make clean           remove what these targets made"

# System packages: installed where we are root, else named in one line.
system:
	@PYTHON="$(PYTHON)" bash demo/system-packages.sh

# The tests' own: a PostgreSQL server, which they start in a folder of theirs, and a Chromium, which reads the pages.
system-tests:
	@PYTHON="$(PYTHON)" FOR_TESTS=1 bash demo/system-packages.sh

# The peer of the speed bench, and what presses on both.
system-bench:
	@PYTHON="$(PYTHON)" FOR_BENCH=1 bash demo/system-packages.sh

# The stamps are written last, so that an interrupted installation is begun again.
.venv: .venv/.complete
.venv/.complete: pyproject.toml constraints.txt | system
	@$(PYTHON) -m venv --clear .venv
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	@.venv/bin/uv pip install --quiet --python .venv/bin/python --constraint constraints.txt --editable '.[dev]'
	@touch $@

# Iris pins much, so it lives in an environment of its own.
.iris: .iris/.complete
.iris/.complete: demo/iris-constraints.txt | .venv/.complete
	@.venv/bin/uv venv --quiet --clear --python $(PYTHON) .iris
	@.venv/bin/uv pip install --quiet --python .iris/bin/python --prerelease if-necessary-or-explicit --requirement demo/iris-constraints.txt
	@touch $@

demo: .venv/.complete .iris/.complete
	@.venv/bin/python -m demo $(if $(ONCE),--once) $(if $(SLOW),--slow $(SLOW))

check: .venv/.complete
	@.venv/bin/ruff format --check --quiet .
	@.venv/bin/ruff check --quiet .
	@.venv/bin/mypy

# Many tests start many children, and uvloop forks: what a process holds is then copied, page table by page table. Large
# pages make that cheap, and so do processes that hold little: the pure rooms and the conversations have their own.
PURE = tests/assessment tests/verdict tests/gating tests/conversation
APART = $(PURE) tests/sandbox tests/conversations
# Begun first, since their few tests take as long as hundreds of others and mostly wait.
LONGEST = tests/reliability tests/end_to_end tests/iris
# Whoever uses these says how many processes.
IN_PARALLEL = --dist loadfile --numprocesses
FORKING = GLIBC_TUNABLES=glibc.malloc.hugetlb=1 PYTHONMALLOC=malloc MALLOC_ARENA_MAX=1 OPENBLAS_NUM_THREADS=1 \
	.venv/bin/python -m pytest $(IN_PARALLEL)

# The sandbox by itself: its tests use up what one user may start, which older kernels count across all cages.
test: .venv/.complete .iris/.complete system-tests check
	@.venv/bin/python -m pytest tests/sandbox
	@.venv/bin/python -m pytest $(PURE) $(IN_PARALLEL) auto
	@$(FORKING) auto tests/conversations
	@$(FORKING) $(shell expr $$(nproc) + 1) --no-loadscope-reorder $(LONGEST) tests $(APART:%=--ignore %)

bench: .venv/.complete .iris/.complete system-tests system-bench
	@.venv/bin/python -m bench.speed
	@.venv/bin/python -m bench.engine
	@.venv/bin/python -m bench.conversation
	@.venv/bin/python -m bench.reliability
	@.venv/bin/python -m bench.ferries
	@.venv/bin/python -m bench.demos

clean:
	rm -rf .venv .iris .mypy_cache .ruff_cache .pytest_cache .hypothesis .bench *.egg-info
