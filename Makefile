# A newcomer needs `make up` and `make test`; `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
MODELS_BIN := .venv-models/bin
# Each test worker has its own Neo4j and Redis: more than four need more memory than a desktop has.
# On two cores a third worker helps, since the others often wait for processes that start.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(max(3, min(4, os.cpu_count() or 2)))')
# Without bytecode files every process compiles all it imports: a second or more at each start.
export PYTHONDONTWRITEBYTECODE :=
# Versions that are locked stay, unless `make lock UPGRADE=1` asks for the newest ones.
COMPILE := $(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate --python-version 3.11 pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help up demo simulate down test test-models check format faults costs freshness load bench-door bench-ingest bench-junk bench-night bench-lives bench-forget bench-quality bench-equality bench-shapes bench-drawing bench-leaks bench-latency bench-throughput lock lock-neo4j vendor local-packages plots-packages dev-packages installed chromium java-archive pictures examples

help: ## List what make can do
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

# ── What other targets need first; each does nothing when it is done already ──

local-packages:
	@$(PYTHON) ops/bootstrap.py local

plots-packages:
	@$(PYTHON) ops/bootstrap.py plots

dev-packages:
	@$(PYTHON) ops/bootstrap.py dev

installed: dev-packages
	@$(BIN)/pentimento install

chromium: dev-packages
	@$(BIN)/python -m tests.chromium

java-archive: installed
	@$(BIN)/python -m tests.java_archive

# ── Run it ──

up: local-packages ## Install and start everything (DETACH=1: return when it is ready)
	@$(BIN)/pentimento up $(if $(DETACH),--detach)

demo: local-packages ## Simulate two weeks of a persona in about a minute and show what it remembers (AGAIN=1: with a new persona)
	@$(BIN)/pentimento status >/dev/null 2>&1 || $(BIN)/pentimento up --detach
	@$(BIN)/pentimento demo $(if $(AGAIN),--again)

simulate: plots-packages ## Live a year of a persona and draw what became of its memories (ARGS="--seed 2 --out folder")
	@$(BIN)/pentimento install
	@$(BIN)/pentimento simulate $(ARGS)

down: ## Stop everything that `make up` started; data stays
	@if [ -x $(BIN)/pentimento ]; then $(BIN)/pentimento down; else echo "Nothing is installed here, so nothing runs."; fi

# ── Check it ──

test: installed chromium java-archive ## Run the tests (ARGS="-k night": only some, WORKERS=0: in one process)
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

test-models: ## Test sentence-transformers with real weights (installs torch, about 5 GB)
	@$(PYTHON) ops/bootstrap.py models --venv .venv-models
	@$(MODELS_BIN)/pentimento install --only model
	@$(MODELS_BIN)/python -m pytest -m models $(ARGS)

check: dev-packages ## Check format, lint, types and import contracts, then run the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	@$(MAKE) test

format: dev-packages ## Format the code and fix what the linter can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

faults: installed ## Kill each process under load and each night at each transaction (ROUNDS=10)
	FAULT_ROUNDS=$(or $(ROUNDS),10) $(BIN)/python -m pytest tests/faults tests/graph/night/test_rollback.py tests/graph/night/test_night_machine.py tests/graph/forgetting/test_flag_machine.py tests/model -s

costs: installed ## Count what each statement reads at 100,000 memories and compare with docs/costs.md (MEMORIES=100000)
	COST_MEMORIES=$(or $(MEMORIES),100000) $(BIN)/python -m pytest tests/api/test_costs.py

freshness: installed ## Recall from two processes while messages are forgotten and taken back, with kills and cut lines (RECALLS=100000)
	FRESH_RECALLS=$(or $(RECALLS),100000) FRESH_FAULTS=$(or $(FAULTS),30) FRESH_READERS=16 FRESH_PAUSE=1 $(BIN)/python -m pytest tests/faults/test_freshness.py -s

load: installed ## Let many clients flag, undo and send messages at once, with a night in between (SECONDS=60 CLIENTS=32)
	LOAD_SECONDS=$(or $(SECONDS),60) LOAD_CLIENTS=$(or $(CLIENTS),32) $(BIN)/python -m pytest tests/faults/test_forget.py -k many -s

# ── Measure it; each benchmark starts its own servers. DATA is a file of conversations: see bench/ingest.py ──

bench-door: installed ## Compare a GET request with a bare database round trip and an empty handler
	@$(BIN)/python -m bench.door $(ARGS)

bench-ingest: installed ## Messages per second from request to candidates (DATA=conversations.jsonl)
	@$(BIN)/python -m bench.ingest --data $(DATA)

bench-junk: dev-packages ## Share of candidates not worth keeping, by hand-made labels (DATA=LoCoMo's dev.jsonl)
	@$(BIN)/python -m bench.junk --data $(DATA)

bench-night: installed ## Compare a night with the bare updates it makes (SIZE=100000 memories)
	@$(BIN)/python -m bench.night --size $(or $(SIZE),100000) $(ARGS)

bench-lives: installed ## Replay whole conversations over HTTP with every night: seconds per stage (DATA="a.jsonl b.jsonl" LIMIT=1: one conversation of each)
	@$(BIN)/python -m bench.lives $(foreach file,$(DATA),--data $(file)) $(if $(LIMIT),--limit $(LIMIT)) $(ARGS)

bench-forget: installed ## Compare flagging a message with a bare write of one row
	@$(BIN)/python -m bench.forget $(ARGS)

bench-quality: installed ## Share of the evidence for a question that recall finds (DATA="a.jsonl b.jsonl")
	@$(BIN)/python -m bench.quality --data $(DATA)

bench-equality: installed ## Compare recall from memory and from the graph with an exact scan, on synthetic personas
	@$(BIN)/python -m bench.equality $(ARGS)

bench-leaks: installed ## Look for flagged messages in every answer, and what flags cost other questions (DATA="a.jsonl b.jsonl")
	@$(BIN)/python -m bench.leaks --data $(DATA)

bench-shapes: installed ## Questions about what was lost that a shape covers, and what shapes cost (DATA="a.jsonl b.jsonl")
	@$(BIN)/python -m bench.shapes --data $(DATA)

bench-drawing: installed ## Compare drawing a shape of 10,000 archived memories with the bare reads and writes
	@$(BIN)/python -m bench.drawing $(ARGS)

bench-latency: installed ## Compare a recall with the bare searches it makes (SIZE=1000000: a third, larger graph)
	@$(BIN)/python -m bench.latency --sizes 10000 100000 $(SIZE) $(ARGS)

bench-throughput: installed ## Recalls a second of 32 clients with new questions (AGAINST=revision: beside that one, in turns)
	@$(BIN)/python -m bench.throughput $(if $(AGAINST),--against $(AGAINST)) $(ARGS)

# ── Change versions ──

lock: dev-packages ## Write requirements/*.txt from pyproject.toml (UPGRADE=1: with the newest versions)
	$(COMPILE) $(if $(UPGRADE),--upgrade) --extra local --extra models --extra plots --group dev -o requirements/models.txt
	$(COMPILE) -c requirements/models.txt --extra local --extra plots --group dev -o requirements/dev.txt
	$(COMPILE) -c requirements/models.txt --extra local --extra plots -o requirements/plots.txt
	$(COMPILE) -c requirements/models.txt --extra local -o requirements/local.txt
	$(COMPILE) -c requirements/models.txt --extra cli -o requirements/cli.txt
	$(COMPILE) -c requirements/models.txt -o requirements/server.txt

lock-neo4j: dev-packages ## Write ops/jars/jgo.lock.toml from jgo.toml, with a checksum for each jar
	cd ops/jars && ../../$(BIN)/jgo lock

vendor: ## Fetch the files of the API's page from npm again and check them (ARGS=--update after a new version in api/page/vendor.json)
	$(PYTHON) ops/vendor.py $(ARGS)

pictures: ## Draw docs/pictures/*.svg from their .dot files (needs graphviz)
	for file in docs/pictures/*.dot; do dot -Tsvg $$file -o $${file%.dot}.svg; done

examples: installed ## Record the examples of the OpenAPI document again, by calling every operation
	RECORD_EXAMPLES=1 $(BIN)/python -m pytest tests/api/test_examples.py
