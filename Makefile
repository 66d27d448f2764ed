# One command each. `make` alone tests and checks; `make help` lists them.
# The first use creates .venv and installs into it; after that nothing here needs a network.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11, 2))' 2>/dev/null && echo "$$p" && break; done)
BIN := $(if $(filter Windows_NT,$(OS)),.venv/Scripts,.venv/bin)
SMOKE := .cache/smoke
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONUTF8 := 1
# A file at a time for each process: two that run tests of one file both compile what these need.
PYTEST_FLAGS ?= -n auto --dist loadfile
PROFILE ?= small
BENCH := results/bench

.PHONY: dist all help install hooks docs pictures run test test-all nightly oldest mutants check fuzz kills versions smoke smoke-real bench interop peers format clean warmup
.DELETE_ON_ERROR:
.NOTPARALLEL: # runs that are timed go one after another, whatever -j says

all: test check

help: ## list the commands
	@grep -hE '^[a-z0-9%-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9%-]+):.*## /\1\t/' | expand -t 22

install: .venv/installed ## create .venv and install fwsvm there, editable, with all extras

EXTRAS := plots,distributed,sklearn
# $(call pip,WHAT,ARGUMENTS): say what is installed; pip shows its progress where there is a terminal to show it on
define pip
	@echo "installing $(1) into .venv"
	@$(BIN)/python -m pip install $$(test -t 1 || echo --quiet) $(2)
endef

.venv/pip:
	@test -n "$(PYTHON)" || { echo "fwsvm needs Python 3.11.2 or newer; make PYTHON=/path/to/python3 names one" >&2; exit 2; }
	$(PYTHON) -m venv .venv
	$(call pip,a new pip,--upgrade "pip>=25.1")
	@touch $@

.venv/fwsvm: .venv/pip pyproject.toml
	$(call pip,fwsvm and the packages it needs (numba and pandas are the largest),--editable .)
	@touch $@

.venv/installed: .venv/fwsvm
	$(call pip,what its extras (figures, clusters, scikit-learn) and tests need,--editable ".[$(EXTRAS)]" --group dev)
	@touch $@

run: .venv/fwsvm ## a small experiment on data that ships with fwsvm, offline
	$(BIN)/fwsvm grid configs/quickstart.yaml

test: .venv/installed ## run all tests but the slow ones (minutes)
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

test-all: .venv/installed ## run all tests, those that start processes, browsers and clusters too
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -m ""

# every lower bound of pyproject.toml as the version to install
LOWER_BOUNDS := import tomllib; known = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	every = [known["dependencies"], *known["optional-dependencies"].values()]; \
	print(*sorted({each.split(";")[0].replace(">=", "==") for some in every[:5] for each in some if "fwsvm" not in each}))

oldest: .venv/installed ## put the oldest packages that pyproject.toml allows into .venv
	$(call pip,the oldest packages allowed,$$($(BIN)/python -c '$(LOWER_BOUNDS)'))

nightly: .venv/installed ## run all tests with many more examples, then hostile inputs (an hour)
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -m "" --hypothesis-profile=nightly
	$(MAKE) fuzz

mutants: .venv/mutants ## the share of 200 small faults in the code that tests find (half an hour)
	$(BIN)/python -m tests.mutants

check: .venv/installed ## format, lint, types, and the order of imports
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

hooks: .venv/installed ## have git run the checks before each commit, and look at its subject
	$(BIN)/pre-commit install

fuzz: .venv/installed ## hostile inputs for every reader, thousands each (minutes); INPUTS=N, READERS="svmlight ..."
	$(BIN)/python -m tests.fuzz $(READERS) --inputs $(or $(INPUTS),2000)

kills: .venv/installed ## searches killed at random, KILLS=200 times, against an uninterrupted one (half an hour)
	KILLS=$(or $(KILLS),200) $(BIN)/python -m pytest -m "" tests/experiments/test_kills.py

versions: .venv/installed ## install the wheel into a new environment of each Python from 3.11 on that is here, and train (minutes)
	FWSVM_INSTALL=1 $(BIN)/python -m pytest -rs -m "" -k new_environment tests/test_package.py

smoke: .venv/installed ## the command line on shipped data, offline, in seconds
	rm -rf $(SMOKE) && mkdir -p $(SMOKE)
	$(BIN)/fwsvm --version
	$(BIN)/fwsvm methods
	$(BIN)/fwsvm train --method swap-2o wdbc --model $(SMOKE)/wdbc.model
	$(BIN)/fwsvm predict $(SMOKE)/wdbc.model wdbc $(SMOKE)/wdbc.labels
	$(BIN)/fwsvm train --method avsf wdbc --model $(SMOKE)/linear.model --json
	$(BIN)/fwsvm grid configs/quickstart.yaml --profile smoke --out $(SMOKE)/quickstart
	$(BIN)/fwsvm table $(SMOKE)/quickstart
	$(MAKE) reproduce-avsf reproduce-scs PROFILE=smoke RESULTS=$(SMOKE)

smoke-real: .venv/installed ## train on real files in the folder that FWSVM_MIRROR names
	rm -rf $(SMOKE) && mkdir -p $(SMOKE)
	$(BIN)/fwsvm train --method swap-2o --model $(SMOKE)/a1a.model a1a
	$(BIN)/fwsvm predict $(SMOKE)/a1a.model "$(FWSVM_MIRROR)/a1a.t" $(SMOKE)/a1a.labels
	$(BIN)/fwsvm train --method avsf w1a

interop: .venv/interop ## install LIBSVM and LIBLINEAR (compiled from source on Linux), for more tests
peers: .venv/peers ## install all that fwsvm is compared with
.venv/interop .venv/peers .venv/mutants: .venv/installed
	$(call pip,the packages of the group $(@F),--group $(@F))
	@touch $@

# The papers' results. `runs-NAME` runs configs/NAME.yaml, or what is left of it, into $(RESULTS)/NAME and takes over
# what another folder there holds already; the others draw from these folders and keep what they print in
# $(RESULTS)/PAPER. Data that is not available (exit code 3) leaves its cells `missing` in them.
RESULTS = results/$(PROFILE)
FRANK_WOLFE := web adult 003-single
FOLDERS = $(addprefix $(RESULTS)/,$(FRANK_WOLFE) stand-ins)
AS_RUN := $(FRANK_WOLFE:%=%-as-run) stand-ins-as-run
METHODS_003 := --where method=cvm --where method=fw --where method=mfw
AS_PRINTED_AND_SWAP := $(FRANK_WOLFE) swap
AS_RUN_AND_SWAP := $(AS_RUN) swap-as-run
OF_ONE_KIND = $(if $(filter %-as-run,$*),$(AS_RUN_AND_SWAP),$(AS_PRINTED_AND_SWAP))
LENDERS = $(addprefix --reuse ,$(wildcard $(addprefix $(RESULTS)/,$(filter-out $*,$(OF_ONE_KIND)))))
# Runs as the authors made theirs, where they have been made.
RAN_003 = $(wildcard $(addprefix $(RESULTS)/,$(AS_RUN) 003-quadratic-as-run 003-c-sweep-as-run))
RAN_000 = $(wildcard $(addprefix $(RESULTS)/,swap-as-run stand-ins-as-run 003-quadratic-as-run))

runs-%: configs/%.yaml .venv/installed
	$(BIN)/fwsvm grid $< --profile $(PROFILE) --out $(RESULTS)/$* $(if $(filter $*,$(AS_PRINTED_AND_SWAP) $(AS_RUN_AND_SWAP)),$(LENDERS)) \
		|| test $$? -eq 3

# $(call keep,COMMAND AND ARGUMENTS,FILE): print it, and keep it as Markdown and as CSV
define keep
	$(BIN)/fwsvm $(1)
	@$(BIN)/fwsvm $(1) --format markdown --out $(RESULTS)/$(2).md
	@$(BIN)/fwsvm $(1) --format csv --out $(RESULTS)/$(2).csv
endef

reproduce-table2: $(FRANK_WOLFE:%=runs-%) runs-stand-ins ## Frandi et al. 2013: accuracy; PROFILE=smoke, small (the default) or paper
	$(call keep,table $(FOLDERS) --layout 003-2,003/table2)
reproduce-table3: $(FRANK_WOLFE:%=runs-%) runs-stand-ins ## Frandi et al. 2013: training time
	$(call keep,table $(FOLDERS) --layout 003-3,003/table3)
reproduce-table5: $(FRANK_WOLFE:%=runs-%) runs-stand-ins ## Frandi et al. 2013: W and F of the tests
	$(call keep,stats $(FOLDERS) --table 5,003/table5)
reproduce-table6: $(FRANK_WOLFE:%=runs-%) runs-stand-ins ## Frandi et al. 2013: p-values
	$(call keep,stats $(FOLDERS) --table 6,003/table6)
reproduce-table7: $(FRANK_WOLFE:%=runs-%) runs-stand-ins ## Frandi et al. 2013: conclusions
	$(call keep,stats $(FOLDERS) --table 7,003/table7)
reproduce-table8: runs-003-quadratic ## Frandi et al. 2013: the quadratic kernel
	$(call keep,table $(RESULTS)/003-quadratic --layout 003-8,003/table8)
reproduce-figures3-6: $(FRANK_WOLFE:%=runs-%) runs-stand-ins ## Frandi et al. 2013: accuracy, time, speed-up and size of the series and the single sets
	$(BIN)/fwsvm plot $(FOLDERS) --figure series --figure datasets $(METHODS_003) --out $(RESULTS)/003/figures
reproduce-figures7-8: runs-003-c-sweep ## Frandi et al. 2013: accuracy and time over C
	$(BIN)/fwsvm plot $(RESULTS)/003-c-sweep --figure sweep --out $(RESULTS)/003/figures
reproduce-swap: runs-swap runs-003-quadratic runs-stand-ins ## Nanculef et al. 2014: figures, Table 2 and claims
	$(call keep,table $(RESULTS)/swap $(RESULTS)/stand-ins $(foreach name,accuracy time size speedup relative-accuracy,-l 000-$(name)),000/tables)
	$(call keep,table $(RESULTS)/003-quadratic --layout 000-quadratic,000/quadratic)
	$(call keep,stats $(RESULTS)/swap --design 000,000/table2)
	$(BIN)/fwsvm plot $(RESULTS)/swap $(RESULTS)/003-quadratic $(RESULTS)/stand-ins --out $(RESULTS)/000/figures
	$(call keep,claims $(RESULTS)/swap $(RESULTS)/003-quadratic $(RESULTS)/stand-ins $(RAN_000) --only 000,000/claims)
reproduce-as-run: $(AS_RUN:%=runs-%) runs-003-quadratic-as-run runs-003-c-sweep-as-run runs-swap-as-run runs-why ## the first two papers as their authors ran them, and each setting changed by itself; claims of `reproduce-all` use them
	$(call keep,table $(AS_RUN:%=$(RESULTS)/%) --layout 003-2 --layout 003-3,003/tables-as-run)
	$(call keep,stats $(AS_RUN:%=$(RESULTS)/%) --table 5,003/table5-as-run)
	$(call keep,stats $(AS_RUN:%=$(RESULTS)/%) --table 6,003/table6-as-run)
	$(call keep,stats $(AS_RUN:%=$(RESULTS)/%) --table 7,003/table7-as-run)
	$(call keep,table $(RESULTS)/003-quadratic-as-run --layout 003-8,003/table8-as-run)
	$(BIN)/fwsvm plot $(AS_RUN:%=$(RESULTS)/%) --figure series --figure datasets $(METHODS_003) --out $(RESULTS)/003/figures-as-run
	$(BIN)/fwsvm plot $(RESULTS)/003-c-sweep-as-run --figure sweep --out $(RESULTS)/003/figures-as-run
	$(call keep,table $(RESULTS)/swap-as-run $(RESULTS)/stand-ins-as-run $(foreach name,accuracy time size speedup relative-accuracy,-l 000-$(name)),000/tables-as-run)
	$(call keep,table $(RESULTS)/003-quadratic-as-run --layout 000-quadratic,000/quadratic-as-run)
	$(call keep,stats $(RESULTS)/swap-as-run --design 000,000/table2-as-run)
	$(BIN)/fwsvm plot $(RESULTS)/swap-as-run $(RESULTS)/003-quadratic-as-run $(RESULTS)/stand-ins-as-run --figure series --figure datasets --figure summary --out $(RESULTS)/000/figures-as-run
	$(call keep,table $(RESULTS)/why --layout time --layout accuracy --layout gap,why/settings)
reproduce-equal-gap: runs-equal-gap ## time of all methods to the same certified gap, ours beside
	$(call keep,table $(RESULTS)/equal-gap --layout time --layout gap,equal-gap/tables)
	$(BIN)/fwsvm plot $(RESULTS)/equal-gap --figure series --figure datasets --measure speedup --where tolerance=0.001 --mixed-load --out $(RESULTS)/equal-gap/figures
reproduce-avsf: runs-avsf ## Glasmachers and Dogan 2013: Tables 2 and 3, Figure 1 and claims
	$(call keep,table $(RESULTS)/avsf --layout 002-2 --layout 002-3,002/tables)
	$(BIN)/fwsvm plot $(RESULTS)/avsf --figure sweep --out $(RESULTS)/002/figures
	$(call keep,claims $(RESULTS)/avsf --only 002,002/claims)
reproduce-scs: runs-scs ## Zhang and Sen 2024: Table 1, Figures 1 and 2 and claims
	$(call keep,table $(RESULTS)/scs --layout 004-1,004/table1)
	$(BIN)/fwsvm plot $(RESULTS)/scs --figure convergence --against iteration --window 50 --out $(RESULTS)/004/figures
	$(call keep,claims $(RESULTS)/scs --only 004,004/claims)
reproduce-all: $(addprefix reproduce-,table2 table3 table5 table6 table7 table8 figures3-6 figures7-8 swap avsf scs) ## all of them, and a page each
	$(call keep,claims $(FOLDERS) $(RESULTS)/003-quadratic $(RESULTS)/003-c-sweep $(RAN_003) --only 003,003/claims)
	$(BIN)/fwsvm report $(FOLDERS) $(RESULTS)/003-quadratic $(RESULTS)/003-c-sweep --out $(RESULTS)/003/report.html
	$(BIN)/fwsvm report $(RESULTS)/swap $(RESULTS)/stand-ins --out $(RESULTS)/000/report.html
	$(BIN)/fwsvm report $(RESULTS)/avsf --out $(RESULTS)/002/report.html
	$(BIN)/fwsvm report $(RESULTS)/scs --out $(RESULTS)/004/report.html

bench: .venv/peers ## compare speeds with other packages, one thread and two (an hour); results go to results/bench/
	mkdir -p $(BENCH)
	$(BIN)/benchopt run benchmarks --config benchmarks/peers.yml --no-plot --no-cache --output $(CURDIR)/$(BENCH)/peers.parquet
	$(BIN)/python benchmarks/benchmark_utils/summary.py $(BENCH)/peers.parquet $(BENCH)/peers.csv
	$(BIN)/benchopt run benchmarks -o "SVM[problem=linear]" --no-plot --no-cache --output $(CURDIR)/$(BENCH)/linear.parquet
	$(BIN)/python benchmarks/grids.py --csv $(BENCH)/grids.csv
	$(BIN)/python benchmarks/reading.py --csv $(BENCH)/reading.csv
	$(BIN)/python benchmarks/starting.py --cold 3 --csv $(BENCH)/starting.csv
	for what in rows cache threads memory; do \
		$(BIN)/python benchmarks/scale.py $$what --csv $(BENCH)/scale-$$what.csv || exit 1; done

docs: .venv/docs ## build the documentation into .cache/site, offline; links that lead nowhere and pages that overflow are errors
	rm -rf .cache/site
	$(BIN)/python -m sphinx -b html -W --keep-going -q -d .cache/doctrees docs .cache/site
	$(BIN)/python -m tests.docs.widths .cache/site
	@echo "open .cache/site/index.html"

pictures: .venv/installed ## draw the documentation's pictures again, from results/reference
	for script in $(filter-out %/drawing.py,$(wildcard docs/pictures/*.py)); do $(BIN)/python $$script || exit 1; done

.venv/docs: .venv/installed
	$(call pip,what builds the documentation,--editable ".[docs]")
	@touch $@

dist: .venv/installed ## build the wheel and the source archive into dist/
	rm -rf dist
	$(BIN)/python -m hatchling build

format: .venv/installed ## format the sources and mend what can be mended
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

warmup: .venv/installed ## compile everything now, so that no first run has to
	$(BIN)/fwsvm warmup

clean: ## remove what tools left behind, and all compiled code
	@test ! -e .venv/installed || $(BIN)/python -c \
		"import shutil; from fwsvm.files.folders import numba_folder; shutil.rmtree(numba_folder(), ignore_errors=True)"
	rm -rf .cache .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache dist
	find fwsvm tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
