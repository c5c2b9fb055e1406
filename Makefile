# Every target sets up what it needs, so each works as the first command on a fresh machine.
VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
export PYTHONHASHSEED := 0

.PHONY: demo test lint slow browser bench wheel wheel-test clean java

demo: $(READY) java
	$(BIN)/ppdp demo

test: $(READY) java
	$(BIN)/python -m pytest -m "not slow and not cluster and not reproduction and not browser"

slow: $(READY) java
	$(BIN)/python -m pytest -m "slow or cluster or reproduction"

browser: $(READY)
	sh scripts/chromium
	$(BIN)/python -m pytest -m browser

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY) java
	$(BIN)/python -m pip install --quiet -e ".[bench]"
	$(BIN)/python scripts/bench

wheel: $(READY)
	rm -rf dist build
	$(BIN)/python -m build --wheel --outdir dist .

wheel-test: wheel java
	rm -rf build/wheel-env && $(PYTHON) -m venv build/wheel-env
	build/wheel-env/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build && wheel-env/bin/ppdp demo wheel-demo --rows 5000

java:
	@sh scripts/java

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev,connect]"
	@touch $(READY)

clean:
	rm -rf $(VENV) build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis
