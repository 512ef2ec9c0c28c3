package history_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/history"
	"kioku/memory"
)

// folder is the notes that a journal is told of.
type folder map[string]string

// noted returns the files of the folder.
func (f folder) noted() []history.Noted {
	var all []history.Noted
	for name, text := range f {
		sum := sha256.Sum256([]byte(text))
		all = append(all, history.Noted{Path: name, Hash: hex.EncodeToString(sum[:])})
	}
	return all
}

// read returns the text of a file.
func (f folder) read(name string) ([]byte, error) {
	text, ok := f[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

// clock is a clock that a test sets.
type clock struct{ time.Time }

// diary is a journal under test.
type diary struct {
	*history.Journal
	t      *testing.T
	clock  *clock
	folder string
}

// newDiary returns an empty journal.
func newDiary(t *testing.T, opt history.JournalOptions) diary {
	d := diary{t: t, clock: &clock{day(1)}, folder: filepath.Join(t.TempDir(), "journal")}
	opt.Folder, opt.Now = d.folder, func() time.Time { return d.clock.Time }
	d.Journal = history.NewJournal(opt)
	return d
}

// record records a folder at a day.
func (d diary) record(at time.Time, f folder) int {
	d.t.Helper()
	d.clock.Time = at
	n, err := d.Record(d.t.Context(), f.noted(), f.read)
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

// at returns the files of a moment with their texts.
func (d diary) at(m memory.Moment) (folder, error) {
	d.t.Helper()
	g, err := d.Open(d.t.Context())
	if err != nil {
		return nil, err
	}
	v, err := g.Find(d.t.Context(), m)
	if err != nil {
		return nil, err
	}
	tree, err := g.Tree(d.t.Context(), v)
	if err != nil {
		return nil, err
	}
	all := folder{}
	err = g.Read(d.t.Context(), tree.Files, func(f history.File, text []byte) error {
		all[f.Path] = string(text)
		return nil
	})
	return all, err
}

// exists reports whether the journal has a version.
func (d diary) exists() bool {
	_, err := d.Open(d.t.Context())
	if err != nil && !errors.Is(err, memory.ErrNoHistory) {
		d.t.Error(err)
	}
	return err == nil
}

func TestJournalHasTheFolderOfEveryTime(t *testing.T) {
	t.Parallel()
	d := newDiary(t, history.JournalOptions{})
	if d.exists() {
		t.Error("a journal that does not exist does")
	}
	d.record(day(1), folder{"MEMORY.md": "Ines lives in Porto.\n", "memory/x.md": "x\n"})
	if n := d.record(day(2), folder{"MEMORY.md": "Ines lives in Porto.\n", "memory/x.md": "x\n"}); n != 0 {
		t.Errorf("a folder that has not changed is recorded with %d files", n)
	}
	d.record(day(3), folder{"MEMORY.md": "Ines lives in Lisbon.\n", "memory/y.md": "庭\n"})
	g, err := d.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Log(t.Context(), memory.LogQuery{})
	want := []string{"10-03  changed MEMORY.md", "10-03  removed memory/x.md", "10-03  added memory/y.md", "10-01  added MEMORY.md", "10-01  added memory/x.md"}
	if diff := cmp.Diff(want, summary(got)); diff != "" || err != nil || got[0].History != memory.HistoryJournal || got[0].Author != "" {
		t.Fatalf("Log: %v\n%s%+v", err, diff, got[0])
	}
	for name, c := range map[string]struct {
		at   memory.Moment
		want folder
		err  error
	}{
		"before":   {memory.Moment{Time: day(1).Add(-time.Hour)}, nil, memory.ErrNoVersion},
		"between":  {memory.Moment{Time: day(2)}, folder{"MEMORY.md": "Ines lives in Porto.\n", "memory/x.md": "x\n"}, nil},
		"now":      {memory.Moment{}, folder{"MEMORY.md": "Ines lives in Lisbon.\n", "memory/y.md": "庭\n"}, nil},
		"revision": {memory.Moment{Revision: got[4].ID[:10]}, folder{"MEMORY.md": "Ines lives in Porto.\n", "memory/x.md": "x\n"}, nil},
		"unknown":  {memory.Moment{Revision: "0123456789"}, nil, memory.ErrNoVersion},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := d.at(c.at)
			if diff := cmp.Diff(c.want, got); diff != "" || !errors.Is(err, c.err) {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// A file may become a folder and the other way round, and names may have any character.
func TestJournalKeepsAnyPath(t *testing.T) {
	t.Parallel()
	d := newDiary(t, history.JournalOptions{})
	for i, f := range []folder{{"x.md": "x"}, {"x.md/y.md": "y\n"}, {"x.md": "", `a"b\c 庭.md`: "z\r\n", "line\nbreak.md": "\xff"}} {
		d.record(day(1+i), f)
		if got, err := d.at(memory.Moment{}); err != nil || !cmp.Equal(got, f) {
			t.Errorf("%q became %q, %v", f, got, err)
		}
	}
}

// (H03, C13)
func TestJournalKeepsNoSecrets(t *testing.T) {
	t.Parallel()
	d := newDiary(t, history.JournalOptions{})
	const key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
	d.record(day(1), folder{"MEMORY.md": "The key of the printer is " + key + ".\n"})
	got, err := d.at(memory.Moment{})
	if err != nil || strings.Contains(got["MEMORY.md"], key) || !strings.Contains(got["MEMORY.md"], "left out") {
		t.Errorf("recorded: %q, %v", got, err)
	}
}

// (H03)
func TestJournalKeepsToItsSizeAndAge(t *testing.T) {
	t.Parallel()
	random := func(seed uint64) string {
		r, b := rand.New(rand.NewPCG(seed, 1)), strings.Builder{}
		for range 400 {
			fmt.Fprintf(&b, "%x ", r.Uint64())
		}
		return b.String()
	}
	small := newDiary(t, history.JournalOptions{MaxBytes: 20_000})
	old := newDiary(t, history.JournalOptions{MaxAge: 5 * 24 * time.Hour})
	for i := range 20 {
		f := folder{"MEMORY.md": random(uint64(i)), "memory/constant.md": "constant\n"}
		small.record(day(1+i), f)
		old.record(day(1+i), f)
	}
	for name, c := range map[string]struct {
		d     diary
		gone  time.Time
		there time.Time
	}{"size": {small, day(2), day(20)}, "age": {old, day(14), day(15)}} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.d.at(memory.Moment{Time: c.gone}); !errors.Is(err, memory.ErrNoVersion) {
				t.Errorf("the version of %s: %v", c.gone, err)
			}
			got, err := c.d.at(memory.Moment{Time: c.there})
			want := folder{"MEMORY.md": random(uint64(c.there.Day() - 1)), "memory/constant.md": "constant\n"}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("the version of %s: %v\n%s", c.there, err, diff)
			}
		})
	}
	var size int64
	err := filepath.WalkDir(small.folder, func(_ string, e fs.DirEntry, err error) error {
		if info, infoErr := e.Info(); infoErr == nil && !e.IsDir() {
			size += info.Size()
		}
		return err
	})
	if err != nil || size > 20_000 {
		t.Errorf("the journal has %d bytes: %v", size, err)
	}
}

// (H03) What is known of the last version is a cache, and a kill may leave half a purge.
func TestJournalSurvivesACrash(t *testing.T) {
	t.Parallel()
	d := newDiary(t, history.JournalOptions{})
	d.record(day(1), folder{"MEMORY.md": "one\n", "memory/x.md": "x\n"})
	if err := os.WriteFile(filepath.Join(d.folder, "kioku-hashes.json"), []byte(`{"MEM`), 0o600); err != nil {
		t.Fatal(err)
	}
	d.record(day(3), folder{"MEMORY.md": "two\n"})
	if err := errors.Join(os.Rename(d.folder, d.folder+".next"), os.Mkdir(d.folder+".gone", 0o700)); err != nil {
		t.Fatal(err)
	}
	d.record(day(5), folder{"MEMORY.md": "three\n"})
	for at, want := range map[time.Time]folder{day(2): {"MEMORY.md": "one\n", "memory/x.md": "x\n"}, day(3): {"MEMORY.md": "two\n"}, day(5): {"MEMORY.md": "three\n"}} {
		if got, err := d.at(memory.Moment{Time: at}); err != nil || !cmp.Equal(got, want) {
			t.Errorf("at %s: %q, %v", at, got, err)
		}
	}
	if _, err := os.Stat(d.folder + ".gone"); err == nil {
		t.Error("the old repository of a purge is left")
	}
}

// (H03)
func TestJournalPurgeRemovesTexts(t *testing.T) {
	t.Parallel()
	d := newDiary(t, history.JournalOptions{})
	d.record(day(1), folder{"MEMORY.md": "one\n", "memory/private.md": "of Dario\n"})
	d.record(day(2), folder{"MEMORY.md": "two\n", "memory/private.md": "of Dario, too\n"})
	if n, err := d.Purge(t.Context(), "memory/private.md"); n != 2 || err != nil {
		t.Fatalf("Purge = %d, %v", n, err)
	}
	got, err := d.at(memory.Moment{Time: day(1)})
	if diff := cmp.Diff(folder{"MEMORY.md": "one\n"}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	cmd := exec.Command("git", "--git-dir="+d.folder, "cat-file", "--batch-all-objects", "--batch")
	if all, err := cmd.Output(); err != nil || bytes.Contains(all, []byte("Dario")) || bytes.Contains(all, []byte("private")) || !bytes.Contains(all, []byte("one")) {
		t.Errorf("the repository still has %q, %v", all, err)
	}
	if n, err := d.Purge(t.Context(), ""); n != 2 || err != nil || d.exists() {
		t.Errorf("Purge of everything = %d, %v", n, err)
	}
}

func TestJournalRecordEndsWithItsContext(t *testing.T) {
	t.Parallel()
	d := newDiary(t, history.JournalOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := folder{"MEMORY.md": "one\n"}
	if _, err := d.Record(ctx, f.noted(), f.read); !errors.Is(err, context.Canceled) || d.exists() {
		t.Errorf("Record: %v", err)
	}
}
