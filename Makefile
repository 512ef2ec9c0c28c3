# Kioku. "make demo" shows it at work, "make test" runs every test, "make build" leaves bin/kioku.

GO       ?= go
# The one place that names the build tags: FTS5 has to be compiled into go-sqlite3.
TAGS     := sqlite_fts5
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -X main.version=$(VERSION)

# sqlite-vec includes <sqlite3.h>. go-sqlite3 ships it as sqlite3-binding.h; internal/sqlite3h holds a one-line
# sqlite3.h that includes it, so that header and library agree and no -dev package is needed.
SQLITE   := $(shell $(GO) list -m -f '{{.Dir}}' github.com/mattn/go-sqlite3 2>/dev/null || true)
export CGO_ENABLED := 1
export CGO_CFLAGS  := -O2 -I$(CURDIR)/internal/sqlite3h -I$(SQLITE)

.PHONY: build
build:
	$(GO) build -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o bin/kioku ./cmd/kioku
