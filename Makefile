# Kioku. "make demo" shows it at work, "make test" runs every test, "make build" leaves bin/kioku.
# Go and gcc are all that is needed; everything else comes through the Go module proxy.

GO      ?= go
# The one place that names the build tags: FTS5 has to be compiled into go-sqlite3.
TAGS    := sqlite_fts5
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X main.version=$(VERSION)

# sqlite-vec includes <sqlite3.h>. go-sqlite3 ships it as sqlite3-binding.h, and internal/sqlite3h holds a one-line
# sqlite3.h that includes that, so that header and library agree and no -dev package is needed. Go's cache has a copy of that line,
# since flags are part of the cache's keys: clones in other folders share the compiled SQLite.
SQLITE  := $(shell $(GO) mod download -json github.com/mattn/go-sqlite3 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
HEADER  := $(shell dir="$$($(GO) env GOCACHE)/kioku" && mkdir -p "$$dir" && \
	{ cmp -s internal/sqlite3h/sqlite3.h "$$dir/sqlite3.h" || cp internal/sqlite3h/sqlite3.h "$$dir"; } && echo "$$dir")
export CGO_ENABLED := 1
export CGO_CFLAGS  := -O2 -I$(HEADER) -I$(SQLITE)

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
BUF         := github.com/bufbuild/buf/cmd/buf@v1.57.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
NFPM        := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0

# The database of known vulnerabilities; file:///DIR for a copy.
VULNDB ?= https://vuln.go.dev

# Where "make install" puts kioku: /usr/local for root, else ~/.local. DESTDIR is put before it.
PREFIX ?= $(if $(filter 0,$(shell id -u)),/usr/local,$(HOME)/.local)

# How long "make fuzz" runs each fuzz test.
FUZZTIME ?= 10s

# How many minutes make soak attacks (its long loops are shorter too if these are fewer than 5), and the seed of what it attacks and of the schedules of tests; 0 is another one each time.
MINUTES ?= 5
SEED    ?= 0

.PHONY: build static reproducible install uninstall dist deb library darwin test steady test-models test-clients test-cluster cluster faults soak attack race race-shared asan fuzz vet lint lint-proto vuln bench bench-table bench-growth bench-models keystroke demo proto docker clean

## build: bin/kioku for this machine
build:
	$(GO) build -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o bin/kioku ./cmd/kioku

# The file that static makes.
OUT ?= bin/kioku

## static: bin/kioku without shared libraries and without the names of this machine's folders, as the container holds it
static:
	$(GO) build -trimpath -buildvcs=false -tags '$(TAGS) netgo osusergo sqlite_omit_load_extension' \
		-ldflags '$(LDFLAGS) -s -w -linkmode external -extldflags "-static"' -o $(OUT) ./cmd/kioku

## reproducible: that the static binary is the same if it is built in another folder
reproducible: static
	@again=$$(mktemp -d) && trap 'rm -rf "$$again"' EXIT && \
	git ls-files -z | tar --null --files-from=- --create | tar --extract --directory="$$again" && \
	$(MAKE) --no-print-directory -C "$$again" static VERSION='$(VERSION)' && \
	sha256sum bin/kioku "$$again/bin/kioku" && cmp bin/kioku "$$again/bin/kioku"

## install: kioku, its completions, manual pages and systemd user units under PREFIX
install: build
	@$(MAKE) --no-print-directory tree ROOT='$(DESTDIR)$(PREFIX)' BINARY=bin/kioku UNIT_BIN='$(PREFIX)/bin'
	@echo 'installed $(PREFIX)/bin/kioku'
	@case ':$(PATH):' in *:'$(PREFIX)/bin':*) ;; *) echo 'it is not on your PATH; run: export PATH="$(PREFIX)/bin:$$PATH"';; esac

## uninstall: take away what install has put there; notes, indexes and settings stay
uninstall:
	rm -f $(foreach file,bin/kioku share/systemd/user/kioku.service share/systemd/user/kioku.socket share/bash-completion/completions/kioku \
		share/zsh/site-functions/_kioku share/fish/vendor_completions.d/kioku.fish,'$(DESTDIR)$(PREFIX)/$(file)')
	rm -f '$(DESTDIR)$(PREFIX)'/share/man/man1/kioku.1 '$(DESTDIR)$(PREFIX)'/share/man/man1/kioku-*.1

# The files of an installation under ROOT. UNIT_BIN is the folder of kioku that the systemd unit names.
.PHONY: tree
tree:
	install -d '$(ROOT)/bin' '$(ROOT)/share/systemd/user' '$(ROOT)/share/bash-completion/completions' \
		'$(ROOT)/share/zsh/site-functions' '$(ROOT)/share/fish/vendor_completions.d'
	install -m 755 '$(BINARY)' '$(ROOT)/bin/kioku'
	sed 's|%h/.local/bin|$(UNIT_BIN)|' docs/kioku.service >'$(ROOT)/share/systemd/user/kioku.service'
	install -m 644 docs/kioku.socket '$(ROOT)/share/systemd/user/kioku.socket'
	bin/kioku man '$(ROOT)/share/man/man1'
	bin/kioku completion bash >'$(ROOT)/share/bash-completion/completions/kioku'
	bin/kioku completion zsh >'$(ROOT)/share/zsh/site-functions/_kioku'
	bin/kioku completion fish >'$(ROOT)/share/fish/vendor_completions.d/kioku.fish'

# What dist and deb are made for: this machine, and arm64 if its compiler is there (Debian: gcc-aarch64-linux-gnu).
DIST_ARCHS := $(sort $(shell $(GO) env GOARCH) $(if $(shell command -v aarch64-linux-gnu-gcc),arm64))
# Dates in packages, so that equal sources make equal packages.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH
# The name of the wheel on PyPI, and the repository of the release, for the formula.
PYPI   ?= kioku-cli
GITHUB ?= OWNER/kioku

## dist: what a release has (docs/release.md) in bin/dist, and nothing else there
dist: build $(DIST_ARCHS:%=bin/linux-%/kioku)
	rm -rf bin/dist && mkdir -p bin/dist
	git archive --format tar --prefix 'kioku-$(VERSION)/' HEAD | gzip -9n >'bin/dist/kioku-$(VERSION)-source.tar.gz'
	$(GO) run ./packaging -version '$(VERSION)' -pypi '$(PYPI)' -github '$(GITHUB)' $(foreach arch,$(DIST_ARCHS),$(arch)=bin/linux-$(arch)/kioku)
	$(MAKE) --no-print-directory $(DIST_ARCHS:%=deb-%)
	cd bin/dist && sha256sum * >SHA256SUMS && cat SHA256SUMS

.PRECIOUS: bin/linux-%/kioku
.PHONY: FORCE
bin/linux-%/kioku: FORCE
	GOARCH=$* $(if $(filter-out $(shell $(GO) env GOHOSTARCH),$*),CC=aarch64-linux-gnu-gcc) $(MAKE) --no-print-directory static OUT='$@'

## deb: Debian packages in bin/dist
deb: build $(DIST_ARCHS:%=bin/linux-%/kioku)
	$(MAKE) --no-print-directory $(DIST_ARCHS:%=deb-%)

# The Debian package of the binary that is there. The files of the package have the dates of its tree.
deb-%:
	rm -rf bin/linux-$*/root && $(MAKE) --no-print-directory tree ROOT=bin/linux-$*/root BINARY=bin/linux-$*/kioku UNIT_BIN=/usr/bin
	install -d bin/linux-$*/root/share/doc/kioku && install -m 644 LICENSE bin/linux-$*/root/share/doc/kioku/copyright
	find bin/linux-$*/root -exec touch --no-dereference --date '@$(SOURCE_DATE_EPOCH)' {} +
	mkdir -p bin/dist
	ARCH=$* VERSION='$(patsubst v%,%,$(if $(filter v%,$(VERSION)),$(VERSION),0.0.0+$(VERSION)))' ROOT=bin/linux-$*/root \
		CGO_ENABLED=0 GOFLAGS= $(GO) run $(NFPM) package --packager deb --target bin/dist/

## library: that another module can import Kioku, with the flags of docs/install.md
library:
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && cp examples/library/main.go.txt "$$dir/main.go" && cp go.sum "$$dir" && cd "$$dir" && \
	sed -e 's|^module kioku$$|module library|' -e '$$a require kioku v0.0.0' -e '$$a replace kioku => $(CURDIR)' '$(CURDIR)/go.mod' >go.mod && \
	export GOFLAGS="$$GOFLAGS -mod=mod" && \
	export CGO_CFLAGS="-O2 -I$$($(GO) list -m -f '{{.Dir}}' kioku)/internal/sqlite3h -I$$($(GO) list -m -f '{{.Dir}}' github.com/mattn/go-sqlite3)" && \
	$(GO) run -tags '$(TAGS)' .

## darwin: that the packages that need no C compiler of macOS build for it, on Apple silicon, since no file of theirs is for one processor
## only, and the council for small ARM boards too
darwin: export GOOS = darwin
darwin: export CGO_ENABLED = 0
darwin:
	@free=$$($(GO) list -e -tags '$(TAGS)' -f '{{if and .GoFiles (not .DepsErrors)}}{{.ImportPath}} {{.Imports}} {{.Deps}}{{end}}' ./... | \
		grep -v mattn/go-sqlite3 | cut -d ' ' -f 1) && \
	GOARCH=arm64 $(GO) build -tags '$(TAGS)' $$free && \
	GOOS=linux GOARCH=arm64 $(GO) build -tags '$(TAGS)' ./council/... && \
	echo "$$(echo "$$free" | wc -l) packages build for macOS; the others need its SDK"

# Flags of the tests that generate schedules with rapid, none for more schedules from a random seed; and flags of go test.
RAPID ?= -rapid.seed=1 -rapid.checks=15
TESTFLAGS ?=
# Lists the packages, each with what its tests import.
IMPORTS = $(GO) list -tags '$(TAGS)' -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./...

# Half of the time of a hundred test programs is linking, and half of that is what only debuggers read; make lint vets.
QUICK := -ldflags=-w -vet=off

## test: every test, once, with schedules from fixed seeds; what takes longest goes first
test:
	@$(GO) test -tags '$(TAGS)' -timeout 30m $(QUICK) $(TESTFLAGS) kioku/cmd/kioku kioku/store $$($(IMPORTS) | sed -n '/rapid/s/ .*//p') $(RAPID); generated=$$?; \
	$(GO) test -tags '$(TAGS)' -timeout 30m $(QUICK) $(TESTFLAGS) kioku kioku/derive $$($(IMPORTS) | sed '/rapid/d; s/ .*//') && exit $$generated

# How many times make steady runs the tests.
RUNS ?= 10

## steady: every test RUNS times beside a load on each processor, since none may fail because the machine is slow
steady:
	@for _ in $$(seq $$(nproc)); do while :; do :; done & load="$$load $$!"; done; trap 'kill $$load' EXIT; trap 'exit 1' INT TERM; \
	for run in $$(seq $(RUNS)); do \
		start=$$(date +%s); $(MAKE) --no-print-directory test TESTFLAGS=-count=1 || exit 1; echo "run $$run of $(RUNS): $$(($$(date +%s) - start)) s"; \
	done

# The token ids and vectors of another runtime that test-models compares with.
GOLDEN ?= $(MODELS)/golden.json

## test-models: that the models in the folder MODELS compute what another runtime has computed with them (GOLDEN); .ci/models gets some
test-models:
	@test -n '$(MODELS)' || { echo 'name the folder of the models: make test-models MODELS=DIR'; exit 1; }
	KIOKU_MODELS='$(abspath $(MODELS))' KIOKU_GOLDEN='$(abspath $(GOLDEN))' \
		$(GO) test -tags '$(TAGS)' -count 1 -run 'TestRealModels|TestEncodeEqualsAnotherRuntime' ./embed ./embed/local/encoder

## test-clients: that real clients, which are installed in the folder KIOKU_CLIENTS, remember; .ci/clients installs some
test-clients:
	@test -n '$(KIOKU_CLIENTS)' || { echo 'name the folder of the clients: make test-clients KIOKU_CLIENTS=DIR'; exit 1; }
	KIOKU_CLIENTS='$(abspath $(KIOKU_CLIENTS))' $(GO) test -tags '$(TAGS)' -count 1 -v -run TestClients ./cmd/kioku

## cluster: three PostgreSQL nodes with Patroni and three of Kioku show what happens when some of them are lost; ends by itself
cluster:
	@.ci/postgres $(GO) test -tags '$(TAGS)' -count 1 -timeout 10m $(QUICK) -run TestDemoOfSixMachines -v ./cmd/kioku

## faults: that three PostgreSQL nodes with Patroni and three of Kioku lose nothing whatever fails, with CHURN of edits at the end, and a table
CHURN ?= 10m
faults:
	@KIOKU_CHURN='$(CHURN)' .ci/postgres $(GO) test -tags '$(TAGS)' -count 1 -timeout 25m $(QUICK) -run TestFaults -v ./cmd/kioku

## test-cluster: what several nodes share by PostgreSQL, whose programs are in the folder KIOKU_POSTGRES; .ci/postgres installs them
test-cluster:
	@test -n '$(KIOKU_POSTGRES)' || { echo 'name the folder of initdb and postgres: make test-cluster KIOKU_POSTGRES=DIR'; exit 1; }
	KIOKU_POSTGRES='$(KIOKU_POSTGRES)' $(GO) test -tags '$(TAGS)' -count 1 ./pgstore
	KIOKU_POSTGRES='$(KIOKU_POSTGRES)' $(GO) test -tags '$(TAGS)' -count 1 -run Cluster ./cmd/kioku/internal/host ./cmd/kioku

## soak: the attacks, and the tests that repeat something for long (kills, damaged pages, growth) in full; -count 1, because go test
## would hash the millions of files that they open, to know when the result may be repeated
soak: attack
	KIOKU_SOAK=$(MINUTES) KIOKU_SEED=$(SEED) $(GO) test -tags '$(TAGS)' -count 1 -timeout 30m ./store/... ./indexer
	KIOKU_SOAK=$(MINUTES) KIOKU_SEED=$(SEED) $(GO) test -tags '$(TAGS)' -count 1 -timeout 30m -run "^($$($(LONG)))$$" . ./chunker ./agent/... ./council/... ./derive ./server ./cmd/kioku

# Lists the tests of the files that ask testkit how long they are to be. The store and the indexer ask it for all of theirs.
LONG = git grep -lE 'testkit\.(Soak|Rounds)' -- '*_test.go' | xargs sed -n 's/^func \(Test[A-Za-z0-9]*\)(t .*/\1/p' | paste -sd '|'

## attack: kill, damage and crowd a running daemon for MINUTES, and print the table of what was found
attack:
	$(GO) test -tags '$(TAGS)' -count 1 -timeout 2h -run '^TestSoak$$' -v ./bench/soak -minutes $(MINUTES) -seed $(SEED)

# Packages with tests in which something runs beside something else or guards against it. In others the race detector has nothing to look at.
RACED = git ls-files '*_test.go' | grep -v '^browser/' | xargs -n 1 dirname | sort -u | while read -r dir; do \
	! grep -qE '\<go [A-Za-z_.]+\(|"sync|errgroup|chan ' "$$dir"/*.go || echo "./$$dir"; done
# Tests that read the sources, and tests that run one command of kioku after another and look at what it prints.
READS_SOURCES := (NoCgo|DAG|Documented|Licences|RankMatchesRecord)
ONE_COMMAND   := ^Test(Bench|Doctor|Setup|Tune|Restore|Backup|Model|History|Output|Misuse|Readme|NoCommand|Bash|Completion|Workspace|Init|Manual)

# The packages whose goroutines share the most, and the tests in others in which several things happen at once.
SHARED  := ./agent/recall ./client ./embed ./indexer ./server/fair ./server ./server/mcp ./store/slab
AT_ONCE := Concurrent|AtOnce|While|During|Beside|Watch|Meanwhile|Many|FromTwo|OneAtATime|RunsOnce|SlowReaders|NeverStale|EverySchedule

## race-shared: the tests in which the race detector finds the most, with short schedules
## race: the tests of the packages in which the race detector can find something; -O1 compiles SQLite in half the time
race race-shared: export CGO_CFLAGS += -O1
race-shared:
	$(GO) test -race -tags '$(TAGS)' -timeout 30m $(SHARED)
	$(GO) test -race -tags '$(TAGS)' -timeout 30m -run '$(AT_ONCE)' .
	$(GO) test -race -tags '$(TAGS)' -timeout 30m -run '$(AT_ONCE)' ./store ./council/engine ./agent/sidecar $(RAPID)
race:
	$(GO) test -race -tags '$(TAGS)' -timeout 20m -skip '$(READS_SOURCES)' $$($(RACED) | grep -v '^./cmd/kioku$$')
	$(GO) test -race -tags '$(TAGS)' -timeout 20m -skip '$(ONE_COMMAND)' ./cmd/kioku

## asan: the tests of the store and the encoder with the C code of SQLite, sqlite-vec and ours under the address sanitizer
asan:
	CGO_CFLAGS='$(CGO_CFLAGS) -O1' $(GO) test -asan -tags '$(TAGS)' ./store/... ./embed/local/encoder

## fuzz: every fuzz test for FUZZTIME; what it finds is written into testdata/fuzz of its package
fuzz:
	@root=$$(mktemp -d) && trap 'rm -rf "$$root"' EXIT && \
	for package in $$(git grep -l '^func Fuzz' -- '*_test.go' | xargs -n 1 dirname | sort -u); do \
		CGO_CFLAGS='$(CGO_CFLAGS) -O1' $(GO) test -c -fuzz . -tags '$(TAGS)' -o "$$root/test" "./$$package" || exit 1; \
		for func in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$$package"/*_test.go); do \
			echo "$$package: $$func"; \
			fuzz() { (cd "$$package" && "$$root/test" -test.run '^$$' -test.fuzz "^$$func\$$" -test.fuzztime $(FUZZTIME) \
				-test.fuzzminimizetime 1s -test.fuzzcachedir "$$($(GO) env GOCACHE)/fuzz/kioku/$$package"); }; \
			fuzz || { echo 'once more: what it found is found again; that its time was over in the middle of a call is not'; fuzz; } || exit 1; \
		done; \
	done

vet:
	$(GO) vet -tags '$(TAGS)' ./...

## lint: gofmt, go vet, staticcheck
lint: vet
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' | grep -v '\.pb\.go$$')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change: $$unformatted"; exit 1; fi
	$(GO) run $(STATICCHECK) -tags '$(TAGS)' ./...

## vuln: known vulnerabilities in what the code calls, if their database can be reached
vuln:
	@if $(GO) run $(GOVULNCHECK) -db '$(VULNDB)' -version | grep -q '^DB updated'; then \
		$(GO) run $(GOVULNCHECK) -db '$(VULNDB)' -tags '$(TAGS)' ./...; \
	else echo "not checked: the database $(VULNDB) cannot be reached"; fi

# SIZES are the chunks that rows of make bench are measured with whose cost depends on them; BENCH selects rows by their names.
SIZES ?= 1000,10000,100000
BENCH ?= .
SPEED = $(GO) test -tags '$(TAGS)' -run '^$$' -bench 'Speed/$(BENCH)' -benchtime 1x -timeout 2h ./bench/speed -program bin/kioku -table

## bench: the speed table, a ratio of two things measured in the same run a row; then the Go benchmarks that have no row:
## BenchmarkMisspelt, look-ups of misspelt words after syncs and edits, BenchmarkRank, the re-scoring of 100 candidates,
## and those of agent: the prompt of a turn beside the search in it, pruning, and a turn of sessions of different lengths
bench: bench-table
	$(GO) test -tags '$(TAGS)' -run '^$$' -bench . -benchtime 1x -timeout 30m ./store
	$(GO) test -tags '$(TAGS)' -run '^$$' -bench 'Rescore|Rank' -benchtime 200x ./search
	$(GO) test -run '^$$' -bench . -benchtime 300x ./agent/sidecar ./agent/prune ./agent/session

## bench-table: only the speed table
bench-table: build
	$(SPEED) $(CURDIR)/bin/speed.md -sizes '$(SIZES)'
	@cat bin/speed.md

## bench-growth: only the table of a cluster that grows, for which KIOKU_POSTGRES is needed as in test-cluster, 20 GB of disk and half an hour
bench-growth: build
	@test -n '$(KIOKU_POSTGRES)' || { echo 'name the folder of initdb and postgres: make bench-growth KIOKU_POSTGRES=DIR'; exit 1; }
	KIOKU_POSTGRES='$(KIOKU_POSTGRES)' $(GO) test -tags '$(TAGS)' -run '^$$' -bench Growth -benchtime 1x -timeout 2h ./bench/speed -program bin/kioku -table $(CURDIR)/bin/growth.md
	@cat bin/growth.md

## bench-models: the encoder beside ONNX Runtime, with the models and python/bin/python of the folder MODELS
bench-models:
	KIOKU_MODELS='$(abspath $(MODELS))' $(GO) test -run '^$$' -bench ONNX -benchtime 5x ./embed/local/encoder

## keystroke: the time from a key to the results on the screen of Chromium, of the daemon at KEYSTROKE_BASE
KEYSTROKE_TEXT ?= what did we decide about the garden
keystroke:
	cd browser && KEYSTROKE_BASE='$(KEYSTROKE_BASE)' KEYSTROKE_TEXT='$(KEYSTROKE_TEXT)' $(GO) test -count=1 -v -run TestKeystroke .

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
