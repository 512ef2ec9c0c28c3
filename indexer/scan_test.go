package indexer_test

import (
	"cmp"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"kioku/indexer"
	"kioku/memory"
)

// Hazards B02, B10, B19, B22, C04, K02: a scan takes memory files only, whatever else lies beside them, or of a folder without any all
// Markdown. It lists what could have been meant, with the reason.
func TestScanTakes(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("/d", 50)
	for name, c := range map[string]struct {
		opt   func(*indexer.Options)
		files []string // with their text behind a "=", if it matters
		takes []string
		skips map[string]string
	}{
		"nothing": {},
		"memory files": {files: []string{"MEMORY.md", "USER.md", "memory/a.md", "memory/deep/er/b.md", "memory/daily/2026-01-02.jsonl", "README.md", "notes/n.md",
			"memory/x.txt", "memory/.env", "memory/index.db", "memory/deep/2026-01-02.jsonl"},
			takes: []string{"MEMORY.md", "USER.md", "memory/a.md", "memory/deep/er/b.md", "memory/daily/2026-01-02.jsonl"}},
		"beside what editors leave": {files: []string{"memory/note.md", "memory/.note.md.swp", "memory/.note.md.swx", "memory/4913", "memory/note.md~", "memory/#note.md#",
			"memory/sedAbC123", "memory/note.md.tmp", "memory/.DS_Store", "memory/.hidden.md"}, takes: []string{"memory/note.md"}},
		"no folders of tools": {files: []string{"memory/a.md", "memory/.git/x.md", "memory/sub/.git/deeper/x.md", "memory/node_modules/x.md", "memory/sub/node_modules/deeper/x.md",
			"memory/.pnpm-store/x.md", "memory/.venv/x.md", "memory/venv/x.md", "memory/sub/venv/deeper/x.md", "memory/.tox/x.md", "memory/__pycache__/x.md"}, takes: []string{"memory/a.md"}},
		"no extra path but Markdown": {opt: func(o *indexer.Options) { o.ExtraPaths = []string{"todo.txt"} }, files: []string{"todo.txt"},
			skips: map[string]string{"todo.txt": "neither a folder nor a Markdown file"}},
		"odd names": {files: []string{"memory/A.md", "memory/a.md", `memory/q"uote'.md`, "memory/日記.md", "memory/new\nline.md", "memory/esc\x1b[31m.md", "memory/bad\xff.md", "memory/dir\n/x.md"},
			takes: []string{"memory/A.md", "memory/a.md", `memory/q"uote'.md`, "memory/日記.md"},
			skips: map[string]string{`memory/new\x0aline.md`: "control character in the name", `memory/esc\x1b[31m.md`: "control character in the name",
				`memory/bad\xff.md`: "name is not valid UTF-8", `memory/dir\x0a`: "control character in the name"}},
		"a hundred folders": {files: []string{"memory" + deep + deep + "/d/x.md", "memory" + deep + "/y.md"}, takes: []string{"memory" + deep + "/y.md"},
			skips: map[string]string{"memory" + deep + deep: "more than 100 folders deep"}},
		"what an earlier version ignored": {files: []string{"memory/.kiokuignore=a.md\n", "memory/a.md"}, takes: []string{"memory/a.md"},
			skips: map[string]string{"memory/.kiokuignore": "these files have no effect any more: write its patterns as exclude into .kioku.yaml"}},
		"a whole folder": {files: []string{"README.md", "USER.md", "Places/Fushimi Inari.md", "a/b/c/d.md", "日記/2026-01-02.md", "x.txt", "a/x.jsonl", "daily/2026-01-02.jsonl",
			"a/x.markdown", ".git/x.md", ".obsidian/x.md", ".trash/x.md", "a/.hidden/x.md", "a/node_modules/p/README.md", ".x.md"},
			takes: []string{"README.md", "USER.md", "Places/Fushimi Inari.md", "a/b/c/d.md", "a/x.markdown", "日記/2026-01-02.md"}},
		"only what is included": {opt: func(o *indexer.Options) { o.Include = []string{"docs/**"} }, files: []string{"README.md", "docs/a.md"}, takes: []string{"docs/a.md"}},
		"what the folder says": {files: []string{"a.md", "docs/b.md", indexer.SettingsFile + "=exclude: [nothing]\ninclude:\n- \"**/*.md\"\n", "memory/2026-01-01.md"},
			takes: []string{"a.md", "docs/b.md", "memory/2026-01-01.md"}},
		"no excluded name in any folder": {opt: func(o *indexer.Options) { o.Exclude = []string{"diary.md", "*.mkd", "private/"} },
			files: []string{"a.md", "diary.md", "x/diary.md", "x/y/old.mkd", "x/b.md", "private/c.md", "private/d/e.md"}, takes: []string{"a.md", "x/b.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, c.opt)
			for _, file := range c.files {
				path, text, _ := strings.Cut(file, "=")
				f.write(path, cmp.Or(text, "text"))
			}
			rep := f.sync()
			f.holds(c.takes...)
			for path, reason := range c.skips {
				f.skips(path, reason)
			}
			if rep.Files != len(c.takes) || rep.Skipped != len(c.skips) || len(rep.Unavailable) > 0 {
				t.Errorf("report %+v", rep)
			}
		})
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
		"memory/loop": "loop", "memory/up": "..", "memory/.#note.md": "user@host.123:456", "memory/pic.png": "a.md", "memory/dangling": "nowhere",
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
