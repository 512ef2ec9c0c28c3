package note

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kioku/internal/testkit"
	"kioku/memory"
)

// appendModel is what must be true of a workspace after many programs have written into it at once.
type appendModel struct {
	t    *testing.T
	ws   string
	both [2]*Folder
	// outside keeps the editor from overwriting a line that is written while it saves: other programs have no lock for that.
	outside sync.Mutex
	lines   int
	// mu guards what follows: the notes that were acknowledged, by key, and how many calls have failed.
	mu           sync.Mutex
	acknowledged map[string]memory.Note
	failed       int
}

// Hazard F06: whatever fails, is killed, edits or writes into the same files meanwhile, every acknowledged note is there exactly
// once, and no line of others is lost.
func TestAppendKeepsEveryAcknowledgedNoteOnce(t *testing.T) {
	ws := t.TempDir()
	m := &appendModel{t: t, ws: ws, acknowledged: map[string]memory.Note{}}
	for i := range m.both {
		m.both[i] = openFolder(t, Options{Path: ws, Now: clock("2026-01-05T12:00:00Z"), Location: time.UTC, MaxFileBytes: 30_000})
	}
	var ended atomic.Bool
	var others, writers errgroup.Group
	others.Go(func() error { return m.writeOutside(&ended) })
	others.Go(func() error { return m.saveInEditor(&ended) })
	seed := testkit.Seed()
	for w := range 4 {
		random := rand.New(rand.NewPCG(seed, uint64(w)))
		writers.Go(func() error {
			for i := range testkit.Rounds(1000, 25) {
				if err := m.step(random, w, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := writers.Wait()
	ended.Store(true)
	if err := errors.Join(err, others.Wait()); err != nil {
		t.Fatal(err)
	}
	m.check()
	t.Logf("seed %d: %d notes, %d calls failed, %d lines of others", seed, len(m.acknowledged), m.failed, m.lines)
}

// step writes a note, with one of the ways in which that can go wrong before it succeeds.
func (m *appendModel) step(random *rand.Rand, writer, i int) error {
	mem := m.both[writer%2]
	n := memory.Note{Text: fmt.Sprintf("Note %d of writer %d.", i, writer), Key: fmt.Sprintf("%d-%d", writer, i), Source: memory.NoteFromAgent}
	if random.IntN(3) == 0 {
		n.Text += strings.Repeat("\nIt is long, and all of it counts.", 16+random.IntN(100))
	}
	if random.IntN(8) == 0 && i < 80 { // more would not fit in MEMORY.md
		n.Target = memory.TargetLongTerm
		n.Text = n.Text[:min(len(n.Text), 30)]
		n.Category = []string{"", "fact", "decision"}[random.IntN(3)]
	}
	switch random.IntN(4) {
	case 0:
		ctx, cancel := context.WithTimeout(m.t.Context(), time.Duration(random.IntN(4000))*time.Microsecond)
		_, err := mem.Append(ctx, n)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		m.count(err)
	case 1:
		if err := m.writeBeginning(mem, n, random); err != nil {
			return err
		}
	}
	if _, err := mem.Append(m.t.Context(), n); err != nil {
		return err
	}
	m.mu.Lock()
	m.acknowledged[n.Key] = n
	m.mu.Unlock()
	if random.IntN(4) == 0 {
		if a, err := m.both[1-writer%2].Append(m.t.Context(), n); err != nil || !a.Deduplicated {
			return fmt.Errorf("note %s is written again: %+v, %w", n.Key, a, err)
		}
		n.Text = "Something else."
		if _, err := mem.Append(m.t.Context(), n); !errors.Is(err, memory.ErrConflict) {
			return fmt.Errorf("key %s with another text: %w", n.Key, err)
		}
	}
	return nil
}

// count counts a call that failed.
func (m *appendModel) count(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.failed++
	}
}

// writeBeginning leaves the beginning of a note, as a kill in the middle of its write does.
func (m *appendModel) writeBeginning(mem *Folder, n memory.Note, random *rand.Rand) error {
	n, err := checkNote(n)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(m.ws)
	if err != nil {
		return err
	}
	defer root.Close()
	p, err := mem.openPlace(m.t.Context(), root, n)
	if err != nil {
		return err
	}
	defer func() { closeNotes(p.files) }()
	w, err := p.whole(m.t.Context())
	if err != nil {
		return err
	}
	if w.at < len(w.file.text) {
		return nil // a kill leaves the old file or the new one
	}
	_, err = w.file.f.Write(w.data[:random.IntN(len(w.data)-len(markerOf(n))-2)])
	return err
}

// writeOutside appends lines without a lock, as a shell script does.
func (m *appendModel) writeOutside(ended *atomic.Bool) error {
	for ; !ended.Load(); time.Sleep(500 * time.Microsecond) {
		m.outside.Lock()
		f, err := os.OpenFile(filepath.Join(m.ws, "memory/2026-01-05.md"), os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = fmt.Fprintf(f, "<line %d>\n", m.lines)
			m.lines++
			err = errors.Join(err, f.Close())
		}
		m.outside.Unlock()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// saveInEditor replaces files by new ones with the same text.
func (m *appendModel) saveInEditor(ended *atomic.Bool) error {
	for ; !ended.Load(); time.Sleep(2 * time.Millisecond) {
		for _, name := range []string{"memory/2026-01-05.md", "memory/2026-01-05-2.md", "MEMORY.md"} {
			m.outside.Lock()
			err := renew(m.ws, name)
			m.outside.Unlock()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// check compares the files with the model.
func (m *appendModel) check() {
	m.t.Helper()
	daily := ""
	for part := 1; ; part++ {
		text, err := os.ReadFile(filepath.Join(m.ws, dayFile(notesFolder, m.both[0].opt.Now(), part)))
		if errors.Is(err, os.ErrNotExist) {
			break
		}
		daily += string(text) + "\n"
	}
	for i := range m.lines {
		if n := strings.Count(daily, fmt.Sprintf("<line %d>\n", i)); n != 1 {
			m.t.Errorf("line %d of %d is there %d times", i, m.lines, n)
		}
	}
	text := map[string]string{memory.TargetLongTerm: read(m.t, m.ws, "MEMORY.md"), "": daily}
	for _, n := range m.acknowledged {
		whole := "\n\n" + withMarker(n.Text, "", n) + "\n"
		if n.Target == memory.TargetLongTerm {
			whole = withMarker(bulletText(n), bulletIndent, n) + "\n"
		}
		if count := strings.Count(text[n.Target], whole); count != 1 {
			m.t.Errorf("note %s of %d bytes is there %d times", n.Key, len(n.Text), count)
		}
	}
}
