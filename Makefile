# The two commands: `make run` starts Aster, `make test` installs and runs the tests. Both need only Python 3.11+.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What has a target of its own is not among the usual tests.
USUAL := "not chaos and not local_model and not connectors and not deploy and not site"
ELSEWHERE := $(addprefix --ignore tests/,cluster cli client docs work)

.PHONY: run run-cluster install install-dev test surfaces work replicas clients deploy-check coverage \
	chaos chaos-cluster chaos-learning local-model connectors bench lint types docs site clean

run: install
	$(BIN)/aster serve

# Three replicas and a database on loopback behind a balancer, or on your DATABASE_URL; prints the console's address.
run-cluster: install-dev
	$(BIN)/aster cluster --replicas $${REPLICAS:-3} --port $${PORT:-8000}

install: $(VENV)/.installed

install-dev: $(VENV)/.installed-dev

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Aster needs Python 3.11 or newer; say which with: make PYTHON=python3.12"; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }  # half of one would be taken for a whole one next time

$(VENV)/.installed: requirements.lock pyproject.toml | $(VENV)/bin/python
	@$(BIN)/python tools/install.py requirements.lock --no-deps -e .
	@touch $@

$(VENV)/.installed-dev: requirements-dev.lock pyproject.toml | $(VENV)/bin/python
	@$(BIN)/python tools/install.py requirements-dev.lock --no-deps -e .
	@touch $@ $(VENV)/.installed

test: install-dev
	$(BIN)/python -m pytest -n 3 --dist loadfile -m $(USUAL) $(ELSEWHERE)

# What people meet: the terminal in a real pseudo-terminal, the SDK, every example of the documentation.
surfaces: install-dev
	$(BIN)/python -m pytest -n 3 --dist loadfile -m $(USUAL) tests/cli tests/client tests/docs

# What outlives a turn, with engines that are killed and clocks that are waited for.
work: install-dev
	$(BIN)/python -m pytest -n 3 --dist loadfile -m $(USUAL) tests/work

# Two and three real engines over one PostgreSQL (docs/operations/replicas.md).
replicas: install-dev
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/cluster

# The suites of clients that other people wrote, against the doors (docs/doors.md); needs Node 20 or newer.
clients: install-dev $(VENV)-clients/.installed
	cd tests/clients/node && npm ci --no-audit --no-fund
	$(BIN)/python -m pytest tests/clients
	$(BIN)/python -m tests.clients

$(VENV)-clients/.installed: requirements-clients.lock
	$(PYTHON) -m venv $(VENV)-clients
	@$(VENV)-clients/bin/python tools/install.py $<
	@touch $@

# What is in deploy/, asked of the tools that know: schemas of compose and Kubernetes, the balancer itself.
deploy-check: install-dev $(VENV)-deploy/.installed
	$(BIN)/python -m pytest -m deploy tests/deploy

$(VENV)-deploy/.installed: requirements-deploy.lock
	$(PYTHON) -m venv $(VENV)-deploy
	@$(VENV)-deploy/bin/python tools/install.py $<
	@touch $@

# The console and the TypeScript client: types, unit tests, the build that is kept, and a real browser against a real
# engine. Needs Node 20 or newer; Chromium is installed where apt may, otherwise CHROMIUM=… says where it is.
console: install-dev web/node_modules/.installed chromium
	cd web && npm run check && npm test && npm run fresh
	cd web && ASTER_CONSOLE_DIR="$(CURDIR)/src/aster/server/console/app" npm run e2e

# Builds the console into src/aster/server/console/app, where the engine serves it from.
console-build: web/node_modules/.installed
	cd web && npm run build

# Makes the pictures in docs/screenshots anew.
screenshots: install-dev web/node_modules/.installed chromium
	cd web && npm run screenshots

web/node_modules/.installed: web/package-lock.json
	@node -e 'process.exit(Number(process.versions.node.split(".")[0] < 20))' 2>/dev/null \
		|| { echo "The console is built and tested with Node 20 or newer: install it, or put it first in PATH."; exit 1; }
	cd web && npm install --no-save --no-audit --no-fund  # not `ci`: the lock knows the binaries of one platform only
	@touch $@

.PHONY: console console-build screenshots chromium
chromium:
	@for name in "$$CHROMIUM" chromium chromium-browser google-chrome; do \
		test -n "$$name" && command -v "$$name" >/dev/null && exit 0; \
	done; \
	test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -qqy chromium \
		|| { echo "The console is tested in Chromium: install it, or say where it is with CHROMIUM=/path/to/it."; exit 1; }

coverage: install-dev
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered -m $(USUAL)

chaos: install-dev
	$(BIN)/python -m pytest -m chaos --chaos-kills=$${KILLS:-100} tests/chaos/test_kill.py

# Three replicas behind a balancer on a real PostgreSQL, while everything that can fail does.
chaos-cluster: install-dev
	$(BIN)/python -m pytest -s -m chaos --chaos-faults=$${FAULTS:-30} --chaos-turns=$${TURNS:-300} tests/chaos/test_cluster.py

# An engine is killed while it learns, many times; then everything must have been learned once, and can be taken back.
chaos-learning: install-dev
	$(BIN)/python -m pytest -s -m chaos --chaos-kills=$${KILLS:-50} tests/chaos/test_learning.py

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

# The documentation as a site in dist/site, and a look at what was built; nothing in it comes from another host.
site: install-dev $(VENV)-docs/.installed
	NO_MKDOCS_2_WARNING=1 $(VENV)-docs/bin/mkdocs build --strict --quiet
	$(BIN)/python -m pytest -m site tests/docs

$(VENV)-docs/.installed: requirements-docs.lock
	$(PYTHON) -m venv $(VENV)-docs
	@$(VENV)-docs/bin/python tools/install.py $<
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-clients $(VENV)-deploy $(VENV)-docs tests/clients/node/node_modules web/node_modules .pytest_cache .ruff_cache .coverage* htmlcov dist
