# Every target sets up what it needs. `make help` lists them.

PYTHON ?= python3
JOBS   ?= 4
BIN    := .venv/bin
READY  := .venv/.ready
USER   := .venv/.installed
UV      = $(or $(shell command -v uv),.bootstrap/bin/uv)

.DEFAULT_GOAL := help
.PHONY: help run lookback demo test check test-agents mutants fuzz soak bench bench-check screenshots docs seed-coverage agents-table keys-table commands-page faults-table crashtest-table crashtest-run performance-table man-page floor-plan house-figures clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | \
		while IFS='|' read -r target text; do printf '%-26s%s\n' "$$target" "$$text"; done

run: $(USER) ## the console
	$(BIN)/watchgate

lookback: $(USER) ## what your agents asked for so far, judged from their transcripts
	@# Exit code 1: there are no transcripts, which it has said.
	@$(BIN)/watchgate lookback || [ $$? -eq 1 ]

demo: $(USER) ## the console on a scripted feed; touches no agent
	$(BIN)/watchgate demo

test: $(READY) ## the whole suite, without real agents
	$(BIN)/pytest -n $(JOBS) --dist worksteal

check: $(READY) ## format, lint, types, layers, the rules of the house
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m scripts.house_check

test-agents: $(READY) ## the real agent CLIs against a loopback model; needs npm
	$(BIN)/pytest tests/agents_real -m agents -n 2

mutants: $(READY) ## break each row of the specification, and see its tests fail; ONLY narrows it
	$(BIN)/python -m scripts.mutants $(if $(ONLY),--only $(ONLY))

fuzz: $(READY) ## every decoder under a coverage-guided fuzzer; TARGETS and SECONDS narrow it
	$(UV) run --locked --no-sync --with 'atheris==3.0.0' python -m scripts.fuzz $(TARGETS) --seconds $(or $(SECONDS),60)

soak: $(READY) ## an hour's load as fast as it goes: memory must stay bounded
	$(BIN)/python -m bench.soak

bench: $(READY) ## all figures, written to docs/performance.md; takes a quarter of an hour
	$(BIN)/python -m bench --report

house-figures: $(READY) ## how easy the package is to walk through
	$(BIN)/python -m scripts.house_figures

bench-check: $(READY) ## the short form: fails where a ratio got worse
	$(BIN)/python -m bench --check

screenshots: $(READY) ## draw screenshots/ from the running console
	$(BIN)/python -m scripts.screenshots

docs: seed-coverage agents-table keys-table commands-page faults-table crashtest-table performance-table man-page floor-plan ## every document that is made from the program

seed-coverage: $(READY) ## docs/seed-coverage.md from the names of the tests
	$(BIN)/python -m scripts.seed_coverage

agents-table: $(READY) ## docs/agents.md and the README's agents from the adapters and the pinned agents
	$(BIN)/python -m scripts.agents_table

keys-table: $(READY) ## docs/keys.md and the README's keys from the registry
	$(BIN)/python -m scripts.keys_table

commands-page: $(READY) ## docs/commands.md from the parsers of the command line
	$(BIN)/python -m scripts.commands_page

floor-plan: $(READY) ## docs/floor-plan.svg from the imports
	$(BIN)/python -m scripts.floor_plan

faults-table: $(READY) ## docs/faults.md from the cases of tests/faults
	$(BIN)/python -m scripts.faults_table

crashtest-table: $(READY) ## docs/crashtest.md from what the agents did
	$(BIN)/python -m scripts.crashtest_table

crashtest-run: $(READY) ## try the pinned agents anew, and write what they did
	$(BIN)/python -m scripts.crashtest_table --run

performance-table: $(READY) ## docs/performance.md and the README's figures from what was measured
	$(BIN)/python -m scripts.performance_table

man-page: $(READY) ## man/watchgate.1 from the parsers of the command line
	$(BIN)/python -m scripts.man_page

clean: ## remove whatever the other targets made
	rm -rf .venv .bootstrap .agents .fuzz dist bench/out snapshot_report.html
	rm -rf __pycache__ .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find tui tests bench scripts -name __pycache__ -type d -prune -exec rm -rf {} +

# The lock is exact and only uv reads it: without uv on PATH, one is put into .bootstrap/.
# What a user runs is set up without the tools of developers, in a second; --inexact keeps those
# that are there already.
$(USER): pyproject.toml uv.lock
	@$(call sync,--no-dev --inexact)
	@touch $@

$(READY): pyproject.toml uv.lock
	@$(call sync,--compile-bytecode)
	@touch $@ $(USER)

# The private uv needs no pip of its own where the interpreter has one: to make one takes seconds.
define sync
	if command -v uv >/dev/null; then \
		echo 'setting up .venv with uv'; \
		uv sync --locked --quiet $(1); \
	else \
		command -v $(PYTHON) >/dev/null || { \
			echo 'watchgate needs Python 3.11 or newer: apt install python3 python3-venv' >&2; exit 1; }; \
		$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
			echo "watchgate needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) -V 2>&1): install one and run make PYTHON=/path/to/python3.11, or install uv" >&2; exit 1; }; \
		echo 'setting up .venv with $(PYTHON) and a private uv'; \
		if $(PYTHON) -c 'import pip; exit(int(pip.__version__.split(".")[0]) < 23)' 2>/dev/null; then \
			test -x .bootstrap/bin/uv || { $(PYTHON) -m venv --without-pip .bootstrap && \
			$(PYTHON) -m pip --python .bootstrap/bin/python install --quiet --disable-pip-version-check 'uv>=0.8,<1'; }; \
		else \
			$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
				echo 'this Python cannot make environments: apt install python3-venv (or install uv)' >&2; exit 1; }; \
			test -x .bootstrap/bin/uv || { $(PYTHON) -m venv .bootstrap && \
			.bootstrap/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.8,<1'; }; \
		fi && \
		.bootstrap/bin/uv sync --locked --quiet $(1) --no-python-downloads --python "$$(command -v $(PYTHON))"; \
	fi
endef
