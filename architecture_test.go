package kioku_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allowed are the packages of Kioku that each one may import, directly or not.
var allowed = map[string][]string{
	"kioku/internal/remote":   {},
	"kioku/internal/filelock": {},
	"kioku/chunker":           {},
	"kioku/vector":            {},
	"kioku/embed":             {"kioku/internal/remote"},
	"kioku/llm":               {"kioku/internal/remote"},
	"kioku/llm/llmtest":       {"kioku/internal/remote", "kioku/llm"},
	"kioku/proto/kioku/v1":    {},
	"kioku/examples":          {},
	"kioku/indexer":           {"kioku/internal/remote", "kioku/chunker", "kioku/embed"},
	"kioku/search":            {"kioku/internal/remote", "kioku/chunker", "kioku/embed"},
	"kioku":                   {"kioku/internal/filelock", "kioku/internal/remote", "kioku/chunker", "kioku/embed", "kioku/indexer", "kioku/search", "kioku/vector"},
	"kioku/bench":             {"kioku/internal/filelock", "kioku/internal/remote", "kioku", "kioku/chunker", "kioku/embed", "kioku/indexer", "kioku/search", "kioku/vector"},
	"kioku/bench/speed": {"kioku/internal/filelock", "kioku/internal/remote", "kioku", "kioku/bench", "kioku/chunker", "kioku/embed", "kioku/indexer", "kioku/search", "kioku/vector", "kioku/server", "kioku/proto/kioku/v1",
		"kioku/llm", "kioku/internal/livefile", "kioku/agent", "kioku/agent/bootstrap", "kioku/agent/skills", "kioku/agent/prompt", "kioku/agent/recall", "kioku/agent/prune", "kioku/agent/session", "kioku/agent/compact", "kioku/agent/flush", "kioku/agent/sidecar"},
	"kioku/server": {"kioku/internal/filelock", "kioku/internal/remote", "kioku", "kioku/chunker", "kioku/embed", "kioku/indexer", "kioku/search", "kioku/vector", "kioku/proto/kioku/v1",
		"kioku/llm", "kioku/internal/livefile", "kioku/agent", "kioku/agent/bootstrap", "kioku/agent/skills", "kioku/agent/prompt", "kioku/agent/recall", "kioku/agent/prune", "kioku/agent/session", "kioku/agent/compact", "kioku/agent/flush", "kioku/agent/sidecar"},
	"kioku/agent":             {"kioku/proto/kioku/v1"},
	"kioku/agent/prune":       {"kioku/internal/remote", "kioku/llm"},
	"kioku/agent/session":     {"kioku/internal/filelock", "kioku/internal/remote", "kioku/llm", "kioku/agent/prune"},
	"kioku/agent/compact":     {"kioku/internal/filelock", "kioku/internal/remote", "kioku/llm", "kioku/agent/prune", "kioku/agent/session"},
	"kioku/internal/livefile": {"kioku/internal/remote", "kioku/chunker", "kioku/embed", "kioku/indexer"},
	"kioku/agent/bootstrap":   {"kioku/internal/remote", "kioku/internal/livefile", "kioku/chunker", "kioku/embed", "kioku/indexer"},
	"kioku/agent/skills":      {"kioku/internal/remote", "kioku/internal/livefile", "kioku/chunker", "kioku/embed", "kioku/indexer"},
	"kioku/agent/prompt":      {"kioku/internal/remote", "kioku/llm", "kioku/internal/livefile", "kioku/chunker", "kioku/embed", "kioku/indexer", "kioku/agent/bootstrap"},
	"kioku/agent/recall":      {"kioku/internal/remote", "kioku/llm", "kioku/internal/livefile", "kioku/chunker", "kioku/embed", "kioku/indexer", "kioku/agent/bootstrap", "kioku/agent/prompt", "kioku/agent", "kioku/proto/kioku/v1"},
	"kioku/agent/flush":       {"kioku/internal/filelock", "kioku/internal/remote", "kioku/llm", "kioku/agent", "kioku/proto/kioku/v1", "kioku/agent/prune", "kioku/agent/session"},
	"kioku/agent/claude":      {"kioku/internal/filelock", "kioku/internal/remote", "kioku/llm", "kioku/chunker", "kioku/embed", "kioku/indexer"},
	"kioku/agent/sidecar": {"kioku/internal/filelock", "kioku/internal/remote", "kioku/llm", "kioku/internal/livefile", "kioku/chunker", "kioku/embed", "kioku/indexer", "kioku/agent", "kioku/proto/kioku/v1",
		"kioku/agent/bootstrap", "kioku/agent/skills", "kioku/agent/prompt", "kioku/agent/recall", "kioku/agent/prune", "kioku/agent/session", "kioku/agent/compact", "kioku/agent/flush"},
	"kioku/agent/chat": {"kioku/internal/filelock", "kioku/internal/remote", "kioku/llm", "kioku/internal/livefile", "kioku/chunker", "kioku/embed", "kioku/indexer", "kioku/agent", "kioku/proto/kioku/v1",
		"kioku/agent/bootstrap", "kioku/agent/skills", "kioku/agent/prompt", "kioku/agent/recall", "kioku/agent/prune", "kioku/agent/session", "kioku/agent/compact", "kioku/agent/flush", "kioku/agent/sidecar"},
}

// pkg is what go list tells of a package.
type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
	GoFiles    []string
	CgoFiles   []string
	Dir        string
}

// list returns the packages of this module.
func list(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-tags", "sqlite_fts5", "-json=ImportPath,Imports,Deps,GoFiles,CgoFiles,Dir", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func TestImportsFormTheDocumentedDAG(t *testing.T) {
	for _, p := range list(t) {
		may, known := allowed[p.ImportPath]
		if !known {
			if !strings.HasPrefix(p.ImportPath, "kioku/cmd/") {
				t.Errorf("%s is in no place of the house: add it to the test and to ARCHITECTURE.md", p.ImportPath)
			}
			continue
		}
		for _, dep := range p.Deps {
			if (dep == "kioku" || strings.HasPrefix(dep, "kioku/")) && !slices.Contains(may, dep) {
				t.Errorf("%s may not depend on %s", p.ImportPath, dep)
			}
		}
	}
}

func TestOnlyTheRootPackageKnowsSQLite(t *testing.T) {
	for _, p := range list(t) {
		for _, dep := range p.Imports {
			sql := dep == "database/sql" || strings.Contains(dep, "go-sqlite3") || strings.Contains(dep, "sqlite-vec")
			if sql && p.ImportPath != "kioku" && p.ImportPath != "kioku/bench/speed" { // which measures against bare SQL
				t.Errorf("%s imports %s", p.ImportPath, dep)
			}
		}
	}
}

func TestLeavesAndAgentNeedNoCgo(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "build", "./chunker", "./embed", "./vector", "./search", "./indexer", "./agent/...", "./llm/...", "./proto/...")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestEveryExportedSymbolIsDocumented(t *testing.T) {
	for _, p := range list(t) {
		if strings.HasPrefix(p.ImportPath, "kioku/proto/") {
			continue // generated from the documented proto
		}
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range append(p.GoFiles, p.CgoFiles...) {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		d, err := doc.NewFromFiles(fset, files, p.ImportPath, doc.PreserveAST)
		if err != nil {
			t.Fatal(err)
		}
		checkDocs(t, p.ImportPath, d)
	}
}

// checkDocs reports the exported symbols of a package without a comment that begins with their name.
func checkDocs(t *testing.T, importPath string, d *doc.Package) {
	t.Helper()
	if d.Doc == "" {
		t.Errorf("%s has no package comment", importPath)
	}
	funcs := d.Funcs
	for _, typ := range d.Types {
		check(t, importPath, typ.Name, typ.Doc)
		funcs = append(append(funcs, typ.Funcs...), typ.Methods...)
	}
	for _, f := range funcs {
		check(t, importPath, f.Name, f.Doc)
	}
}

// check reports an exported symbol whose comment does not begin with its name.
func check(t *testing.T, importPath, name, doc string) {
	t.Helper()
	if ast.IsExported(name) && !strings.HasPrefix(doc, name+" ") && !strings.HasPrefix(doc, name+":") {
		t.Errorf("%s: the comment of %s does not begin with its name: %.40q", path.Base(importPath), name, doc)
	}
}
