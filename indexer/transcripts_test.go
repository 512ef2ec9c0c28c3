package indexer_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kioku/indexer"
	"kioku/memory"
)

// foreign makes a fixture with transcripts of another program, which begin with a line "project:NAME", in folders of digits. Only
// those of project "own" belong to the memory.
func foreign(t *testing.T, change func(*indexer.Options)) (f *fixture, folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "codex")
	return setup(t, func(o *indexer.Options) {
		o.Sessions = indexer.Sessions{Others: []indexer.Transcripts{{
			Source: memory.SourceCodex, Folder: folder, Read: func() indexer.Reading { return &partly{} },
			Enters: func(rel string) bool { return strings.Trim(rel, "0123456789/") == "" },
			Admits: func(beginning io.Reader) (admitted, certain bool) {
				line, err := bufio.NewReader(beginning).ReadString('\n')
				return line == "project:own\n", err == nil
			},
		}}}
		if change != nil {
			change(o)
		}
	}), folder
}

// partly reads lines as spoken does, and does not understand those that begin with "?".
type partly struct{ left int }

func (p *partly) Spoken(line []byte) (text, day string) {
	if bytes.HasPrefix(line, []byte("?")) {
		p.left++
		return "", ""
	}
	return spoken(line)
}

func (p *partly) LeftOut() string { return strings.Repeat("?", p.left) }

// What was not understood of a transcript is told to the index with what was.
func TestTranscriptsTellWhatTheyLeaveOut(t *testing.T) {
	t.Parallel()
	f, folder := foreign(t, nil)
	f.appendTo(filepath.Join(folder, "a.jsonl"), "project:own\n? lost\n2026-01-05 mine\n? lost\n")
	f.sync()
	file := f.index.files["sessions/codex/a.jsonl"]
	if len(file.Chunks) != 1 || file.Chunks[0].StartLine != 3 || file.Remark != "lines that are not understood are left out: ??" || file.Skipped != "" {
		t.Errorf("%+v", file)
	}
}

// Transcripts of other programs are found below "sessions/<source>/", in folders too, with the line numbers of their files, and only
// those of the memory's own project: another project's are neither indexed nor shown, also if they become its own later.
func TestTranscriptsOfOtherProgramsBelongToOneProject(t *testing.T) {
	t.Parallel()
	f, folder := foreign(t, nil)
	own, other, young := filepath.Join(folder, "2026/01/a.jsonl"), filepath.Join(folder, "2026/01/b.jsonl"), filepath.Join(folder, "c.jsonl")
	f.appendTo(own, "project:own\n2026-01-05 mine\n")
	f.appendTo(other, "project:other\n2026-01-05 theirs\n")
	f.appendTo(filepath.Join(folder, "notes/d.jsonl"), "project:own\n2026-01-05 elsewhere\n")
	f.appendTo(young, "project")
	f.must(os.Symlink(other, filepath.Join(folder, "2026/01/link.jsonl")))
	f.must(os.Link(other, filepath.Join(folder, "2026/01/hard.jsonl")))
	f.sync()
	const path = "sessions/codex/2026/01/a.jsonl"
	paths := func() (all []string) {
		for p := range f.index.files {
			all = append(all, p)
		}
		return all
	}
	if got := strings.Join(paths(), " "); got != path {
		t.Fatalf("the index has %q", got)
	}
	file := f.index.files[path]
	if c := file.Chunks[0]; file.Source != memory.SourceCodex || c.StartLine != 2 || c.Date != "2026-01-05" || c.Text != "User: mine" {
		t.Errorf("%+v", file)
	}
	for p, want := range map[string]bool{
		path: true, "sessions/codex/2026/01/b.jsonl": false, "sessions/codex/2026/01/link.jsonl": false, "sessions/codex/2026/01/hard.jsonl": false,
		"sessions/codex/notes/d.jsonl": false, "sessions/codex/c.jsonl": false, "sessions/a.jsonl": false, other: false, own: false, "sessions/codex/2026/01/gone.jsonl": false,
	} {
		if _, _, ok := f.x.Owns(p); ok != want {
			t.Errorf("owns %s: %v", p, ok)
		}
	}
	src, err := os.ReadFile(own)
	f.must(err)
	if got := f.x.Render(path, src); !bytes.HasSuffix(got, []byte("\nUser: mine\n")) {
		t.Errorf("shown as %q", got)
	}
	f.appendTo(young, ":own\n2026-01-06 grown\n")
	f.must(os.WriteFile(own, []byte("project:other\n"), 0o600))
	f.sync()
	if got := strings.Join(paths(), " "); got != "sessions/codex/c.jsonl" {
		t.Errorf("the index has %q", got)
	}
}

// A source that is switched off leaves the answers, and comes back with it; the thresholds of growth are those of sessions.
func TestTranscriptsFollowTheSettings(t *testing.T) {
	t.Parallel()
	f, folder := foreign(t, func(o *indexer.Options) { o.Sessions.DeltaMessages = 2 })
	path := filepath.Join(folder, "a.jsonl")
	f.appendTo(path, "project:own\n2026-01-05 one\n")
	f.syncWith(indexer.SyncOptions{DeferSessions: true})
	f.appendTo(path, "2026-01-05 two\n")
	f.syncWith(indexer.SyncOptions{DeferSessions: true})
	const name = "sessions/codex/a.jsonl"
	if n := len(f.index.files[name].Chunks); n != 1 {
		t.Errorf("one message more is indexed at once: %d", n)
	}
	f.appendTo(path, "2026-01-05 three\n")
	f.syncWith(indexer.SyncOptions{DeferSessions: true})
	if n := len(f.index.files[name].Chunks); n != 3 {
		t.Errorf("two messages more are not indexed: %d", n)
	}
	f.reopen(func(*indexer.Options) {})
	f.sync()
	if _, ok := f.index.text(name); ok {
		t.Error("a transcript stays that no setting includes")
	}
}
