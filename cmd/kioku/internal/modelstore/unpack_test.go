package modelstore

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// zipped returns a zip archive of files.
func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// entry is one entry of a tar archive.
type entry struct {
	name, text, link string
	kind             byte
}

// tarred returns a tar archive.
func tarred(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if e.kind == 0 {
			e.kind = tar.TypeReg
		}
		err := w.WriteHeader(&tar.Header{Name: e.name, Linkname: e.link, Typeflag: e.kind, Size: int64(len(e.text)), Mode: 0o644})
		if err == nil {
			_, err = w.Write([]byte(e.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tarredFiles returns a tar archive of files below a folder.
func tarredFiles(t testing.TB, below string, files map[string]string) []byte {
	t.Helper()
	entries := []entry{{name: below, kind: tar.TypeDir}}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		entries = append(entries, entry{name: below + name, text: files[name]})
	}
	return tarred(t, entries...)
}

// gzipped compresses bytes.
func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archiveFile writes an archive into a file.
func archiveFile(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAddTakesTheModelOutOfAnArchive(t *testing.T) {
	t.Parallel()
	wheel := map[string]string{ // a package whose names are not those of Hugging Face
		"words/weights/l2_256.safetensors": "weights", "words/tokenizers/l2_tokenizer_config.json": `{"model":{}}`, "words/config/train/a.toml": "x",
		"words/algo.so": "x", "words-1.0.dist-info/METADATA": "Name: words\nLicense: MIT\n", "words-1.0.dist-info/RECORD": "x",
	}
	module := map[string]string{
		"0_StaticEmbedding/model.safetensors": "weights", "0_StaticEmbedding/tokenizer.json": "{}", "modules.json": "[]", "README.md": "---\nlicense: mit\n---\n",
	}
	whole := []string{"1_Pooling/config.json", "README.md", "config.json", "model.safetensors", "tokenizer.json"}
	for name, c := range map[string]struct {
		data    []byte
		want    []string
		license string
	}{
		"tiny.zip":    {zipped(t, modelFiles()), whole, "mit"},
		"tiny.tar":    {tarredFiles(t, "./", modelFiles()), whole, "mit"},
		"tiny.tar.gz": {gzipped(t, tarredFiles(t, "tiny/", modelFiles())), whole, "mit"},
		"tiny.tgz":    {gzipped(t, tarredFiles(t, "a/b/", modelFiles())), whole, "mit"},
		"tiny-1.0-cp311-cp311-manylinux_2_17_x86_64.whl": {zipped(t, wheel), []string{"model.safetensors", "tokenizer.json"}, "MIT"},
		"Tiny": {zipped(t, module), []string{"README.md", "model.safetensors", "modules.json", "tokenizer.json"}, "mit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := add(t, newAdder(t), Request{Source: archiveFile(t, name, c.data)})
			if diff := cmp.Diff([]any{"tiny", c.want, c.license}, []any{m.Name, paths(m), m.License}); diff != "" {
				t.Error(diff)
			}
			if err := m.Verify(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAddRefusesArchivesThatAreNotHonest(t *testing.T) {
	t.Parallel()
	model := []entry{{name: "model.safetensors", text: "weights"}, {name: "tokenizer.json", text: "{}"}}
	many := map[string]string{}
	for i := range maxEntries + 1 {
		many[fmt.Sprintf("%d.json", i)] = ""
	}
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"path upwards":       {zipped(t, map[string]string{"../../evil.json": "x"}), "leaves the folder"},
		"absolute path":      {tarred(t, append(model, entry{name: "/etc/evil.json", text: "x"})...), "leaves the folder"},
		"path of Windows":    {zipped(t, map[string]string{`..\evil.json`: "x"}), "leaves the folder"},
		"unneeded upwards":   {tarred(t, append(model, entry{name: "../evil.py", text: "x"})...), "leaves the folder"},
		"symbolic link":      {tarred(t, append(model, entry{name: "config.json", kind: tar.TypeSymlink, link: "/etc/passwd"})...), "a link or a device"},
		"hard link":          {tarred(t, append(model, entry{name: "config.json", kind: tar.TypeLink, link: "/etc/passwd"})...), "a link or a device"},
		"device":             {tarred(t, append(model, entry{name: "config.json", kind: tar.TypeChar})...), "a link or a device"},
		"the same twice":     {tarred(t, append(model, model...)...), "two entries"},
		"too many":           {zipped(t, many), "more than 20000 entries"},
		"cut off":            {gzipped(t, tarred(t, model...))[:60], "unexpected EOF"},
		"no archive":         {[]byte(strings.Repeat("no archive ", 100)), "no archive of a known kind"},
		"short":              {[]byte("no"), "no archive of a known kind"},
		"only ONNX":          {zipped(t, map[string]string{"a/model.onnx": "x", "a/tokenizer.json": "{}"}), "an ONNX file (a/model.onnx)"},
		"larger than it may": {hugeEntry(t), "larger than any model"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAdder(t)
			_, err := a.Add(t.Context(), Request{Source: archiveFile(t, "m.zip", c.data)})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			if left := folders(t, a.Store.dir); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// hugeEntry returns a zip archive whose entry says that it has 2^40 bytes.
func hugeEntry(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "model.safetensors", Method: zip.Deflate, UncompressedSize64: 1 << 40, CompressedSize64: 2})
	if err == nil {
		_, err = w.Write([]byte{3, 0})
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func FuzzUnpack(f *testing.F) {
	f.Add(zipped(f, map[string]string{"a/model.safetensors": "weights", "../b.json": "{}"}))
	f.Add(tarred(f, entry{name: "a/tokenizer.json", text: "{}"}, entry{name: "b.json", kind: tar.TypeSymlink, link: "../x"}))
	f.Add(gzipped(f, tarredFiles(f, "m/", map[string]string{"config.json": "{}"})))
	f.Fuzz(func(t *testing.T, data []byte) {
		outer := t.TempDir()
		inner := filepath.Join(outer, "inner")
		archive := filepath.Join(outer, "archive")
		if err := os.Mkdir(inner, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(archive, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = unpack(t.Context(), archive, inner)
		if entries, err := os.ReadDir(outer); err != nil || len(entries) != 2 {
			t.Errorf("something was written outside of the folder: %v %v", entries, err)
		}
	})
}
