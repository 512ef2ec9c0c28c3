package kioku

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/store"
	"kioku/store/storetest"
)

// simulation is a memory on a disk that fails when the seed says so, in a time that only passes when all wait, and a model of
// what the memory must contain.
type simulation struct {
	*testing.T
	rand             *rand.Rand
	workspace, state string
	embedder         *embed.Client
	disk             *storetest.Disk
	memory           *Memory
	// faulty is true while the disk may fail.
	faulty bool
	// noted are the words of acknowledged notes, and files those of files that other programs have written, by path.
	noted []string
	files map[string]string
	// unseen are words of files that no complete sync has seen yet.
	unseen map[string]bool
	// trace is what was done and how it ended.
	trace []string
}

// simulate runs steps random operations and returns what was done. Equal seeds do the same.
func simulate(t *testing.T, seed uint64, steps int) (trace []string) {
	synctest.Test(t, func(t *testing.T) {
		s := &simulation{T: t, rand: rand.New(rand.NewPCG(seed, 12)), workspace: t.TempDir(), state: t.TempDir(),
			files: map[string]string{}, unseen: map[string]bool{}}
		s.disk = storetest.NewDisk(t, s.state)
		if seed%2 == 0 {
			var err error
			if s.embedder, err = embed.New(embed.Config{Provider: "hash"}); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() {
			s.disk.Heal()
			s.memory.Close() // of a test that has failed; otherwise it is closed
		})
		s.open()
		for i := range steps {
			s.step(i)
			synctest.Wait() // what the step has begun in the background has ended, or waits for a time
			if t.Failed() {
				t.Fatalf("seed %d fails at step %d of\n%s", seed, i, strings.Join(s.trace, "\n"))
			}
		}
		s.check()
		if t.Failed() {
			t.Fatalf("seed %d fails after\n%s", seed, strings.Join(s.trace, "\n"))
		}
		trace = s.trace
	})
	return trace
}

// step does one random operation.
func (s *simulation) step(i int) {
	word := fmt.Sprintf("word%dz", i)
	switch n := s.rand.IntN(16); {
	case n < 4:
		_, err := s.memory.Append(s.Context(), memory.Note{Text: "The keeper saw " + word + " at sea."})
		s.did("append "+word, err)
		if err != nil {
			s.Errorf("append: %v", err) // notes are on another disk
		}
		s.noted = append(s.noted, word)
	case n < 6:
		s.edit(word)
	case n < 9:
		s.search()
	case n < 11:
		_, err := s.memory.Sync(s.Context(), SyncOptions{Verify: n == 10}, nil)
		s.synced("sync", err)
	case n == 11:
		_, err := s.memory.Rebuild(s.Context(), nil)
		s.synced("rebuild", err)
	case n < 14:
		s.breakDisk()
	case n == 14:
		s.heal()
	default:
		s.reopen()
	}
}

// did adds a line to the trace.
func (s *simulation) did(what string, err error) {
	outcome := "ok"
	if err != nil {
		// The text of an error names folders, which differ between runs.
		outcome = "error"
	}
	s.trace = append(s.trace, fmt.Sprintf("%s: %s", what, outcome))
}

// open opens the memory on a disk that does not fail.
func (s *simulation) open() {
	m, err := Open(s.Context(), Options{Workspace: s.workspace, StateDir: s.state, Embedder: s.embedder,
		Log: slog.New(slog.NewTextHandler(s.Output(), nil))})
	s.did("open", err)
	if err != nil {
		s.Fatalf("open: %v\n%s", err, strings.Join(s.trace, "\n"))
	}
	s.memory = m
}

// edit writes, replaces or deletes a file, as other programs do.
func (s *simulation) edit(word string) {
	name := fmt.Sprintf("memory/note-%d.md", s.rand.IntN(5))
	if s.files[name] != "" && s.rand.IntN(3) == 0 {
		if err := os.Remove(filepath.Join(s.workspace, name)); err != nil {
			s.Fatal(err)
		}
		delete(s.files, name)
		s.did("remove "+name, nil)
		return
	}
	testkit.WriteFile(s, s.workspace, name, strings.Repeat("Nothing was seen today.\n", s.rand.IntN(200))+"The pilot saw "+word+" at sea.\n")
	s.files[name] = word
	s.unseen[word] = true
	s.did("write "+name, nil)
}

// search asks for a word that is known: the answer has it, or says what it lacks.
func (s *simulation) search() {
	words := slices.DeleteFunc(s.words(), func(w string) bool { return s.unseen[w] })
	if len(words) == 0 {
		return
	}
	word := words[s.rand.IntN(len(words))]
	answer, err := s.memory.Search(s.Context(), memory.Query{Text: word})
	s.did("search "+word, err)
	if err != nil {
		s.Errorf("search: %v", err)
	}
	found := slices.ContainsFunc(answer.Hits, func(h memory.Hit) bool { return strings.Contains(h.Snippet, word) })
	told := slices.ContainsFunc(answer.Degraded, func(d memory.Degradation) bool { return !d.IsHint() })
	if !found && !told {
		s.Errorf("%s is not found, and the answer does not say why: %+v", word, answer.Degraded)
	}
}

// words returns all words that are in files, in the order of their files.
func (s *simulation) words() []string {
	words := slices.Clone(s.noted)
	for n := range 5 {
		if w := s.files[fmt.Sprintf("memory/note-%d.md", n)]; w != "" {
			words = append(words, w)
		}
	}
	return words
}

// synced records a sync, which may only fail on a disk that does.
func (s *simulation) synced(what string, err error) {
	s.did(what, err)
	if err == nil {
		clear(s.unseen)
	} else if !s.faulty {
		s.Errorf("%s: %v", what, err)
	}
}

// breakDisk lets the disk fail from some write on.
func (s *simulation) breakDisk() {
	s.faulty = true
	switch s.rand.IntN(3) {
	case 0:
		quota := s.rand.Int64N(300_000)
		s.disk.SetQuota(quota)
		s.did(fmt.Sprintf("%d bytes left", quota), nil)
	case 1:
		n := s.rand.IntN(40)
		s.disk.FailAfter(n, syscall.ENOSPC)
		s.did(fmt.Sprintf("full after %d writes", n), nil)
	default:
		n := s.rand.IntN(40)
		s.disk.FailAfter(n, syscall.EIO)
		s.did(fmt.Sprintf("broken after %d writes", n), nil)
	}
}

// retryWait is longer than the pauses after which a failed sync, or a damaged index that could not be replaced, is tried again.
const retryWait = time.Minute

// heal repairs the disk. What has failed is tried again only after a time.
func (s *simulation) heal() {
	s.disk.Heal()
	time.Sleep(retryWait)
	s.faulty = false
	s.did("heal", nil)
}

// reopen ends the process, in one of two cases as a loss of power does: nothing more is written.
func (s *simulation) reopen() {
	if s.rand.IntN(2) == 0 {
		s.disk.FailAfter(0, syscall.EIO)
		s.faulty = true
	}
	err := s.memory.Close()
	s.did("close", err)
	if err != nil && !s.faulty {
		s.Errorf("close: %v", err)
	}
	s.heal()
	s.open()
}

// check compares the memory with the model and its index with a new one.
func (s *simulation) check() {
	s.heal()
	s.reopen()
	_, err := s.memory.Sync(s.Context(), SyncOptions{}, nil)
	s.synced("last sync", err)
	settle(s.T, s.memory)
	for _, word := range s.words() {
		if got := find(s.T, s.memory, word); len(got) == 0 {
			s.Errorf("%s is not found at the end", word)
		}
	}
	if err := s.memory.Close(); err != nil {
		s.Error(err)
	}
	fresh := s.TempDir()
	m, err := Open(s.Context(), Options{Workspace: s.workspace, StateDir: fresh, Embedder: s.embedder})
	if err != nil {
		s.Fatal(err)
	}
	_, err = m.Sync(s.Context(), SyncOptions{}, nil)
	if err := errors.Join(err, m.Close()); err != nil {
		s.Fatal(err)
	}
	want, got := storetest.Dump(s, store.Path(fresh, "main")), storetest.Dump(s, store.Path(s.state, "main"))
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		s.Errorf("the index differs from a new one:\n%s", diff)
	}
}

// Hazards A02, A03, A12, A13: whatever fails when it is written, searches answer or say what they lack, and in the end the index
// equals a new one. A seed that fails does so again.
func TestMemorySimulation(t *testing.T) {
	first := testkit.Seed()
	for seed := first; seed < first+uint64(testkit.Rounds(100, 6)); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { simulate(t, seed, 60) })
	}
}

// Equal seeds do the same, down to which operation fails, so that a failure can be looked at again.
func TestMemorySimulationRepeats(t *testing.T) {
	for seed := range uint64(2) {
		if diff := cmp.Diff(simulate(t, seed+1000, 60), simulate(t, seed+1000, 60)); diff != "" {
			t.Errorf("seed %d does something else the second time:\n%s", seed, diff)
		}
	}
}
