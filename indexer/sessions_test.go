package indexer_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"kioku/indexer"
	"kioku/memory"
)

// spoken reads lines "day text" of transcripts made up for these tests; a line without a text says nothing.
func spoken(line []byte) (text, day string) {
	day, text, said := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
	if !said {
		return "", ""
	}
	return "User: " + text, day
}

// withSessions makes a fixture with transcripts in a folder of its own.
func withSessions(t *testing.T, change func(*indexer.Options)) (f *fixture, folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "sessions")
	return setup(t, func(o *indexer.Options) {
		o.Sessions = indexer.Sessions{Folder: folder, Spoken: spoken}
		if change != nil {
			change(o)
		}
	}), folder
}

// appendTo appends to a file anywhere.
func (f *fixture) appendTo(path, text string) {
	f.Helper()
	f.must(os.MkdirAll(filepath.Dir(path), 0o700))
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	f.must(err)
	_, err = file.WriteString(text)
	f.must(err)
	f.must(file.Close())
}

func TestSessionsAreIndexedAsSpoken(t *testing.T) {
	t.Parallel()
	f, folder := withSessions(t, nil)
	f.appendTo(filepath.Join(folder, "s1.jsonl"), "2026-01-05 one\nnothing\n2026-01-06 a\vb\x1b c\xff\n\n2026-01-06 torn")
	f.sync()
	file := f.index.files["sessions/s1.jsonl"]
	var got []string
	for _, c := range file.Chunks {
		got = append(got, fmt.Sprintf("%d %s %s", c.StartLine, c.Date, c.Text))
	}
	want := "1 2026-01-05 User: one|3 2026-01-06 User: a b c\ufffd|5 2026-01-06 User: torn"
	if strings.Join(got, "|") != want || file.Source != memory.SourceSessions {
		t.Errorf("source %q: %q", file.Source, got)
	}
}

func TestSessionsFolderContributesTranscriptsOnly(t *testing.T) {
	t.Parallel()
	f, folder := withSessions(t, nil)
	for _, name := range []string{"a.jsonl", "a.jsonl.torn", "note.md", "x.json", ".hidden.jsonl", "sub/b.jsonl", "d.jsonl/e.jsonl", "linked.jsonl"} {
		f.appendTo(filepath.Join(folder, name), "2026-01-05 "+name+"\n")
	}
	f.must(os.Link(filepath.Join(folder, "linked.jsonl"), filepath.Join(f.dir, "other")))
	f.must(os.Symlink("a.jsonl", filepath.Join(folder, "link.jsonl")))
	f.sync()
	f.holds("sessions/a.jsonl")
	f.skips("sessions/link.jsonl", "symbolic link")
	f.skips("sessions/linked.jsonl", "hard link to a file with 2 names")
}

func TestSessionsFolderMayBeMissing(t *testing.T) {
	t.Parallel()
	f, folder := withSessions(t, nil)
	f.write("memory/a.md", "a")
	if rep := f.sync(); len(rep.Unavailable) > 0 {
		t.Errorf("unavailable: %q", rep.Unavailable)
	}
	f.appendTo(filepath.Join(folder, "s.jsonl"), "2026-01-05 hello\n")
	f.sync()
	f.holds("memory/a.md", "sessions/s.jsonl")
	f.must(os.RemoveAll(folder))
	if rep := f.sync(); len(rep.Unavailable) > 0 || rep.Removed != 1 {
		t.Errorf("what was said is kept although it was deleted: %+v", rep)
	}
	f.holds("memory/a.md")
}

func TestSessionsDoNotMakeWorkspaceUnavailable(t *testing.T) {
	t.Parallel()
	f, folder := withSessions(t, nil)
	f.appendTo(filepath.Join(folder, "s.jsonl"), "2026-01-05 hello\n")
	for range 2 {
		if rep := f.sync(); len(rep.Unavailable) > 0 {
			t.Errorf("an empty workspace counts as emptied: %q", rep.Unavailable)
		}
	}
	f.must(os.Rename(f.dir, f.dir+"-away"))
	f.sync()
	f.holds("sessions/s.jsonl")
}

func TestSessionsAreRemovedWithoutSource(t *testing.T) {
	t.Parallel()
	f, folder := withSessions(t, nil)
	f.appendTo(filepath.Join(folder, "s.jsonl"), "2026-01-05 hello\n")
	f.write("memory/a.md", "a")
	f.sync()
	f.x = indexer.New(f.split, f.index, indexer.Options{Workspace: f.dir, Now: f.now})
	f.sync()
	f.holds("memory/a.md")
}

// A workspace may have a folder of its own named "sessions".
func TestSessionsFolderOfWorkspaceKeepsItsPaths(t *testing.T) {
	t.Parallel()
	f, folder := withSessions(t, func(o *indexer.Options) { o.ExtraPaths = []string{"sessions", "."} })
	transcript := filepath.Join(folder, "s.jsonl")
	f.appendTo(transcript, "2026-01-05 hello\n")
	f.write("sessions/s.md", "notes of a session")
	own := f.path("sessions/s.md")
	f.watching()
	f.shows(own, "notes of a session")
	f.shows("sessions/s.jsonl", "User: hello")
	f.write("sessions/s.jsonl", "no transcript")
	f.write("sessions/t.md", "more notes")
	f.shows(f.path("sessions/t.md"), "more notes")
	f.must(os.Remove(own))
	f.gone(own)
	f.holds("sessions/s.jsonl", f.path("sessions/t.md"))
	for p, want := range map[string]string{own: own, "sessions/s.jsonl": transcript} {
		if root, rel, ok := f.x.Owns(p); !ok || filepath.Join(root, rel) != want {
			t.Errorf("Owns(%q) = %q, %q, %v", p, root, rel, ok)
		}
	}
}

// Hazard C05: a path of a transcript leads nowhere but into the folder of this agent.
func TestOwnsRefusesSessionsOfAnotherAgent(t *testing.T) {
	t.Parallel()
	f, folder := withSessions(t, nil)
	other := filepath.Join(folder, "..", "..", "other", "sessions", "s.jsonl")
	f.appendTo(other, "2026-01-05 secret\n")
	for _, p := range []string{
		"sessions/../../other/sessions/s.jsonl", "sessions/other/s.jsonl", "sessions", "sessions/", "sessions/.jsonl", "sessions/s.md", "sessions/s.jsonl.torn",
		"sessions//s.jsonl", "sessions/./s.jsonl", "sessions/a/b.jsonl", filepath.Clean(other), filepath.Join(folder, "s.jsonl"), "sessions/s\x00.jsonl",
	} {
		if root, rel, ok := f.x.Owns(p); ok {
			t.Errorf("Owns(%q) = %q, %q", p, root, rel)
		}
	}
	plain := setup(t, nil)
	if _, _, ok := plain.x.Owns("sessions/s.jsonl"); ok {
		t.Error("a transcript is owned although they are no source")
	}
}

// inSessionBubble is inBubble with a transcript s.jsonl of one message, which is what the first sync finds.
func inSessionBubble(t *testing.T, body func(f *fixture, say func(messages, bytes int))) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "sessions")
	transcript := filepath.Join(folder, "s.jsonl")
	(&fixture{T: t}).appendTo(transcript, "2026-01-05 begin\n")
	src := newScripted()
	inBubble(t, src, func(o *indexer.Options) {
		o.Sessions = indexer.Sessions{Folder: folder, Spoken: spoken}
	}, func(f *fixture) {
		f.has("sessions/s.jsonl", "User: begin")
		body(f, func(messages, bytes int) {
			f.appendTo(transcript, strings.Repeat("2026-01-05 more\n", messages)+strings.Repeat("x", max(bytes-1, 0))+"\n")
			src.changes <- indexer.Change{Path: transcript}
			pass(2 * time.Second)
		})
	})
}

// chunks returns how many lines of the transcript are indexed.
func (f *fixture) chunks() int {
	text, _ := f.index.text("sessions/s.jsonl")
	return 1 + strings.Count(text, "|")
}

func TestSessionsAreIndexedAgainAfterFiftyMessages(t *testing.T) {
	t.Parallel()
	inSessionBubble(t, func(f *fixture, say func(messages, bytes int)) {
		say(49, 0)
		if f.chunks() != 1 || f.x.SyncState().Dirty {
			t.Errorf("after 49 messages: %d lines, state %+v", f.chunks(), f.x.SyncState())
		}
		say(0, 500)
		if f.chunks() != 1 {
			t.Error("a line that says nothing counts as a message")
		}
		say(1, 0)
		if f.chunks() != 51 {
			t.Errorf("after 50 messages: %d lines", f.chunks())
		}
		say(49, 0)
		if f.chunks() != 51 {
			t.Errorf("the count does not begin again: %d lines", f.chunks())
		}
	})
}

func TestSessionsAreIndexedAgainAfterManyBytes(t *testing.T) {
	t.Parallel()
	inSessionBubble(t, func(f *fixture, say func(messages, bytes int)) {
		say(1, 99_000)
		if f.chunks() != 1 {
			t.Errorf("after 99 kB: %d lines", f.chunks())
		}
		say(1, 1_000)
		if f.chunks() < 3 {
			t.Errorf("after 100 kB: %d lines", f.chunks())
		}
	})
}

func TestSessionsAreDeferredUntilSyncIsAskedFor(t *testing.T) {
	t.Parallel()
	inSessionBubble(t, func(f *fixture, say func(messages, bytes int)) {
		say(2, 0)
		pass(11 * time.Minute) // scans of everything in between
		f.syncWith(indexer.SyncOptions{NoRebuild: true, DeferSessions: true})
		if f.chunks() != 1 {
			t.Errorf("two messages were not waited with: %d lines", f.chunks())
		}
		if rep := f.sync(); f.chunks() != 3 || rep.Files != 1 {
			t.Errorf("after a sync: %d lines, %+v", f.chunks(), rep)
		}
	})
}

func TestSessionsAreNotDeferredByFirstSync(t *testing.T) {
	t.Parallel()
	f, folder := withSessions(t, nil)
	f.appendTo(filepath.Join(folder, "s.jsonl"), "2026-01-05 hello\n")
	f.syncWith(indexer.SyncOptions{DeferSessions: true})
	f.holds("sessions/s.jsonl")
	f.appendTo(filepath.Join(folder, "t.jsonl"), "2026-01-05 hello\n")
	f.syncWith(indexer.SyncOptions{DeferSessions: true})
	f.holds("sessions/s.jsonl") // a new one is as patient as the rest
}

func TestSessionsThatWereReplacedAreNotDeferred(t *testing.T) {
	t.Parallel()
	f, folder := withSessions(t, nil)
	path := filepath.Join(folder, "s.jsonl")
	f.appendTo(path, "2026-01-05 a long first line\n")
	f.sync()
	f.must(os.WriteFile(path, []byte("2026-01-06 new\n"), 0o600))
	f.syncWith(indexer.SyncOptions{DeferSessions: true})
	f.has("sessions/s.jsonl", "User: new")
}

// A transcript that grows all the time is indexed once in each sync, in whole lines.
func TestSessionsThatGrowAreIndexedOnce(t *testing.T) {
	t.Parallel()
	f, folder := withSessions(t, nil)
	path := filepath.Join(folder, "s.jsonl")
	f.appendTo(path, "2026-01-05 one\n")
	f.split.during = func([]byte) { f.appendTo(path, "2026-01-05 another\n") }
	f.sync()
	if n := f.index.writes("sessions/s.jsonl"); n != 1 || f.x.SyncState().Dirty {
		t.Errorf("written %d times, state %+v", n, f.x.SyncState())
	}
	f.split.during = nil
	f.sync()
	f.has("sessions/s.jsonl", "User: one|User: another")
}

func TestWatchFindsLiveSessions(t *testing.T) {
	t.Parallel()
	f, folder := withSessions(t, func(o *indexer.Options) { o.Sessions.DeltaMessages = 2 })
	f.watching()
	path := filepath.Join(folder, "live.jsonl")
	f.appendTo(path, "2026-01-05 one\n2026-01-05 two\n")
	f.shows("sessions/live.jsonl", "User: one|User: two")
	f.appendTo(path, "2026-01-05 three\n")
	f.appendTo(path, "2026-01-05 four\n")
	f.shows("sessions/live.jsonl", "User: one|User: two|User: three|User: four")
	f.must(os.Remove(path))
	f.gone("sessions/live.jsonl")
}

func TestSessionsMayBeLargerThanNotes(t *testing.T) {
	t.Parallel()
	f, folder := withSessions(t, func(o *indexer.Options) { o.MaxFileBytes = 1000 })
	f.appendTo(filepath.Join(folder, "s.jsonl"), "2026-01-05 hello\n"+strings.Repeat("x", 5000)+"\n")
	f.write("memory/a.md", strings.Repeat("x", 5000))
	f.sync()
	f.holds("sessions/s.jsonl")
}

func TestMarkersAreRemovedBeforeSplit(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.write("memory/a.md", "shown\n\nand this <!-- kioku from=user -->")
	f.sync()
	f.has("memory/a.md", "shown|and this")
}

func FuzzRender(f *testing.F) {
	for _, s := range []string{"", "\n", "2026-01-05 a\nb", "2026-01-05 a\r\n\n\n", "2026-01-05 \xff\x00\u2028\n", "x"} {
		f.Add([]byte(s))
	}
	x := indexer.New(nil, nil, indexer.Options{Workspace: "/w", Settings: indexer.Settings{Sessions: indexer.Sessions{Folder: "/x", Spoken: func(line []byte) (string, string) { return string(line), "" }}}})
	f.Fuzz(func(t *testing.T, src []byte) {
		got := string(x.Render("sessions/s.jsonl", src))
		if strings.Count(got, "\n") != bytes.Count(src, []byte("\n")) {
			t.Errorf("%q becomes %q", src, got)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if strings.ContainsFunc(line, unicode.IsControl) || strings.ToValidUTF8(line, "") != line {
				t.Errorf("%q becomes %q", src, got)
			}
		}
	})
}
