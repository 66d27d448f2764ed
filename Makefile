# One command each. `make` alone tests and checks; `make help` lists them.
# The first use creates .venv and installs into it; after that nothing here needs a network.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
BIN := $(if $(filter Windows_NT,$(OS)),.venv/Scripts,.venv/bin)
SMOKE := .cache/smoke
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONUTF8 := 1
PYTEST_FLAGS ?= -n auto
PROFILE ?= small

.PHONY: all help install run test check smoke smoke-real bench interop peers format clean warmup
.DELETE_ON_ERROR:

all: test check

help: ## list the commands
	@grep -hE '^[a-z0-9%-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9%-]+):.*## /\1\t/' | expand -t 22

install: .venv/installed ## create .venv and install fwsvm there, editable, with all extras

.venv/pip:
	@test -n "$(PYTHON)" || { echo "fwsvm needs Python 3.11 or newer; make PYTHON=/path/to/python3 names one" >&2; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

.venv/installed: .venv/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[plots,distributed,sklearn]" --group dev
	@touch $@

run: .venv/installed ## a small experiment on data that ships with fwsvm, offline
	$(BIN)/fwsvm grid configs/quickstart.yaml

test: .venv/installed ## run all tests
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

check: .venv/installed ## format, lint, types, and the order of imports
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

smoke: .venv/installed ## the command line on shipped data, offline, in seconds
	rm -rf $(SMOKE) && mkdir -p $(SMOKE)
	$(BIN)/fwsvm --version
	$(BIN)/fwsvm methods
	$(BIN)/fwsvm train --method swap-2o wdbc --model $(SMOKE)/wdbc.model
	$(BIN)/fwsvm predict $(SMOKE)/wdbc.model wdbc $(SMOKE)/wdbc.labels
	$(BIN)/fwsvm train --method avsf wdbc --model $(SMOKE)/linear.model --json
	$(BIN)/fwsvm grid configs/quickstart.yaml --profile smoke --out $(SMOKE)/quickstart
	$(BIN)/fwsvm table $(SMOKE)/quickstart

smoke-real: .venv/installed ## train on real files in the folder that FWSVM_MIRROR names
	rm -rf $(SMOKE) && mkdir -p $(SMOKE)
	$(BIN)/fwsvm train --method swap-2o --offline --model $(SMOKE)/a1a.model a1a
	$(BIN)/fwsvm predict $(SMOKE)/a1a.model "$(FWSVM_MIRROR)/a1a.t" $(SMOKE)/a1a.labels
	$(BIN)/fwsvm train --method avsf --offline w1a

interop: .venv/interop ## install LIBSVM and LIBLINEAR (compiled from source on Linux), for more tests
peers: .venv/peers ## install all that fwsvm is compared with
.venv/interop .venv/peers: .venv/installed
	$(BIN)/python -m pip install --quiet --group $(@F)
	@touch $@

reproduce-%: configs/%.yaml .venv/installed ## run configs/*.yaml at a size, PROFILE=smoke, small or paper, and draw its tables
	$(BIN)/fwsvm grid $< --profile $(PROFILE) --out results/$*-$(PROFILE) || test $$? -eq 3
	$(BIN)/fwsvm table results/$*-$(PROFILE)

bench: .venv/installed ## compare speeds with other packages, side by side; figures go to results/bench/
	mkdir -p results/bench
	$(BIN)/python benchmarks/parse.py $(FWSVM_MIRROR) --csv results/bench/parse.csv
	$(BIN)/python benchmarks/training.py --csv results/bench/training.csv
	$(BIN)/python benchmarks/linear.py steps --csv results/bench/linear-steps.csv
	$(BIN)/python benchmarks/linear.py gap --csv results/bench/linear-gap.csv
	$(BIN)/python benchmarks/linear.py factor --csv results/bench/linear-factor.csv

format: .venv/installed ## format the sources and mend what can be mended
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

warmup: .venv/installed ## compile everything now, so that no first run has to
	$(BIN)/fwsvm warmup

clean: ## remove what tools left behind, and all compiled code
	@test ! -e .venv/installed || $(BIN)/python -c \
		"import shutil; from fwsvm.folders import numba_folder; shutil.rmtree(numba_folder(), ignore_errors=True)"
	rm -rf .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache dist
	find fwsvm tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
