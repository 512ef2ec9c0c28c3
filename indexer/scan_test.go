package indexer_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kioku/indexer"
	"kioku/memory"
)

// Hazard C04: only memory files are taken, whatever else lies beside them.
func TestScanFindsMemoryFilesOnly(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, p := range []string{
		"MEMORY.md", "USER.md", "memory/a.md", "memory/deep/er/b.md", "memory/daily/2026-01-02.jsonl",
		"README.md", "notes/n.md", "memory/x.txt", "memory/.env", "memory/index.db", "memory/deep/2026-01-02.jsonl",
	} {
		f.write(p, "text of "+p)
	}
	rep := f.sync()
	f.holds("MEMORY.md", "USER.md", "memory/a.md", "memory/deep/er/b.md", "memory/daily/2026-01-02.jsonl")
	if rep.Files != 5 || rep.Chunks != 5 || rep.Skipped != 0 {
		t.Errorf("report %+v", rep)
	}
}

func TestScanOfEmptyWorkspace(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	if rep := f.sync(); rep.Files != 0 || len(rep.Unavailable) != 0 {
		t.Errorf("report %+v", rep)
	}
}

func TestSyncTakesDateFromName(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/2026-02-28-trip.md", "x")
	f.sync()
	if got := f.index.files["memory/2026-02-28-trip.md"].Date; got != "2026-02-28" {
		t.Errorf("date %q", got)
	}
}

// Hazard B02: what editors leave beside a file is never indexed, nor listed.
func TestScanIgnoresEditorFiles(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/note.md", "note")
	for _, name := range []string{".note.md.swp", ".note.md.swx", "4913", "note.md~", "#note.md#", "sedAbC123", "note.md.tmp", ".DS_Store", ".hidden.md"} {
		f.write("memory/"+name, "junk")
	}
	f.must(os.Symlink("user@host.123:456", f.path("memory/.#note.md")))
	if rep := f.sync(); rep.Skipped != 0 {
		t.Errorf("report %+v", rep)
	}
	f.holds("memory/note.md")
}

// Hazard B10: folders of tools are neither entered nor watched.
func TestScanIgnoresFoldersOfTools(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "a")
	for _, dir := range []string{".git", "node_modules", ".pnpm-store", ".venv", "venv", ".tox", "__pycache__"} {
		f.write("memory/"+dir+"/x.md", "x")
		f.write("memory/sub/"+dir+"/deeper/x.md", "x")
	}
	f.sync()
	f.holds("memory/a.md")
}

func TestScanNamesExtraPathsByPlace(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	for _, p := range []string{"docs/a.md", "docs/deep/b.md", "docs/c.txt", "one.md", "proj-x/d.md", "proj-y/e.md", "other/f.md"} {
		p = filepath.Join(out, p)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := setup(t, func(o *indexer.Options) {
		o.ExtraPaths = []string{"notes", filepath.Join(out, "docs"), filepath.Join(out, "one.md"), filepath.Join(out, "proj-*"), filepath.Join(o.Workspace, "memory")}
	})
	f.write("notes/n.md", "x")
	f.write("memory/m.md", "x")
	f.sync()
	f.holds("notes/n.md", "memory/m.md", out+"/docs/a.md", out+"/docs/deep/b.md", out+"/one.md", out+"/proj-x/d.md", out+"/proj-y/e.md")
	for path, source := range map[string]string{"notes/n.md": memory.SourceExtra, "memory/m.md": memory.SourceMemory, out + "/one.md": memory.SourceExtra} {
		if got := f.index.files[path].Source; got != source {
			t.Errorf("source of %s: %q", path, got)
		}
	}
}

func TestScanNamesFilesOnceInFolderAroundWorkspace(t *testing.T) {
	t.Parallel()
	f := setup(t, func(o *indexer.Options) { o.ExtraPaths = []string{filepath.Dir(o.Workspace)} })
	f.write("memory/m.md", "x")
	f.write("../side.md", "x")
	f.sync()
	f.holds("memory/m.md", filepath.Join(filepath.Dir(f.dir), "side.md"))
}

func TestScanListsExtraPathsThatAreNoMarkdown(t *testing.T) {
	t.Parallel()
	f := setup(t, func(o *indexer.Options) { o.ExtraPaths = []string{"todo.txt"} })
	f.write("todo.txt", "x")
	f.sync()
	f.skips("todo.txt", "neither a folder nor a Markdown file")
}

// Hazard B12: a file over the limit is skipped by its size, without being read.
func TestScanSkipsLargeFiles(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/huge.md", "")
	f.must(os.Truncate(f.path("memory/huge.md"), 1<<30))
	f.write("memory/fits.md", strings.Repeat("a", 10<<20))
	rep := f.sync()
	f.skips("memory/huge.md", "larger than 10 MiB")
	f.holds("memory/fits.md")
	if rep.Read != 1 || rep.Skipped != 1 {
		t.Errorf("report %+v", rep)
	}
}

// Hazard B13: a NUL early in a file makes it binary; other bytes never do, and the text that reaches the index is UTF-8.
func TestSyncOfAllKindsOfBytes(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/nul.md", strings.Repeat("a", 8191)+"\x00")
	f.write("memory/late.md", strings.Repeat("a", 8192)+"\x00")
	f.write("memory/utf16.md", "\xff\xfea\x00b\x00")
	f.write("memory/odd.md", "\ufeffb\xffd\r\nlone\rcr \u2028 \u202e \U0001f600 \u200b\n記憶\n")
	f.write("memory/e\u0301.md", "nfd")
	f.write("memory/\u00e9.md", "nfc")
	f.sync()
	f.skips("memory/nul.md", "binary (NUL byte)")
	f.holds("memory/utf16.md", "memory/late.md", "memory/odd.md", "memory/e\u0301.md", "memory/\u00e9.md")
	if rep := f.sync(); rep.Read != 0 || rep.Skipped != 1 {
		t.Errorf("second sync: %+v", rep)
	}
}

// Hazard B19: names that cannot be passed on are listed in a form that can; all others, odd as they are, stay as they are.
func TestScanOfOddNames(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, name := range []string{"A.md", "a.md", `q"uote'.md`, "日記.md", "new\nline.md", "esc\x1b[31m.md", "bad\xff.md", "dir\n/x.md"} {
		f.write("memory/"+name, "x")
	}
	f.sync()
	f.holds("memory/A.md", "memory/a.md", `memory/q"uote'.md`, "memory/日記.md")
	f.skips(`memory/new\x0aline.md`, "control character in the name")
	f.skips(`memory/esc\x1b[31m.md`, "control character in the name")
	f.skips(`memory/bad\xff.md`, "name is not valid UTF-8")
	f.skips(`memory/dir\x0a`, "control character in the name")
}

// Hazard B17: pipes, sockets, devices and folders with the name of a memory file are skipped, and hold nothing up.
func TestScanSkipsSpecialFiles(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "x")
	f.write("memory/folder.md/inner.md", "x")
	f.must(syscall.Mkfifo(f.path("memory/pipe.md"), 0o644))
	l, err := net.Listen("unix", f.path("memory/socket.md"))
	f.must(err)
	defer l.Close()
	f.must(os.Mkdir(f.path("MEMORY.md"), 0o755))
	f.sync()
	f.holds("memory/a.md")
	f.skips("memory/pipe.md", "not a regular file (named pipe)")
	f.skips("memory/socket.md", "not a regular file (socket)")
	f.skips("memory/folder.md", "not a regular file (folder)")
	f.skips("MEMORY.md", "not a regular file (folder)")
}

// Hazard C02: no symbolic link is followed, wherever it leads, and each that may contain memories is listed.
func TestScanListsSymbolicLinks(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	f := setup(t, func(o *indexer.Options) { o.ExtraPaths = []string{"linked", "way/notes"} })
	f.write("memory/a.md", "x")
	f.must(os.WriteFile(filepath.Join(out, "secret.md"), []byte("secret"), 0o644))
	f.must(os.Mkdir(filepath.Join(out, "notes"), 0o755))
	f.must(os.WriteFile(filepath.Join(out, "notes", "secret.md"), []byte("secret"), 0o644))
	for name, to := range map[string]string{
		"memory/file.md": filepath.Join(out, "secret.md"), "memory/dir": out, "memory/chain.md": "file.md", "memory/in.md": "a.md",
		"memory/loop": "loop", "memory/up": "..", "memory/pic.png": "a.md", "memory/dangling": "nowhere",
		"linked": out, "way": out,
	} {
		f.must(os.Symlink(to, f.path(name)))
	}
	f.sync()
	f.holds("memory/a.md")
	for _, p := range []string{"memory/file.md", "memory/dir", "memory/chain.md", "memory/in.md", "memory/loop", "memory/up", "linked", "way/notes"} {
		f.skips(p, "symbolic link")
	}
	if _, skipped := f.index.list(); len(skipped) != 8 {
		t.Errorf("skipped: %q", skipped)
	}
}

func TestScanListsExtraRootThatIsSymbolicLink(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	link := filepath.Join(out, "link")
	f := setup(t, func(o *indexer.Options) { o.ExtraPaths = []string{link} })
	f.must(os.Mkdir(filepath.Join(out, "real"), 0o755))
	f.must(os.WriteFile(filepath.Join(out, "real", "a.md"), []byte("x"), 0o644))
	f.must(os.Symlink("real", link))
	f.sync()
	f.holds()
	f.skips(link, "symbolic link")
}

func TestScanResolvesWorkspace(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "x")
	link := filepath.Join(filepath.Dir(f.dir), "link")
	f.must(os.Symlink("ws", link))
	f.x = indexer.New(f.split, f.index, indexer.Options{Workspace: link, Settings: indexer.Settings{ExtraPaths: []string{link + "/notes"}}})
	f.write("notes/n.md", "x")
	f.sync()
	f.holds("memory/a.md", "notes/n.md")
}

// Hazard C03: a file with a second name may be one from outside, and is skipped until the other name is gone.
func TestScanSkipsHardLinks(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "x")
	f.write("elsewhere", "secret")
	f.must(os.Link(f.path("elsewhere"), f.path("memory/hard.md")))
	f.sync()
	f.holds("memory/a.md")
	f.skips("memory/hard.md", "hard link to a file with 2 names")
	f.must(os.Remove(f.path("elsewhere")))
	f.sync()
	f.holds("memory/a.md", "memory/hard.md")
}

func TestScanStopsInDeepFolders(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	deep := "memory" + strings.Repeat("/d", 105)
	f.write(deep+"/x.md", "x")
	f.write("memory"+strings.Repeat("/d", 50)+"/y.md", "y")
	f.sync()
	f.holds("memory" + strings.Repeat("/d", 50) + "/y.md")
	f.skips("memory"+strings.Repeat("/d", 100), fmt.Sprintf("more than %d folders deep", 100))
}

// A file of patterns of an earlier version hides nothing, and says so.
func TestScanNamesAFormerIgnoreFile(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/.kiokuignore", "a.md\n")
	f.write("memory/a.md", "x")
	f.sync()
	f.holds("memory/a.md")
	f.skips("memory/.kiokuignore", "these files have no effect any more: write its patterns as exclude into .kioku.yaml")
}
