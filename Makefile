# Every target sets up what it needs, so each works as the first command on a fresh machine.
VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
USABLE := $(VENV)/.usable
READY  := $(VENV)/.ready
DOCS_READY    := $(VENV)/.docs-ready
AIRFLOW       ?= build/airflow-env
AIRFLOW_READY := $(AIRFLOW)/.ready
export PYTHONHASHSEED := 0

# Two sessions of Spark side by side; faults on clusters are timed, and run alone. Files go to the two in the order of
# their folders, unit tests last: what takes long does not come to an end alone.
TWO := -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: demo test bounds lint slow browser airflow bench docs nightly package wheel wheel-test clean java

demo: $(USABLE) java
	$(BIN)/ppdp demo

test: $(READY) java
	$(BIN)/python -m pytest $(TWO) -m "not slow and not cluster and not reproduction and not browser and not airflow"

# Compiled code reads beyond an array in silence. Here every access is checked; the cache does not know the
# flag, so this one has its own.
KERNELS := tests/property tests/unit/criteria tests/unit/maxent tests/unit/partition tests/unit/robustness tests/unit/skyline \
	tests/unit/test_hierarchy.py tests/unit/test_knowledge_skyline.py tests/spark/criteria/test_skyline_minimal.py
bounds: export NUMBA_BOUNDSCHECK := 1
bounds: export NUMBA_CACHE_DIR := $(CURDIR)/build/checked-kernels
bounds: $(READY) java
	$(BIN)/python -m pytest $(TWO) -m "not slow" $(KERNELS)

slow: $(READY) java
	$(BIN)/python -m pytest $(TWO) -m "(slow or reproduction) and not cluster"
	$(BIN)/python -m pytest $(TWO) -m cluster --ignore tests/cluster/test_faults.py
	$(BIN)/python -m pytest -m cluster tests/cluster/test_faults.py

browser: $(READY)
	sh scripts/chromium
	$(BIN)/python -m pytest -m browser

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Airflow pins half of PyPI: it lives in an environment of its own and only ever calls spark-submit.
airflow: $(READY) java $(AIRFLOW_READY)
	$(BIN)/python -m pytest -m airflow

$(AIRFLOW_READY):
	$(PYTHON) -m venv $(AIRFLOW)
	$(AIRFLOW)/bin/python -m pip install --quiet --disable-pip-version-check "apache-airflow==3.*"
	@touch $(AIRFLOW_READY)

bench: $(READY) java
	$(BIN)/python -m pip install --quiet -e ".[bench]"
	$(BIN)/python scripts/bench

# The site, in build/site. It runs the tutorials; a warning, a broken link or a citation without an entry is an error.
docs: export NO_MKDOCS_2_WARNING := 1
docs: $(DOCS_READY) java
	$(BIN)/python -m mkdocs build --strict

$(DOCS_READY): $(READY) pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	@touch $(DOCS_READY)

# What takes too long for every change; the revision at which it was last green is in docs/contributing.md.
nightly: docs

package: $(READY)
	$(BIN)/python scripts/package

wheel: $(READY)
	$(BIN)/python scripts/package --no-environment

wheel-test: wheel java
	rm -rf build/wheel-env && $(PYTHON) -m venv build/wheel-env
	build/wheel-env/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build && wheel-env/bin/ppdp demo wheel-demo --rows 5000

java:
	@sh scripts/java

# What a user needs to run, and nothing else; then what a developer needs on top of it.
$(USABLE): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $(USABLE)

$(READY): $(USABLE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev,connect]"
	@touch $(READY)

clean:
	rm -rf $(VENV) build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis
