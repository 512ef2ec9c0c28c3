# Kioku. "make demo" shows it at work, "make test" runs every test, "make build" leaves bin/kioku.
# Go and gcc are all that is needed; everything else comes through the Go module proxy.

GO      ?= go
# The one place that names the build tags: FTS5 has to be compiled into go-sqlite3.
TAGS    := sqlite_fts5
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X main.version=$(VERSION)

# sqlite-vec includes <sqlite3.h>. go-sqlite3 ships it as sqlite3-binding.h, and internal/sqlite3h holds a one-line
# sqlite3.h that includes that, so that header and library agree and no -dev package is needed.
SQLITE  := $(shell $(GO) mod download -json github.com/mattn/go-sqlite3 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
export CGO_ENABLED := 1
export CGO_CFLAGS  := -O2 -I$(CURDIR)/internal/sqlite3h -I$(SQLITE)

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
BUF         := github.com/bufbuild/buf/cmd/buf@v1.57.2

.PHONY: build static test soak race vet lint lint-proto bench performance demo proto docker clean

## build: bin/kioku for this machine
build:
	$(GO) build -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o bin/kioku ./cmd/kioku

## static: bin/kioku without shared libraries, as the container holds it
static:
	$(GO) build -tags '$(TAGS) netgo osusergo sqlite_omit_load_extension' \
		-ldflags '$(LDFLAGS) -s -w -linkmode external -extldflags "-static"' -o bin/kioku ./cmd/kioku

## test: every test, once
test:
	$(GO) test -tags '$(TAGS)' ./...

## soak: the tests that repeat something for long (kills, damaged pages, growth), in full
soak:
	KIOKU_SOAK=1 $(GO) test -tags '$(TAGS)' -timeout 30m . ./store/... ./indexer ./chunker ./agent/... ./server ./cmd/kioku

## race: every test under the race detector
race:
	$(GO) test -race -tags '$(TAGS)' -timeout 20m ./...

vet:
	$(GO) vet -tags '$(TAGS)' ./...

## lint: gofmt, go vet, staticcheck
lint: vet
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' | grep -v '\.pb\.go$$')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change: $$unformatted"; exit 1; fi
	$(GO) run $(STATICCHECK) -tags '$(TAGS)' ./...

## bench: the speed table, a ratio of two things measured in the same run a row; then the Go benchmarks that have no row:
## BenchmarkMisspelt, look-ups of misspelt words after syncs and edits, BenchmarkRank, the re-scoring of 100 candidates,
## and those of agent: the prompt of a turn beside the search in it, pruning, and a turn of sessions of different lengths
bench: build
	bin/kioku bench speed
	$(GO) test -tags '$(TAGS)' -run '^$$' -bench . -benchtime 1x -timeout 30m ./store
	$(GO) test -tags '$(TAGS)' -run '^$$' -bench 'Rescore|Rank' -benchtime 200x ./search
	$(GO) test -run '^$$' -bench . -benchtime 300x ./agent/sidecar ./agent/prune ./agent/session

## performance: measure anew what docs/performance.md shows
performance: build
	bin/kioku bench speed --markdown --plot docs/performance.svg >bin/performance.md
	sed -i -e '/^<!-- figures -->$$/,/^<!-- end of figures -->$$/{//!d}' \
		-e '/^<!-- figures -->$$/r bin/performance.md' docs/performance.md

## demo: index the example workspace, serve it, ask five questions over gRPC; offline, without a key
demo: build
	@bin/kioku demo --workspace examples/workspace

## proto: generate the Go code from proto/ again
proto:
	$(GO) run $(BUF) generate

## lint-proto: buf lint, and that the generated code is that of proto/
lint-proto: proto
	$(GO) run $(BUF) lint
	git diff --exit-code proto

## docker: the container image
docker:
	docker build -t kioku:$(VERSION) --build-arg VERSION=$(VERSION) .

clean:
	rm -rf bin
