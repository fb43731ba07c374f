# Needs only Python 3.11 or newer, pip and make. uv is used where it happens to be installed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
# The real packages, each in an environment of its own; only the tests against them use these.
ORACLE := .venv-oracle
ORACLE_NEWEST := .venv-oracle-newest
CONFORMANCE_CASES ?= 10000
PROPERTY_PROMPTS ?= 100000
FAULT_KILLS ?= 200
FAULT_SESSIONS ?= 50

.PHONY: run test lint bench facts faults docs screenshots conformance oracle properties clean requirements

run: $(RUN_STAMP)
	@exec $(BIN)/python manage.py up

test: $(DEV_STAMP)
	@# Both run, whatever the first one finds.
	@$(BIN)/python -m pytest; sqlite=$$?; \
		$(BIN)/python -m pytest --db=postgres; postgres=$$?; \
		exit $$((sqlite || postgres))

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/djlint --lint --quiet templates
	$(BIN)/python manage.py makemigrations --check --dry-run
	CONVOWEB_HTTPS=1 $(BIN)/python manage.py check --deploy --fail-level WARNING

# Compares with the real packages on so many random conversations; make test does the same with a few hundred.
conformance: $(DEV_STAMP) oracle
	@CONFORMANCE_CASES=$(CONFORMANCE_CASES) $(BIN)/python -m pytest tests/conformance

# Builds and judges so many random prompts and prints a histogram; make test does the same with a few thousand.
properties: $(DEV_STAMP)
	@$(BIN)/python -m tests.properties --prompts $(PROPERTY_PROMPTS)

# Kills workers while they summarize and judges what stands in the database after each kill; see docs/faults.md.
faults: $(DEV_STAMP)
	@$(BIN)/python -m tests.faults --kills $(FAULT_KILLS) --sessions $(FAULT_SESSIONS)

oracle: $(ORACLE)/.installed $(ORACLE_NEWEST)/.installed

# Prints the table of docs/performance.md; takes about five minutes on a quiet machine.
bench: $(DEV_STAMP) $(ORACLE)/.installed
	@$(BIN)/python -m benchmarks

# Measures which facts summaries keep and writes docs/summarizers.md and its curve; takes less than a minute.
facts: $(DEV_STAMP)
	@$(BIN)/python -m benchmarks.planted_facts

docs: $(DEV_STAMP)
	$(BIN)/python manage.py settings_reference > docs/settings.md

# Takes the pictures of docs/images anew, from the demo project; needs Chromium and a font for Japanese (fonts-ipafont-gothic).
screenshots: $(DEV_STAMP)
	@$(BIN)/python -m tests.screenshots

clean:
	rm -rf $(VENV) $(ORACLE) $(ORACLE_NEWEST) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache staticfiles
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Only needed after changing the dependencies in pyproject.toml; needs uv.
requirements:
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--custom-compile-command "make requirements" --quiet --output-file requirements.txt
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--custom-compile-command "make requirements" --quiet --output-file requirements-dev.txt
	printf 'chuk-ai-session-manager==0.1.1\ngriptape==1.8.13\n' | uv pip compile - --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --custom-compile-command "make requirements" --quiet \
		--output-file requirements-oracle.txt
	echo griptape==1.13.0 | uv pip compile - --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --custom-compile-command "make requirements" --quiet \
		--output-file requirements-oracle-newest.txt

%/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("convoweb needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $* || { rm -rf $*; \
		echo "venv does not work here, trying virtualenv"; \
		$(PYTHON) -m virtualenv $* 2>/dev/null || { \
		$(PYTHON) -m pip install --quiet --user --break-system-packages virtualenv && $(PYTHON) -m virtualenv $*; }; }

# Installs the requirements $(1) into the environment $(2).
define install
	@echo "Installing $(1) into $(2); the first time takes about a minute"
	@if command -v uv >/dev/null 2>&1; \
		then VIRTUAL_ENV=$(2) uv pip install --quiet --require-hashes -r $(1); \
		else $(2)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1); fi
	@touch $@
endef

$(RUN_STAMP): requirements.txt | $(BIN)/python
	$(call install,$<,$(VENV))

$(ORACLE)/.installed: requirements-oracle.txt | $(ORACLE)/bin/python
	$(call install,$<,$(ORACLE))

$(ORACLE_NEWEST)/.installed: requirements-oracle-newest.txt | $(ORACLE_NEWEST)/bin/python
	$(call install,$<,$(ORACLE_NEWEST))

$(DEV_STAMP): requirements-dev.txt | $(BIN)/python
	$(call install,$<,$(VENV))
	@# Lets pytest find the plugin of the tests, however it is called.
	@$(BIN)/python -c 'import pathlib, sysconfig; \
		pathlib.Path(sysconfig.get_path("purelib"), "convoweb.pth").write_text("$(CURDIR)\n")'
	@touch $(RUN_STAMP)
