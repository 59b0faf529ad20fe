SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
# The race detector needs a C compiler: `make test RACE=` does without.
RACE ?= -race
# A workspace around the repository would break the build of the collector.
export GOWORK := off

COLLECTOR := build/otelcol-mcp
# Every module with code that `test` and `lint` look at, the plugin first and the end-to-end tests last.
MODULES := $(patsubst %/go.mod,%,$(wildcard ./go.mod ./cmd/*/go.mod ./demo/go.mod ./e2e/go.mod))
# Modules whose commands take their time, and which are compiled by these only: `bench`, `test-scale-out`.
SLOW_MODULES := $(patsubst %/go.mod,%,$(wildcard ./bench/go.mod ./examples/*/go.mod))
TOOL_MODULES := ./internal/tools ./internal/tools/lint
TOOL := $(GO) tool -modfile=internal/tools/go.mod
GOLANGCI_LINT = $(GO) tool -modfile="$(CURDIR)/internal/tools/lint/go.mod" golangci-lint

# $(call each,LABEL,MODULES,COMMAND): COMMAND in the folder of each module; fails at the end if one failed.
each = @rc=0; for m in $(2); do echo "== $(1): $$m"; (cd "$$m" && $(3)) || rc=1; done; exit $$rc

.PHONY: help
help: ## list the targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

.PHONY: build
build: build/.generated ## build the collector, build/otelcol-mcp (some minutes the first time, then seconds)
	@echo "== build: $(COLLECTOR)"
	@cd build && CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags="-s -w" -o otelcol-mcp .

# The source of the collector. Only what is listed here can change it; the code of the plugin is compiled in by `build`.
build/.generated: builder-config.yaml go.mod go.sum internal/tools/go.mod
	@echo "== ocb: build/"
	@mkdir -p build
	@$(TOOL) builder --config=builder-config.yaml --skip-compilation --skip-strict-versioning=false >build/ocb.log 2>&1 || { cat build/ocb.log >&2; exit 1; }
	@touch $@

.PHONY: run
run: build ## start the collector with examples/quickstart
	@cd examples/quickstart && exec ../../$(COLLECTOR) --config collector.yaml

.PHONY: demo
demo: build ## show what the collector makes of real MCP traffic, then end
	@cd demo && $(GO) run . -collector ../$(COLLECTOR)

.PHONY: test
test: build vet ## run all tests, with the race detector
	@echo "== examples"
	@examples/check.sh "$(CURDIR)/$(COLLECTOR)"
# -count=1 outside the plugin: the cache of test results does not know that the collector has changed.
	$(call each,go test,$(MODULES),MCP_COLLECTOR="$(CURDIR)/$(COLLECTOR)" $(GO) test $(RACE) $$([ "$$m" = . ] || echo -count=1) ./...)

SCALE_OUT := examples/scale-out/build/otelcol-mcp-scale-out

.PHONY: build-scale-out
build-scale-out: examples/scale-out/build/.generated ## build the collector of examples/scale-out, with Kafka
	@echo "== build: $(SCALE_OUT)"
	@cd $(dir $(SCALE_OUT)) && CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags="-s -w" -o $(notdir $(SCALE_OUT)) .

examples/scale-out/build/.generated: examples/scale-out/builder-config.yaml go.mod go.sum internal/tools/go.mod
	@echo "== ocb: $(@D)/"
	@mkdir -p $(@D)
	@$(TOOL) builder --config=$< --skip-compilation --skip-strict-versioning=false >$(@D)/ocb.log 2>&1 || { cat $(@D)/ocb.log >&2; exit 1; }
	@touch $@

.PHONY: test-scale-out
test-scale-out: build-scale-out ## test examples/scale-out: kill a collector, lose nothing (some minutes; not part of `test`)
	@cd examples/scale-out && MCP_SCALE_OUT_COLLECTOR="$(CURDIR)/$(SCALE_OUT)" $(GO) test $(RACE) -count=1 -v ./...

# How long `fuzz` looks for what the tests do not know, per target.
FUZZTIME := 10s

.PHONY: fuzz
fuzz: ## look for texts that the reader gets wrong, FUZZTIME=10s for each target
	@$(GO) test -run '^$$' -fuzz '^FuzzReader$$' -fuzztime $(FUZZTIME) ./processor/jsonrpc
	@$(GO) test -run '^$$' -fuzz '^FuzzEventStream$$' -fuzztime $(FUZZTIME) ./processor/jsonrpc

.PHONY: fuzz-items
fuzz-items: ## the same for whole spans and log records; compiles the collector's modules once more
	@$(GO) test -run '^$$' -fuzz '^FuzzSpan$$' -fuzztime $(FUZZTIME) .
	@$(GO) test -run '^$$' -fuzz '^FuzzLogRecord$$' -fuzztime $(FUZZTIME) .

.PHONY: bench
bench: ## measure what the processor costs, as ratios: some minutes, BENCHFLAGS=-short for a first look
	@cd bench && $(GO) run . $(BENCHFLAGS)

.PHONY: bench-compare
bench-compare: ## compare with the commit BASE: the Go benchmarks of bench/ in turns, then benchstat
	@GO="$(GO)" bench/compare.sh "$(BASE)"

.PHONY: vet
vet:
	$(call each,go vet,$(MODULES),$(GO) vet ./...)

.PHONY: lint
lint: ## check format, style, and that what is generated or derived is current
	@$(MAKE) --no-print-directory -k lint-format vet lint-golangci lint-generated lint-build lint-tidy

.PHONY: lint-format
lint-format:
	@echo "== gofmt"
	@bad=$$(find . -name build -prune -o -name testdata -prune -o -name '*.go' -print0 | xargs -0 gofmt -l); \
	[ -z "$$bad" ] || { echo "Not formatted, run 'make fmt':" >&2; echo "$$bad" >&2; exit 1; }

.PHONY: lint-golangci
lint-golangci:
	@if $(GOLANGCI_LINT) version >/dev/null; then \
		rc=0; for m in $(MODULES); do echo "== golangci-lint: $$m"; (cd "$$m" && $(GOLANGCI_LINT) run --config "$(CURDIR)/.golangci.yml" ./...) || rc=1; done; exit $$rc; \
	else \
		echo "!!! golangci-lint could not be built: SKIPPED. The checks in .golangci.yml did not run." >&2; \
	fi

.PHONY: lint-generated
lint-generated:
	@echo "== mdatagen: generated files are current"
	@GO="$(GO)" internal/tools/generate.sh -check

.PHONY: lint-build
lint-build: build/.generated
	@echo "== ocb: the collector is built with the versions that are tested"
	@internal/tools/check-versions.sh

.PHONY: lint-tidy
lint-tidy:
	$(call each,go mod tidy,$(MODULES) $(SLOW_MODULES) $(TOOL_MODULES),$(GO) mod tidy -diff)

.PHONY: generate
generate: ## write internal/metadata, documentation.md and so on anew from metadata.yaml
	@GO="$(GO)" internal/tools/generate.sh

.PHONY: fmt
fmt: ## format the code and sort its imports
	$(call each,golangci-lint fmt,$(MODULES) $(SLOW_MODULES),$(GOLANGCI_LINT) fmt --config "$(CURDIR)/.golangci.yml" ./...)

.PHONY: tidy
tidy: ## go mod tidy in every module
	$(call each,go mod tidy,$(MODULES) $(SLOW_MODULES) $(TOOL_MODULES),$(GO) mod tidy)

.PHONY: clean
clean: ## remove what was built and what the examples wrote
	rm -rf build examples/scale-out/build
	rm -f examples/*/out*.jsonl
