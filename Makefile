# Needs only Python 3.11 or newer, pip and make. uv is used where it happens to be installed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev

.PHONY: run test lint docs clean requirements

run: $(RUN_STAMP)
	@exec $(BIN)/python manage.py up

test: $(DEV_STAMP)
	@$(BIN)/python -m pytest
	@$(BIN)/python -m pytest --db=postgres

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/djlint --lint --quiet templates
	$(BIN)/python manage.py makemigrations --check --dry-run
	CONVOWEB_HTTPS=1 $(BIN)/python manage.py check --deploy --fail-level WARNING

docs: $(DEV_STAMP)
	$(BIN)/python manage.py settings_reference > docs/settings.md

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache staticfiles
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Only needed after changing the dependencies in pyproject.toml; needs uv.
requirements:
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--custom-compile-command "make requirements" --quiet --output-file requirements.txt
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--custom-compile-command "make requirements" --quiet --output-file requirements-dev.txt

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("convoweb needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "venv does not work here, trying virtualenv"; \
		$(PYTHON) -m virtualenv $(VENV) 2>/dev/null || { \
		$(PYTHON) -m pip install --quiet --user --break-system-packages virtualenv && $(PYTHON) -m virtualenv $(VENV); }; }

define install
	@echo "Installing $(1) into $(VENV)"
	@if command -v uv >/dev/null 2>&1; \
		then VIRTUAL_ENV=$(VENV) uv pip install --quiet --require-hashes -r $(1); \
		else $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1); fi
	@touch $@
endef

$(RUN_STAMP): requirements.txt | $(BIN)/python
	$(call install,$<)

$(DEV_STAMP): requirements-dev.txt | $(BIN)/python
	$(call install,$<)
	@# Lets pytest find the plugin of the tests, however it is called.
	@$(BIN)/python -c 'import pathlib, sysconfig; \
		pathlib.Path(sysconfig.get_path("purelib"), "convoweb.pth").write_text("$(CURDIR)\n")'
	@touch $(RUN_STAMP)
