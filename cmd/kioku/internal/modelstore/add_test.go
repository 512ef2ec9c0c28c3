package modelstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
)

// modelFiles are the files of a model, whose content nothing here reads.
func modelFiles() map[string]string {
	return map[string]string{
		"model.safetensors":     strings.Repeat("weights ", 1000),
		"tokenizer.json":        `{"model":{}}`,
		"config.json":           `{"model_type":"bert"}`,
		"1_Pooling/config.json": `{"pooling_mode_mean_tokens":true}`,
		"README.md":             "---\nlicense: mit\nlanguage:\n- en\n- ja\n---\n# A model\n",
		"train.py":              "print()",
	}
}

// writeFiles writes files below a folder.
func writeFiles(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		testkit.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)))
	}
	return dir
}

// newAdder returns an adder that takes any file of weights for a model.
func newAdder(t testing.TB) *Adder {
	return &Adder{
		Store: New(t.TempDir()),
		Open: func(_ context.Context, dir string, m Manifest) (Facts, error) {
			data, err := os.ReadFile(filepath.Join(dir, weightsName))
			if err == nil && !strings.HasPrefix(string(data), "weights") {
				err = errors.New("these are no weights")
			}
			return Facts{Kind: "static", Dims: 8}, err
		},
		Now:   func() time.Time { return time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC) },
		Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// add adds a model that can be added.
func add(t testing.TB, a *Adder, req Request) Model {
	t.Helper()
	m, err := a.Add(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// paths returns the paths of a model's files.
func paths(m Model) []string {
	var all []string
	for _, f := range m.Files {
		all = append(all, f.Path)
	}
	return all
}

func TestAddCopiesTheModelOfAFolder(t *testing.T) {
	t.Parallel()
	a := newAdder(t)
	from := writeFiles(t, filepath.Join(t.TempDir(), "Tiny Model"), modelFiles())
	m := add(t, a, Request{Source: from})
	got := []any{m.Name, m.Role, m.Source, m.Model, m.Dims, m.Kind, m.Err, paths(m)}
	want := []any{"tiny-model", Embedder, from, "Tiny Model", 8, "static", nil,
		[]string{"1_Pooling/config.json", "README.md", "config.json", "model.safetensors", "tokenizer.json"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	testkit.Must(t, os.RemoveAll(from))
	if err := m.Verify(t.Context()); err != nil {
		t.Errorf("it needs the folder that it came from: %v", err)
	}
	if info, err := os.Stat(m.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v %v", info.Mode(), err)
	}
}

// sentence-transformers keeps the weights of a static model in the folder of its module.
func TestAddTakesAStaticModelOutOfItsModule(t *testing.T) {
	t.Parallel()
	from := writeFiles(t, t.TempDir(), map[string]string{
		"0_StaticEmbedding/model.safetensors": "weights", "0_StaticEmbedding/tokenizer.json": "{}", "modules.json": "[]", "README.md": "Static.\n",
	})
	if diff := cmp.Diff([]string{"README.md", "model.safetensors", "modules.json", "tokenizer.json"}, paths(add(t, newAdder(t), Request{Source: from}))); diff != "" {
		t.Error(diff)
	}
}

func TestAddTakesAModelOutOfASnapshotOfLinks(t *testing.T) {
	t.Parallel()
	blobs := writeFiles(t, t.TempDir(), map[string]string{"1": "weights", "2": "{}"})
	snapshot := t.TempDir()
	for name, blob := range map[string]string{"model.safetensors": "1", "tokenizer.json": "2"} {
		testkit.Must(t, os.Symlink(filepath.Join(blobs, blob), filepath.Join(snapshot, name)))
	}
	link := filepath.Join(t.TempDir(), "latest")
	testkit.Must(t, os.Symlink(snapshot, link))
	if m := add(t, newAdder(t), Request{Source: link}); len(m.Files) != 2 || m.Verify(t.Context()) != nil {
		t.Errorf("%v", m.Files)
	}
}

func TestAddLeavesNothingHalf(t *testing.T) {
	t.Parallel()
	broken := modelFiles()
	broken["model.safetensors"] = "nothing"
	for name, c := range map[string]struct {
		files map[string]string
		req   Request
		says  string
	}{
		"cannot be opened": {broken, Request{}, "these are no weights"},
		"no weights":       {map[string]string{"model.onnx": "x", "tokenizer.json": "{}"}, Request{}, "an ONNX file (model.onnx)"},
		"no tokenizer":     {map[string]string{"model.safetensors": "weights", "vocab.txt": "a"}, Request{}, "no tokenizer.json"},
		"in parts": {map[string]string{"model-00001-of-00002.safetensors": "weights", "model.safetensors.index.json": "{}"},
			Request{}, "in several parts"},
		"bad name": {modelFiles(), Request{Name: "../up"}, "cannot be the name of a model"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAdder(t)
			c.req.Source = writeFiles(t, filepath.Join(t.TempDir(), "m"), c.files)
			if _, err := a.Add(t.Context(), c.req); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			if left := folders(t, a.Store.dir); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// folders returns the names of the folders in a folder.
func folders(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestAddReplacesAModelOnlyIfItIsToldTo(t *testing.T) {
	t.Parallel()
	a := newAdder(t)
	files := modelFiles()
	from := writeFiles(t, filepath.Join(t.TempDir(), "m"), files)
	before := add(t, a, Request{Source: from})
	files["model.safetensors"] = "weights of today"
	writeFiles(t, from, files)
	if _, err := a.Add(t.Context(), Request{Source: from}); !errors.Is(err, ErrAdded) {
		t.Errorf("%v", err)
	}
	after := add(t, a, Request{Source: from, Replace: true})
	if after.Bytes() == before.Bytes() || after.Verify(t.Context()) != nil {
		t.Errorf("%d bytes, %v", after.Bytes(), after.Verify(t.Context()))
	}
	files["model.safetensors"] = "nothing"
	writeFiles(t, from, files)
	if _, err := a.Add(t.Context(), Request{Source: from, Replace: true}); err == nil {
		t.Error("a model that cannot be opened was added")
	}
	if kept, err := a.Store.Find("m"); err != nil || kept.Verify(t.Context()) != nil || kept.Bytes() != after.Bytes() {
		t.Errorf("the model before is lost: %v", err)
	}
}

func TestAStoreRecoversFromAKill(t *testing.T) {
	t.Parallel()
	a := newAdder(t)
	from := writeFiles(t, filepath.Join(t.TempDir(), "m"), modelFiles())
	add(t, a, Request{Source: from})
	// One was killed while it put a model together, one between the two renames of a replacement, one while it removed a model.
	gone := filepath.Join(a.Store.dir, gonePrefix+"x")
	err := errors.Join(os.Mkdir(filepath.Join(a.Store.dir, addingPrefix+"1"), 0o700), os.Mkdir(gone, 0o700),
		os.Rename(a.Store.Dir("m"), filepath.Join(a.Store.dir, replacedPrefix+"m")))
	if err != nil {
		t.Fatal(err)
	}
	if all, err := a.Store.List(); err != nil || len(all) > 0 {
		t.Fatalf("half a model is listed: %v %v", all, err)
	}
	add(t, a, Request{Source: from, Name: "other"})
	if diff := cmp.Diff([]string{"m", "other"}, folders(t, a.Store.dir)); diff != "" {
		t.Error(diff)
	}
	if back, err := a.Store.Find("m"); err != nil || back.Verify(t.Context()) != nil {
		t.Errorf("the model that was to be replaced is lost: %v", err)
	}
}

func TestOneAddAtATime(t *testing.T) {
	t.Parallel()
	a := newAdder(t)
	from := writeFiles(t, filepath.Join(t.TempDir(), "m"), modelFiles())
	var during error
	open := a.Open
	a.Open = func(ctx context.Context, dir string, m Manifest) (Facts, error) {
		_, during = (&Adder{Store: a.Store, Open: open}).Add(ctx, Request{Source: from, Name: "second"})
		return open(ctx, dir, m)
	}
	add(t, a, Request{Source: from})
	if during == nil || !strings.Contains(during.Error(), "wait for it") {
		t.Errorf("%v", during)
	}
}

func TestModelsTellWhatIsBroken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breakIt func(m Model) error
		says    string
		// seen at a look at sizes, without reading the files.
		seen bool
	}{
		"a file is missing": {func(m Model) error { return os.Remove(filepath.Join(m.Dir, "tokenizer.json")) }, "tokenizer.json is missing", true},
		"a file was cut":    {func(m Model) error { return os.Truncate(filepath.Join(m.Dir, weightsName), 10) }, "has 10 bytes and had 8000", true},
		"a byte changed": {func(m Model) error {
			return os.WriteFile(filepath.Join(m.Dir, weightsName), []byte(strings.Repeat("Weights ", 1000)), 0o600)
		}, "has changed since it was added", false},
		"the manifest is garbage": {func(m Model) error { return os.WriteFile(filepath.Join(m.Dir, "..", manifestName), []byte("{"), 0o600) }, manifestName, true},
		"the manifest leaves the folder": {func(m Model) error {
			return os.WriteFile(filepath.Join(m.Dir, "..", manifestName), []byte(`{"role":"embedder","folder":"m","files":[{"path":"../../x"}]}`), 0o600)
		}, "leaves the folder", true},
		"the manifest names another folder": {func(m Model) error {
			return os.WriteFile(filepath.Join(m.Dir, "..", manifestName), []byte(`{"role":"embedder","folder":"..","files":[{"path":"x"}]}`), 0o600)
		}, "cannot be the folder", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAdder(t)
			m := add(t, a, Request{Source: writeFiles(t, filepath.Join(t.TempDir(), "m"), modelFiles())})
			testkit.Must(t, c.breakIt(m))
			m, err := a.Store.Find("m")
			if err != nil || (m.Err != nil) != c.seen {
				t.Fatalf("%v, %v", err, m.Err)
			}
			if err := m.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	a := newAdder(t)
	from := writeFiles(t, filepath.Join(t.TempDir(), "m"), modelFiles())
	m := add(t, a, Request{Source: from})
	if err := a.Store.Remove("n"); !errors.Is(err, ErrNotAdded) || !strings.Contains(err.Error(), "did you mean m?") {
		t.Errorf("%v", err)
	}
	testkit.Must(t, a.Store.Remove("m"))
	if _, err := os.Stat(a.Store.Dir(m.Name)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := a.Store.Find("minilm"); !errors.Is(err, ErrNotAdded) || !strings.Contains(err.Error(), "kioku model add minilm") {
		t.Errorf("%v", err)
	}
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	for _, k := range Catalog() {
		if CheckName(k.Name) != nil || !repository.MatchString(k.Repository) || len(k.Revision) != 40 || k.MB == 0 || k.License == "" ||
			k.Weights != "" && !sha256Tag.MatchString(k.Weights) {
			t.Errorf("%+v", k)
		}
		if found, ok := Lookup(strings.ToUpper(k.Repository)); !ok || found.Name != k.Name {
			t.Errorf("%s is not found by its repository", k.Name)
		}
	}
}

func TestTheDocumentationListsTheCatalog(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Catalog() {
		kind := k.Kind
		if k.Role == Reranker {
			kind = "re-ranker"
		}
		row := fmt.Sprintf("| `%s` | %s | %s | %d MB | %s | %s |\n", k.Name, k.Repository, kind, k.MB, k.License, k.Languages)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/models.md lacks %s", row)
		}
	}
}
