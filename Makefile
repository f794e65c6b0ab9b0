# Two commands: `make demo` shows what this is, `make test` checks it. Each installs what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Processes that share the tests: more than cores, since many tests wait. Each more costs 10 s to collect them.
JOBS ?= 5
# How long `make learning` and `make study` run; each row of their tables has its share.
MINUTES ?= 180
# Tests start thousands of processes, each of which would compile this project's files for itself.
unexport PYTHONDONTWRITEBYTECODE
# uv installs in a third of pip's time. Where it cannot, as behind a certificate that only pip knows, pip does.
PIP := $(BIN)/pip install --quiet --quiet --disable-pip-version-check
comma := ,
install = @{ $(PIP) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[$(1)]'; } || \
	$(PIP) --editable '.[$(1)]'
SOURCES := pyproject.toml $(wildcard protos/*/v1/*.proto protos/*/*/v1/*.proto)

.PHONY: demo ray screenshots six-games learning study test check docs unasync bench clean fuzz fuzz-matching crash-loop soak stopped-playoff log-faults

demo: $(VENV)/installed.stamp
	@$(BIN)/python examples/demo.py

# Bots of all kinds in six games, in some minutes; files go to six-games/.
six-games: $(VENV)/installed-dev.stamp
	@$(BIN)/python examples/six_games/play.py

# Whether knowledge makes players stronger by the clock: what the README says, from nothing, by contests that nobody
# has played before, on two cores, a population each; it goes on where the last run ended.
learning: $(VENV)/installed-dev.stamp
	@printf '%s\n' third fourth | \
		xargs -P 2 -I NAME $(BIN)/python -m research.learning repeat --populations NAME --minutes $(MINUTES)

# The same for all of the study, and the tables and charts of docs/explanation/does-it-help.md.
study: $(VENV)/installed-dev.stamp
	$(call install,bench)
	printf '%s\n' first second | \
		xargs -P 2 -I NAME $(BIN)/python -m research.learning run --populations NAME --minutes $(MINUTES)
	$(BIN)/python -m research.learning report

test: $(VENV)/installed-dev.stamp
	$(BIN)/pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(TESTS)

# Games on a Ray cluster of three nodes on this machine, with Ray, which is large and not needed for anything else.
ray: $(VENV)/installed-dev.stamp
	$(call install,ray)
	ACADEMY_MATCHING_KERNEL=numpy $(BIN)/pytest tests/arena/workers/test_ray_workers.py $(TESTS)

# The pictures in docs/, of what the demo leaves.
screenshots: $(VENV)/installed-dev.stamp demo
	@$(BIN)/python -m scripts.take_screenshots

# What the gate runs besides the tests: lint, types (the scripts' too), the arrows of import, the documentation.
check: $(VENV)/installed-dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/unasync_clients.py --check
	$(BIN)/python -m scripts.check_compatibility
	$(BIN)/mypy
	$(BIN)/mypy docs/generate.py
	$(BIN)/mypy examples/konane/konane
	$(BIN)/lint-imports
	@if command -v tsc >/dev/null; then tsc --project web/static/jsconfig.json; \
	else echo "The pages' scripts are not checked: there is no tsc (Debian's node-typescript)."; fi
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# The client for blocking calls is generated from the one for asyncio.
unasync: $(VENV)/installed-dev.stamp
	$(BIN)/python scripts/unasync_clients.py

# The documentation, in build/docs; links and anchors are checked. Its search needs a web server:
# `python3 -m http.server -d build/docs`.
docs: $(VENV)/installed-dev.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# Measures on this machine and writes docs/archive/performance.md; PARTS names some of those in figures.py.
bench: $(VENV)/installed-dev.stamp
	$(call install,bench)
	$(BIN)/python -m benchmarks.figures $(PARTS)

# Long, by hand; the tests run the crash loop and the fuzzing of parsers for a moment.
fuzz: $(VENV)/installed-dev.stamp
	$(BIN)/python -m tests.fuzz

fuzz-matching: $(VENV)/installed-dev.stamp
	$(BIN)/python -m benchmarks.fuzz_matching

crash-loop: $(VENV)/installed-dev.stamp
	$(BIN)/python -m research.crash_loop
	$(BIN)/python -m research.crash_loop --shared-port --compact

log-faults: $(VENV)/installed-dev.stamp
	$(BIN)/python -m research.shared_log_faults --rounds 100

soak: $(VENV)/installed-dev.stamp
	$(BIN)/python -m research.soak

stopped-playoff: $(VENV)/installed-dev.stamp
	$(BIN)/python -m research.stopped_playoff

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed, this is " + sys.version)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed.stamp: $(SOURCES) | $(VENV)/bin/python
	$(call install,arena$(comma)web)
	@touch $@

$(VENV)/installed-dev.stamp: $(SOURCES) | $(VENV)/bin/python
	$(call install,dev)
	@touch $(VENV)/installed.stamp $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find academy arena -name '*_pb2*' -delete
