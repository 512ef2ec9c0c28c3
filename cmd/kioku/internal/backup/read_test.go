package backup_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/cmd/kioku/internal/backup"
	"kioku/internal/testkit"
)

// entry is an entry of an archive of a test.
type entry struct {
	name, text string
	kind       byte
	size       int64
}

// archive writes an archive with entries.
func archive(t *testing.T, entries ...entry) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.tar.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(e.text)), Format: tar.FormatPAX}
		if e.kind != 0 {
			h.Typeflag, h.Linkname = e.kind, "/etc/passwd"
		}
		if e.size > 0 {
			h.Size = e.size
		}
		testkit.Must(t, w.WriteHeader(h))
		if _, err := w.Write([]byte(e.text)); err != nil && h.Size > 0 && e.kind == 0 {
			t.Fatal(err)
		}
	}
	_ = w.Close() // the last entry may be shorter than its header says
	testkit.Must(t, errors.Join(z.Close(), f.Close()))
	return path
}

func quiet(string, int64, int64) {}

const emptyManifest = `{"format":"kioku-backup","version":2,"agent":"main","workspace":"/notes"}`

// Archives that leave their folder, have links, repeat names, or are larger than the disk are refused, and nothing is written.
func TestUnsafeArchivesAreRefused(t *testing.T) {
	t.Parallel()
	manifest := entry{name: "manifest.json", text: emptyManifest}
	for name, tc := range map[string]struct {
		entries []entry
		want    string
	}{
		"parent":           {[]entry{{name: "notes/../../x.md", text: "x"}, manifest}, "no backup of kioku"},
		"absolute":         {[]entry{{name: "/notes/x.md", text: "x"}, manifest}, "no backup of kioku"},
		"backslash":        {[]entry{{name: `notes/..\x.md`, text: "x"}, manifest}, "no backup of kioku"},
		"unknown":          {[]entry{{name: "bin/sh", text: "x"}, manifest}, "no backup of kioku"},
		"hidden":           {[]entry{{name: "notes/.git/hooks/x.md", text: "x"}, manifest}, "no backup of kioku"},
		"hidden file":      {[]entry{{name: "notes/.bashrc", text: "x"}, manifest}, "no backup of kioku"},
		"settings below":   {[]entry{{name: "notes/a/.kioku.yaml", text: "x"}, manifest}, "no backup of kioku"},
		"a program":        {[]entry{{name: "notes/Makefile", text: "x"}, manifest}, "no backup of kioku"},
		"an agent's path":  {[]entry{{name: "manifest.json", text: strings.Replace(emptyManifest, "main", "../../x", 1)}}, "cannot be read"},
		"a long manifest":  {[]entry{{name: "manifest.json", text: emptyManifest, size: 900 << 20}}, "too large"},
		"symlink":          {[]entry{{name: "notes/x.md", kind: tar.TypeSymlink}, manifest}, "no regular file"},
		"hard link":        {[]entry{{name: "notes/x.md", kind: tar.TypeLink}, manifest}, "no regular file"},
		"device":           {[]entry{{name: "notes/x.md", kind: tar.TypeChar}, manifest}, "no regular file"},
		"twice":            {[]entry{{name: "notes/x.md", text: "x"}, {name: "notes/x.md", text: "y"}, manifest}, "two entries"},
		"behind the end":   {[]entry{manifest, {name: "notes/x.md", text: "x"}}, "behind its manifest"},
		"oversized":        {[]entry{{name: "embeddings.sqlite", text: "x", size: 1 << 60}}, "the disk is full"},
		"no manifest":      {[]entry{{name: "notes/x.md", text: "x"}}, "its end is missing"},
		"a newer version":  {[]entry{{name: "manifest.json", text: `{"format":"kioku-backup","version":3}`}}, "update kioku"},
		"another manifest": {[]entry{{name: "manifest.json", text: `{}`}}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			path := archive(t, tc.entries...)
			root, workspace := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "notes")
			_, err := backup.Restore(t.Context(), path, backup.Target{Root: root, Workspace: workspace, Progress: quiet, Now: time.Now()})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("restore: %v", err)
			}
			if _, err := backup.Verify(t.Context(), path, quiet); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("verify: %v", err)
			}
			left, _ := filepath.Glob(root + "/*")
			if _, err := os.Lstat(workspace); err == nil || len(left) > 0 {
				t.Errorf("something was written: %v", left)
			}
			if left, _ := filepath.Glob(filepath.Dir(path) + "/*"); len(left) != 1 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}
