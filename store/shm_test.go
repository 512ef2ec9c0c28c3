package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/search"
)

// load searches and writes an index while files of it are changed.
type load struct {
	s        *Store
	stop     atomic.Bool
	copying  atomic.Bool // a search meanwhile may read files of different times
	running  sync.WaitGroup
	searches atomic.Int64
	writes   atomic.Int64
}

// startLoad starts a load on an index of killNotes.
func startLoad(t *testing.T, s *Store) *load {
	l := &load{s: s}
	l.running.Go(func() {
		for i := 0; !l.stop.Load(); i++ {
			// An error is no defect: the file of this note is not in the index then, and a sync would write it again.
			if write(context.Background(), s, testSpace, testFile("memory/extra.md", newRand(), fmt.Sprint("extra", i%10))) == nil {
				l.writes.Add(1)
			}
		}
	})
	for range 2 {
		l.running.Go(func() {
			for !l.stop.Load() {
				if err := l.search(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	return l
}

// search returns an error if an answer is wrong and nothing says so.
func (l *load) search() error {
	ctx := context.Background()
	x, excused, found := l.s.current(), l.s.Repair() != nil || l.copying.Load(), 0
	err := l.s.View(ctx, true, func(r search.Reader) error {
		ids, err := r.Match(ctx, search.Terms{Any: []string{"word3"}}, memory.Filter{}, 100)
		if err != nil {
			return err
		}
		chunks, err := r.Chunks(ctx, ids, true)
		found = len(chunks)
		return err
	})
	l.searches.Add(1)
	if excused || l.copying.Load() || l.s.Repair() != nil || l.s.current() != x || err == nil && found == 40 {
		return nil
	}
	return fmt.Errorf("a search finds %d chunks (%v), and nothing says that the index is damaged", found, err)
}

// advance waits for a few searches and writes.
func (l *load) advance() {
	searches, writes := l.searches.Load()+5, l.writes.Load()+2
	for end := time.Now().Add(2 * time.Second); l.searches.Load() < searches || l.writes.Load() < writes; {
		if time.Now().After(end) {
			return // no write succeeds
		}
		time.Sleep(time.Millisecond)
	}
}

// mend syncs until the index is whole.
func (l *load) mend(t *testing.T) {
	t.Helper()
	end := time.Now().Add(20 * time.Second)
	for {
		err := resync(t.Context(), l.s, killNotes()...)
		if err == nil && l.s.Repair() == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%v, %+v", err, l.s.Repair())
		}
	}
}

// finish ends the load and checks the index.
func (l *load) finish(t *testing.T) {
	t.Helper()
	l.stop.Store(true)
	l.running.Wait()
	l.mend(t)
	if c, err := l.s.Check(t.Context(), nil); err != nil || len(c.Found) > 0 {
		t.Errorf("%+v, %v", c, err)
	}
	l.mend(t)
	replace(t, l.s, gone("memory/extra.md"))
	checkConsistent(t, l.s)
	for i := range 5 {
		if got := match(t, l.s, memory.Filter{}, fmt.Sprint("word", i)); len(got) != 40 {
			t.Errorf("%d chunks of file %d", len(got), i)
		}
	}
}

// openLoaded opens an index of killNotes.
func openLoaded(t *testing.T) *Store {
	t.Helper()
	s := openTestStore(t, t.TempDir())
	replace(t, s, killNotes()...)
	if err := recordSync(t, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// Hazards A04, A07: a program that cuts off the -shm file, which SQLite maps, ends neither the process nor the searches and
// writes that run, and the index is made again each time.
func TestIndexSurvivesACutShm(t *testing.T) {
	if !testkit.InChild(t) {
		return
	}
	s := openLoaded(t)
	l := startLoad(t, s)
	for round := range testkit.Rounds(60, 6) {
		l.advance()
		x := s.current()
		if err := os.Truncate(s.path+"-shm", int64(round%3)*4096); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		l.advance()
		if round%3 == 0 && s.current() == x {
			t.Error("the damage was not noticed")
		}
		l.mend(t)
	}
	l.finish(t)
}

// Hazards A04, A07, A24: a whole backup that is copied over the index in use, older than the index or not, ends neither the
// process nor the searches and writes that run, and the index is mended.
func TestIndexSurvivesABackupCopiedOverIt(t *testing.T) {
	if !testkit.InChild(t) {
		return
	}
	s := openLoaded(t)
	l := startLoad(t, s)
	l.advance()
	backup := t.TempDir()
	for round := range testkit.Rounds(60, 6) {
		from, to := filepath.Dir(s.path), backup
		if round%2 == 1 {
			from, to = to, from
		}
		l.copying.Store(round%2 == 1)
		for _, suffix := range []string{"", "-shm", "-wal"} { // the order of the names
			name := filepath.Base(s.path) + suffix
			if out, err := exec.CommandContext(t.Context(), "cp", filepath.Join(from, name), filepath.Join(to, name)).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
		l.copying.Store(false)
		l.advance()
		l.mend(t)
	}
	l.finish(t)
}

// Hazard A07: a process that only reads, and is alone, opens the index again after its -shm file was cut off.
func TestReaderSurvivesACutShm(t *testing.T) {
	if !testkit.InChild(t) {
		return
	}
	s := openLoaded(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := Open(t.Context(), s.path, readOnlyOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for range 3 {
		if err := os.Truncate(s.path+"-shm", 0); err != nil {
			t.Fatal(err)
		}
		if got := match(t, reader, memory.Filter{}, "word3"); len(got) != 40 || reader.Repair() != nil {
			t.Errorf("%d chunks, %+v", len(got), reader.Repair())
		}
	}
}

// Hazard A24: a search or a write that meets an index other than that of the last commit replaces it.
func TestSnapshotNoticesAnotherIndex(t *testing.T) {
	t.Parallel()
	for _, stmt := range []string{"UPDATE meta SET generation = generation - 1", "UPDATE meta SET index_id = index_id + 1"} {
		for name, call := range map[string]func(*Store){
			"search": func(s *Store) { match(t, s, memory.Filter{}, "word3") },
			"write":  func(s *Store) { replace(t, s, testFile("memory/new.md", newRand(), "lantern")) },
		} {
			s := openLoaded(t)
			x := s.current()
			if _, err := x.db.writer.Exec(stmt); err != nil {
				t.Fatal(err)
			}
			call(s)
			if s.current() == x || s.Repair() == nil {
				t.Errorf("%s: a %s did not notice it", stmt, name)
			}
		}
	}
}
