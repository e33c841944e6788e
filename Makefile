# The only entry points. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

BIN := .venv/bin
PY := $(BIN)/python
ARGS ?=

.PHONY: help run wheel test test-long gen lint format bench shape behaviours lock changelog clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

run: ## start the server on http://127.0.0.1:7080 (ARGS="--port 8080" to change things)
	@scripts/bootstrap run
	@scripts/build-web
	@scripts/sandbox
	@exec $(BIN)/chatd serve $(ARGS)

wheel: ## dist/*.whl, with the web app in it: installs and runs where there is no Node
	@scripts/bootstrap run
	@scripts/build-web
	@$(BIN)/uv build --quiet --wheel --no-build-isolation --python $(BIN)/python
	@ls dist/*.whl

test: ## everything, from nothing: checks, tests, behaviours, and the store tests on Postgres 15
	@scripts/bootstrap dev
	@scripts/test

test-long: ## make test, and the long variants
	@scripts/bootstrap dev
	@CHATD_TEST_LONG=1 scripts/test

gen: ## write the generated files from store/sql and the settings
	@scripts/bootstrap dev
	@$(PY) -m dbgen
	@$(PY) scripts/docs.py

lint: ## ruff and pyright strict
	@scripts/bootstrap dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright

format: ## let ruff fix and format
	@scripts/bootstrap dev
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

bench: ## measure; figures are kept in bench/README.md
	@scripts/bootstrap dev
	@$(PY) -m bench $(ARGS)

shape: ## the longest files and functions: places to look for a seam
	@scripts/bootstrap dev
	@$(PY) scripts/shape.py

behaviours: ## how often the last test run proved each behaviour
	@python3 scripts/behaviours.py

lock: ## resolve the dependencies anew
	@scripts/bootstrap dev
	@scripts/lock

changelog: ## show what the next release notes will say
	@scripts/bootstrap dev
	@$(BIN)/towncrier build --draft

clean: ## remove what the build made (not .chatd, which holds your chats)
	@rm -rf .venv .cache .pytest_cache .ruff_cache .hypothesis web/node_modules src/chatd/server/web_app dist
