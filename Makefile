# The two commands: `make run` starts Aster, `make test` installs and runs the tests. Both need only Python 3.11+.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run install install-dev test clients coverage chaos local-model connectors bench lint types docs clean

run: install
	$(BIN)/aster serve

install: $(VENV)/.installed

install-dev: $(VENV)/.installed-dev

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Aster needs Python 3.11 or newer; say which with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

$(VENV)/.installed-dev: requirements-dev.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@ $(VENV)/.installed

test: install-dev
	$(BIN)/python -m pytest -n 3 --dist loadfile -m "not chaos and not local_model and not connectors"

# The suites of clients that other people wrote, against the doors (docs/doors.md); needs Node 20 or newer.
clients: install-dev $(VENV)-clients/.installed
	cd tests/clients/node && npm ci --no-audit --no-fund
	$(BIN)/python -m pytest tests/clients
	$(BIN)/python -m tests.clients

$(VENV)-clients/.installed: requirements-clients.lock
	$(PYTHON) -m venv $(VENV)-clients
	$(VENV)-clients/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

coverage: install-dev
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered -m "not chaos and not local_model and not connectors"

chaos: install-dev
	$(BIN)/python -m pytest -m chaos --chaos-kills=$${KILLS:-100}

local-model: install-dev
	$(BIN)/python -m pytest -m local_model

connectors: install-dev
	$(BIN)/python -m pytest -m connectors tests/connectors

bench: install-dev
	$(BIN)/python -m benchmarks

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install-dev
	$(BIN)/pyright

docs: install-dev
	$(BIN)/python -m aster.reference --write

clean:
	rm -rf $(VENV) $(VENV)-clients tests/clients/node/node_modules .pytest_cache .ruff_cache .coverage* htmlcov dist
