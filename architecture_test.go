package kioku_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mayImport lists, for each package, the packages of Kioku that it may import directly. "agent" stands for the package agent
// and those below it, "agent/*" for those below it only.
var mayImport = map[string]string{
	"memory":                 "",
	"chunker":                "internal/text",
	"internal/text":          "",
	"internal/files":         "internal/text",
	"server/httpapi":         "memory",
	"internal/modelhttp":     "internal/text",
	"internal/trace":         "",
	"internal/buildflags":    "",
	"packaging":              "",
	"internal/testkit":       "",
	"internal/records":       "internal",
	"server/op":              "server/httpapi memory internal",
	"server/fair":            "",
	"internal/secrets":       "",
	"proto/kioku/v1":         "",
	"atlas":                  "memory search/analysis",
	"examples":               "",
	"embed":                  "embed/local internal/modelhttp internal/secrets internal/text internal/trace",
	"embed/local":            "embed/local/encoder embed/local/tokenizer",
	"embed/local/tokenizer":  "",
	"embed/local/encoder":    "",
	"llm":                    "internal/modelhttp internal/text",
	"llm/llmtest":            "llm",
	"llm/ask":                "llm internal/text",
	"llm/echo":               "llm internal/text",
	"indexer":                "memory chunker internal",
	"search/analysis":        "",
	"search/dates":           "search/analysis",
	"search":                 "memory chunker embed search/analysis search/dates internal",
	"store/slab":             "search/analysis",
	"store/checksumvfs":      "",
	"store/storetest":        "store/checksumvfs",
	"vectors":                "memory chunker embed internal",
	"store":                  "memory chunker embed indexer vectors atlas search search/analysis search/dates store/checksumvfs store/slab internal/text internal/buildflags",
	"history":                "memory chunker internal",
	"pgstore":                "memory",
	"pgstore/pgtest":         "",
	"note":                   "memory chunker search/analysis note/forgotten internal",
	"note/forgotten":         "search/analysis internal/files internal/text",
	".":                      "memory history note note/forgotten search/analysis derive/store vectors chunker embed indexer search store store/slab internal atlas",
	"client":                 "derive/unit memory server/op",
	"agent":                  ". agent embed llm memory",
	"agent/*":                "llm memory search/analysis derive/vocab note/forgotten internal",
	"server":                 "derive/unit server/fair server/httpapi server/op vectors council council/engine council/member . memory agent proto embed indexer llm internal derive/vocab",
	"server/web":             "chunker internal/text memory server server/httpapi server/op",
	"server/mcp":             ". server server/httpapi server/op agent client indexer memory",
	"server/front":           "server/mcp server/op server/web",
	"server/metrics":         "derive/unit server server/httpapi council/engine memory llm embed indexer internal .",
	"server/audit":           "server internal",
	"derive":                 "derive/contract derive/decision derive/resolve derive/rule derive/store derive/unit derive/view derive/vocab llm llm/ask memory search/analysis internal",
	"derive/vocab":           "memory search/analysis",
	"derive/unit":            "memory",
	"derive/store":           "derive/unit derive/vocab memory search search/analysis store store/checksumvfs internal",
	"derive/resolve":         "derive/unit derive/vocab memory internal",
	"derive/decision":        "derive/unit memory internal",
	"derive/view":            "derive/unit derive/vocab chunker memory internal",
	"derive/recall":          "derive/unit derive/store derive/vocab memory search/analysis search/dates internal",
	"derive/contract":        "derive/unit derive/vocab llm llm/ask memory search/analysis search/dates internal",
	"derive/derivetest":      "llm",
	"derive/rule":            "derive/unit derive/vocab memory chunker search/analysis search/dates internal",
	"council":                "memory internal",
	"council/member":         "council agent llm llm/ask llm/echo memory internal",
	"council/template":       "council memory internal",
	"council/folder":         "council council/flow internal",
	"council/flow":           "council",
	"council/engine":         "council council/flow council/folder council/member agent/bootstrap agent/program agent/prompt agent/recall agent/tools llm memory internal",
	"council/counciltest":    "council council/member",
	"bench":                  ". memory indexer search search/analysis internal",
	"bench/speed":            "", // its benchmarks use what they measure
	"bench/soak":             "", // its tests use proto, store and store/storetest
	"proto/gateway/kioku/v1": "proto",

	"derive/derivetest/scriptedmodel": "derive/derivetest",
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
		name := place(p.ImportPath)
		if strings.HasPrefix(name, "cmd/") {
			continue // may import everything
		}
		allowed, known := mayImport[name]
		if !known && strings.HasPrefix(name, "agent/") {
			allowed, known = mayImport["agent/*"]+" agent", true
		}
		if !known {
			t.Errorf("%s has no layer: add it to the test and to ARCHITECTURE.md", name)
			continue
		}
		for _, dep := range p.Imports {
			if (dep == "kioku" || strings.HasPrefix(dep, "kioku/")) && !admits(strings.Fields(allowed), place(dep)) {
				t.Errorf("%s may not import %s", name, place(dep))
			}
		}
	}
}

// place returns the folder of a package, "." for the root.
func place(importPath string) string {
	if importPath == "kioku" {
		return "."
	}
	return strings.TrimPrefix(importPath, "kioku/")
}

// admits reports whether allowed names a folder, or stands for it.
func admits(allowed []string, folder string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		return folder == a || slices.Contains([]string{"agent", "proto", "internal"}, a) && strings.HasPrefix(folder, a+"/")
	})
}

func TestOnlyTheStoresKnowSQLite(t *testing.T) {
	allowed := []string{"store", "store/storetest", "vectors", "derive/store"}
	for _, p := range list(t) {
		for _, dep := range p.Imports {
			sql := dep == "database/sql" || strings.Contains(dep, "go-sqlite3") || strings.Contains(dep, "sqlite-vec")
			if sql && !slices.Contains(allowed, place(p.ImportPath)) {
				t.Errorf("%s imports %s", p.ImportPath, dep)
			}
		}
	}
}

// Without cgo, files remain of these packages and of all they import. That they compile, make darwin shows.
func TestLeavesAndAgentNeedNoCgo(t *testing.T) {
	below := belowAgent(t)
	for _, p := range list(t) {
		for _, dep := range p.Deps {
			if slices.Contains(below, "./"+place(p.ImportPath)) && slices.Contains([]string{"kioku", "kioku/chunker", "kioku/embed", "kioku/indexer"}, dep) {
				t.Errorf("%s depends on %s", p.ImportPath, dep)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "./memory", "./chunker", "./embed/...", "./store/slab", "./search/...", "./indexer", "./atlas", "./client", "./llm/...", "./proto/...", "./council/..."}, below...)...)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// belowAgent returns the packages below the folder agent. The package agent itself is the only one that opens a memory.
func belowAgent(t *testing.T) []string {
	entries, err := os.ReadDir("agent")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, "./agent/"+e.Name())
		}
	}
	return folders
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
		checkDocs(t, fset, p.ImportPath, d)
	}
}

// checkDocs reports the exported symbols of a package without a comment that begins with their name.
func checkDocs(t *testing.T, fset *token.FileSet, importPath string, d *doc.Package) {
	t.Helper()
	if first := d.Synopsis(d.Doc); !strings.HasSuffix(first, ".") {
		t.Errorf("%s has no package comment that begins with a sentence: %q", importPath, first)
	}
	funcs := d.Funcs
	for _, typ := range d.Types {
		check(t, importPath, typ.Name, typ.Doc)
		checkFields(t, fset, importPath, typ)
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

// checkFields reports the exported fields of a struct without a comment, above them or on their line. A comment also is one of the fields in the
// lines right below. What a field with a JSON name or an operation is, the names say.
func checkFields(t *testing.T, fset *token.FileSet, importPath string, typ *doc.Type) {
	t.Helper()
	for _, spec := range typ.Decl.Specs {
		spec := spec.(*ast.TypeSpec)
		structure, ok := spec.Type.(*ast.StructType)
		if !ok || spec.Name.Name != typ.Name || !ast.IsExported(typ.Name) {
			continue
		}
		covered := -1
		for _, field := range structure.Fields.List {
			line := fset.Position(field.Pos()).Line
			if field.Doc != nil || covered == line-1 && covered > 0 {
				covered = fset.Position(field.End()).Line
			}
			generic, _ := field.Type.(*ast.IndexListExpr)
			isWire := field.Tag != nil && strings.Contains(field.Tag.Value, "json:") || generic != nil
			for _, name := range field.Names {
				if name.IsExported() && field.Doc == nil && field.Comment == nil && covered != line && !isWire {
					t.Errorf("%s: the field %s.%s has no comment", path.Base(importPath), typ.Name, name)
				}
			}
		}
	}
}

// namedFunc is a function as ARCHITECTURE.md names it: `folder/file.go: Name`; or only a file.
var namedFunc = regexp.MustCompile("`([a-z/]+\\.go)(?:: (\\w+))?`")

func TestArchitectureNamesWhatExists(t *testing.T) {
	for _, name := range []string{"ARCHITECTURE.md", "search/DESIGN.md", "store/DESIGN.md", "indexer/DESIGN.md", "server/DESIGN.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range namedFunc.FindAllStringSubmatch(string(text), -1) {
			src, err := os.ReadFile(filepath.Join(filepath.Dir(name), m[1]))
			defined := regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + m[2] + `[\[(]`)
			if err != nil || m[2] != "" && !defined.Match(src) {
				t.Errorf("%s names %s, which does not exist", name, strings.Trim(m[0], "`"))
			}
		}
	}
}
