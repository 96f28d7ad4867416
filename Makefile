# Everything a newcomer needs is `make up` and `make test`; `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
MODELS_BIN := .venv-models/bin
# Each has a Neo4j and a Redis of its own, so more than four want more memory than a desk has. Of
# two cores a third makes use while the others wait for processes that start.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(max(3, min(4, os.cpu_count() or 2)))')
# Where bytecode is not written every process compiles all it imports: a second and more per start.
export PYTHONDONTWRITEBYTECODE :=
LOCK := $(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate --python-version 3.11 pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help up demo down test test-models check format faults costs load bench-door bench-ingest bench-junk bench-night bench-lives bench-forget bench-quality bench-leaks bench-latency lock lock-neo4j vendor examples

help: ## This list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

up: ## Install and start everything (DETACH=1 returns when all is ready)
	@$(PYTHON) ops/bootstrap.py local
	@$(BIN)/pentimento up $(if $(DETACH),--detach)

demo: ## Two weeks of a persona's life in about a minute: what became memory, what merged, what was left out and why (AGAIN=1)
	@$(PYTHON) ops/bootstrap.py local
	@$(BIN)/pentimento status >/dev/null 2>&1 || $(BIN)/pentimento up --detach
	@$(BIN)/pentimento demo $(if $(AGAIN),--again)

down: ## Stop everything `make up` started
	@if [ -x $(BIN)/pentimento ]; then $(BIN)/pentimento down; else echo "Nothing is installed here, so nothing runs."; fi

test: ## Install what the tests need and run them (ARGS="-k night" to choose, WORKERS=0 for one after another)
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

test-models: ## Test the sentence-transformers path with real weights (installs torch, about 5 GB)
	@$(PYTHON) ops/bootstrap.py models --venv .venv-models
	@$(MODELS_BIN)/pentimento install --only model
	@$(MODELS_BIN)/python -m pytest -m models $(ARGS)

check: ## Format, lint, types, import contracts, tests
	@$(PYTHON) ops/bootstrap.py dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@$(MAKE) test

format: ## Lay the code out and mend what lint can mend
	@$(PYTHON) ops/bootstrap.py dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

faults: ## Kill every process under load, every night at every transaction, many rounds (ROUNDS=10)
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	FAULT_ROUNDS=$(or $(ROUNDS),10) $(BIN)/python -m pytest tests/faults tests/graph/night/test_rollback.py tests/graph/night/test_night_machine.py tests/graph/forgetting/test_flag_machine.py tests/model -s

costs: ## What every statement reads in a persona of 100,000 memories, held against docs/costs.md (MEMORIES=100000)
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	COST_MEMORIES=$(or $(MEMORIES),100000) $(BIN)/python -m pytest tests/api/test_costs.py

load: ## Many clients flag, undo and speak at once, with a night in the middle (SECONDS=60 CLIENTS=32)
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	LOAD_SECONDS=$(or $(SECONDS),60) LOAD_CLIENTS=$(or $(CLIENTS),32) $(BIN)/python -m pytest tests/faults/test_forget.py -k many -s

bench-door: ## What a request costs beside a bare round trip (needs nothing running)
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	@$(BIN)/python -m bench.door $(ARGS)

bench-ingest: ## How fast what is said becomes candidates (DATA=conversations.jsonl)
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	@$(BIN)/python -m bench.ingest --data $(DATA)

bench-junk: ## How much of what the gate lets through is junk, by hand-made labels (DATA=LoCoMo's dev.jsonl)
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/python -m bench.junk --data $(DATA)

bench-night: ## What a night costs beside the bare updates it makes (SIZE=100000 memories)
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	@$(BIN)/python -m bench.night --size $(or $(SIZE),100000) $(ARGS)

bench-lives: ## Personas live through whole conversations over HTTP, night by night: seconds per stage (DATA="a.jsonl b.jsonl" MOST=1)
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	@$(BIN)/python -m bench.lives $(foreach file,$(DATA),--data $(file)) $(if $(MOST),--most $(MOST)) $(ARGS)

bench-forget: ## What «Forget This» costs beside a bare write of one row
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	@$(BIN)/python -m bench.forget $(ARGS)

bench-quality: ## How much of what answers a question is recalled (DATA=LoCoMo's dev.jsonl)
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	@$(BIN)/python -m bench.quality --data $(DATA)

bench-leaks: ## What of a forgotten topic still comes up, and what forgetting costs the rest (DATA=LoCoMo's dev.jsonl)
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	@$(BIN)/python -m bench.leaks --data $(DATA)

bench-latency: ## What a recall costs beside the bare searches it is made of (SIZE=1000000 for more)
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	@$(BIN)/python -m bench.latency --sizes 10000 100000 $(SIZE) $(ARGS)

lock: ## Choose the newest versions again and write requirements/*.txt
	$(LOCK) --upgrade --extra local --extra models --group dev -o requirements/models.txt
	$(LOCK) -c requirements/models.txt --extra local --group dev -o requirements/dev.txt
	$(LOCK) -c requirements/models.txt --extra local -o requirements/local.txt
	$(LOCK) -c requirements/models.txt -o requirements/server.txt

lock-neo4j: ## Resolve ops/jars/jgo.toml again, with a checksum for each jar
	cd ops/jars && ../../$(BIN)/jgo lock

vendor: ## Fetch the files of the API's page from npm again and check them (ARGS=--update after a new version in api/page/vendor.json)
	$(PYTHON) ops/vendor.py $(ARGS)

examples: ## Record the examples of the OpenAPI document again, from a walk through every operation
	@$(PYTHON) ops/bootstrap.py dev
	@$(BIN)/pentimento install
	RECORD_EXAMPLES=1 $(BIN)/python -m pytest tests/api/test_examples.py
