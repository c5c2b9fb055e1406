# Every target sets up what it needs, so each works as the first command on a fresh machine.
VENV   ?= .venv
PYTHON ?= python3
BIN    := $(VENV)/bin
USABLE := $(VENV)/.usable
READY  := $(VENV)/.ready
DOCS_READY    := $(VENV)/.docs-ready
BENCH_READY   := $(VENV)/.bench-ready
AIRFLOW       ?= build/airflow-env
AIRFLOW_READY := $(AIRFLOW)/.ready
MOTO_READY    := build/moto-env/.ready
# The classes of Spark as a JVM maps them at once, and kernels in numba's cache: made once, not by every process.
CLASSES       := build/classes.jsa
export PYTHONHASHSEED := 0
# Modules are compiled once, whatever the environment says, and not by each of a hundred processes.
export PYTHONDONTWRITEBYTECODE :=

# Exactly the versions of requirements/NAME.txt, which `scripts/lock` makes, with the hashes of their files.
PIP    := -m pip install -qq --disable-pip-version-check
LOCKED := $(PIP) --require-hashes --requirement requirements
OURS   := $(PIP) --no-deps --no-build-isolation --editable .

# Two sessions of Spark side by side; faults on clusters are timed, and run alone. Files go to the two in the order of
# their folders, unit tests last: what takes long does not come to an end alone.
TWO := -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: demo test bounds lint slow campaigns browser airflow stores bench reproduce docs nightly matrix lowest spark-matrix coverage package wheel sbom wheel-test clean java

demo: $(USABLE) java
	$(BIN)/ppdp demo

test: $(READY) java $(CLASSES)
	$(BIN)/python -m pytest $(TWO) -m "not slow and not cluster and not reproduction and not browser and not airflow and not stores"

# Compiled code reads beyond an array in silence. Here every access is checked; the cache does not know the
# flag, so this one has its own.
KERNELS := tests/property tests/unit/attacks tests/unit/criteria tests/unit/discovery tests/unit/maxent tests/unit/partition tests/unit/robustness tests/unit/skyline \
	tests/unit/test_hierarchy.py tests/unit/test_knowledge_skyline.py tests/spark/criteria/test_skyline_minimal.py
bounds: export NUMBA_BOUNDSCHECK := 1
bounds: export NUMBA_CACHE_DIR := $(CURDIR)/build/checked-kernels
bounds: $(READY) java $(CLASSES)
	$(BIN)/python -m pytest $(TWO) -m "not slow" $(KERNELS)

FAULTS := tests/cluster/test_faults.py
slow: $(READY) java $(CLASSES)
	$(BIN)/python -m pytest $(TWO) -m "(slow or reproduction or cluster) and not nightly" --ignore $(FAULTS)
	$(BIN)/python -m pytest -m cluster $(FAULTS)

# Random trials by the hundred: other seeds of what the slow stage tries.
campaigns: $(READY) java $(CLASSES)
	$(BIN)/python -m pytest $(TWO) -m "nightly and not stores"

browser: $(READY)
	sh scripts/chromium
	$(BIN)/python -m pytest -m browser tests/browser

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Airflow pins half of PyPI: it lives in an environment of its own and only ever calls spark-submit.
airflow: $(READY) java $(CLASSES) $(AIRFLOW_READY)
	$(BIN)/python -m pytest $(TWO) -m airflow tests/cluster

# A NameNode, a DataNode and an S3 server, all from PyPI; the jars stay in build/hdfs, and the server lives in an
# environment of its own. CI runs `make stores STORES="stores and not nightly"`: commits, and one whole run on each.
STORES ?= stores
stores: $(READY) java $(CLASSES) $(MOTO_READY)
	$(BIN)/python -m pytest -m "$(STORES)" tests/stores

$(MOTO_READY):
	$(PYTHON) -m venv build/moto-env
	build/moto-env/bin/python -m pip install --quiet --disable-pip-version-check "moto[server]==5.*"
	@touch $(MOTO_READY)

$(AIRFLOW_READY):
	$(PYTHON) -m venv $(AIRFLOW)
	$(AIRFLOW)/bin/python -m pip install --quiet --disable-pip-version-check "apache-airflow==3.*"
	@touch $(AIRFLOW_READY)

bench: $(BENCH_READY) java
	$(BIN)/python scripts/bench

# Every page of published experiments, of what blind grouping costs and of downcoding, measured again: hours.
PAGES := reproduce_skyline reproduce_robustness reproduce_suppression reproduce_maxent blind_cost downcoding
reproduce: $(BENCH_READY) java
	$(BIN)/python scripts/bench skyline-scale --rows 1e7,1e8 --driver-memory 4g --time-limit 7200
	for page in $(PAGES); do $(BIN)/python scripts/$$page.py || exit 1; done

# The site, in build/site. It runs the tutorials; a warning, a broken link or a citation without an entry is an error.
docs: export NO_MKDOCS_2_WARNING := 1
docs: $(DOCS_READY) java
	$(BIN)/python -m mkdocs build --strict

$(DOCS_READY): $(READY) requirements/docs.txt
	$(BIN)/python $(LOCKED)/docs.txt
	@touch $(DOCS_READY)

$(BENCH_READY): $(READY) requirements/bench.txt
	$(BIN)/python $(LOCKED)/bench.txt
	@touch $(BENCH_READY)

# The quick tests on every Python that is installed; and on the oldest with the lowest versions allowed.
matrix: java
	sh scripts/matrix

lowest: java
	sh scripts/matrix lowest

# What differs between versions of Spark, on each of them: `make spark-matrix SPARKS=3.5` for one.
spark-matrix: java
	sh scripts/matrix spark $(SPARKS)

# What the tests run of the package, in their own processes and in Spark's workers.
coverage: $(READY) java $(CLASSES)
	rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/coverage run -m pytest $(TWO) -m "not slow and not reproduction" tests/unit tests/property tests/spark
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet --directory build/coverage/html
	$(BIN)/coverage report

# What takes too long for every change. .ci/nightly-green names the revision at which it was last green.
nightly:
	sh .ci/nightly

package: $(READY)
	$(BIN)/python scripts/package

wheel: $(READY)
	$(BIN)/python scripts/package --no-environment

# What the wheel and its locked dependencies are, for scanners: CycloneDX, in dist/.
sbom: $(USABLE)
	[ -x build/sbom-env/bin/cyclonedx-py ] || { $(PYTHON) -m venv build/sbom-env && build/sbom-env/bin/python -m pip install --quiet --disable-pip-version-check "cyclonedx-bom==7.*"; }
	mkdir -p dist
	build/sbom-env/bin/cyclonedx-py requirements requirements/run.txt --pyproject pyproject.toml --mc-type library \
	  --output-reproducible --of JSON --output-file dist/ppdp_spark-$$($(BIN)/python -c "from importlib.metadata import version; print(version('ppdp-spark'))").cdx.json

wheel-test: wheel java
	rm -rf build/wheel-env && $(PYTHON) -m venv build/wheel-env
	build/wheel-env/bin/python -m pip install --quiet --disable-pip-version-check "$$(echo dist/*.whl)[spark]"
	cd build && wheel-env/bin/ppdp demo wheel-demo --rows 5000

java:
	@sh scripts/java

$(CLASSES): $(READY) | java
	$(BIN)/python tests/support/ready_made.py $(CLASSES)

# What a user needs to run, and nothing else; then what a developer needs on top of it.
$(USABLE): pyproject.toml requirements/build.txt requirements/run.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(LOCKED)/build.txt
	$(BIN)/python $(LOCKED)/run.txt
	$(BIN)/python $(OURS)
	@touch $(USABLE)

$(READY): $(USABLE) requirements/dev.txt
	$(BIN)/python $(LOCKED)/dev.txt
	@touch $(READY)

clean:
	rm -rf $(VENV) build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis
