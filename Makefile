# Idemstorm: two targets do everything. `make demo` runs the main job, `make test` the whole test suite.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
GO ?= go
BIN := bin/idemstorm
SOURCES := $(shell find cmd harness reports scenarios target migrations -type f -not -name '*_test.go' -not -path '*/testdata/*' -not -path 'target/examples/*' 2>/dev/null) go.mod go.sum

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(BIN) ## storm the bundled server on a throwaway PostgreSQL, then a broken variant, and write the reports
	@bash docs/scripts/need-postgres
	@bash docs/scripts/demo $(BIN)

$(BIN): $(SOURCES)
	@mkdir -p bin
	$(GO) build -o $@ ./cmd/idemstorm

.PHONY: build
build: $(BIN) ## build bin/idemstorm

.PHONY: test
test: lint ## lint, then every test (installs PostgreSQL, redis, pgbouncer, chromium and axe-core where they are missing and it may)
	@bash docs/scripts/need-postgres
	@bash docs/scripts/need-redis
	@bash docs/scripts/need-pgbouncer
	@bash docs/scripts/need-node
	@bash docs/scripts/need-chromium
	@bash docs/scripts/need-axe
	$(GO) test -timeout 15m ./...

.PHONY: race
race: ## every test under the race detector
	$(GO) test -race -timeout 30m ./...

.PHONY: soak
FOR ?= 10m
soak: $(BIN) ## run right servers for a stated time, none may be accused: make soak FOR=1h
	@bash docs/scripts/need-postgres
	@bash docs/scripts/need-redis
	@bash docs/scripts/need-pgbouncer
	$(BIN) soak --for $(FOR)

.PHONY: zoo
zoo: $(BIN) ## run every broken variant against the scenario that must catch it
	@bash docs/scripts/need-postgres
	@bash docs/scripts/need-redis
	@bash docs/scripts/need-pgbouncer
	$(BIN) zoo run

.PHONY: lint
lint: ## gofumpt, vet, staticcheck
	@unformatted=$$($(GO) tool gofumpt -l cmd harness reports scenarios target migrations); \
	  if [ -n "$$unformatted" ]; then echo "not formatted (run: make format):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

.PHONY: format
format: ## format every Go file
	$(GO) tool gofumpt -w cmd harness reports scenarios target migrations

.PHONY: man
man: $(BIN) ## write the manual pages into bin/man
	$(BIN) man --dir bin/man

.PHONY: clean
clean: ## remove what was built and the runs
	rm -rf bin runs
