package soak

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// pageSize of the database.
const pageSize = 4096

// harm is one way to damage a file. It returns where.
type harm struct {
	name string
	do   func(f *os.File, size int64, r *rand.Rand) (at int64, err error)
}

var harms = []harm{
	{"zeroed page", func(f *os.File, size int64, r *rand.Rand) (int64, error) {
		at := pageOf(size, r)
		_, err := f.WriteAt(make([]byte, pageSize), at)
		return at, err
	}},
	{"random page", func(f *os.File, size int64, r *rand.Rand) (int64, error) {
		at, b := pageOf(size, r), make([]byte, pageSize)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		_, err := f.WriteAt(b, at)
		return at, err
	}},
	{"flipped bit", func(f *os.File, size int64, r *rand.Rand) (int64, error) {
		at, b := r.Int64N(size), make([]byte, 1)
		if _, err := f.ReadAt(b, at); err != nil {
			return at, err
		}
		b[0] ^= 1 << r.IntN(8)
		_, err := f.WriteAt(b, at)
		return at, err
	}},
	{"swapped pages", func(f *os.File, size int64, r *rand.Rand) (int64, error) {
		a, b := make([]byte, pageSize), make([]byte, pageSize)
		for {
			one, other := pageOf(size, r), pageOf(size, r)
			_, errA := f.ReadAt(a, one)
			_, errB := f.ReadAt(b, other)
			if err := errors.Join(errA, errB); err != nil {
				return one, err
			}
			if bytes.Equal(a, b) { // nothing would change
				continue
			}
			_, errA = f.WriteAt(a, other)
			_, errB = f.WriteAt(b, one)
			return one, errors.Join(errA, errB)
		}
	}},
	{"cut", func(f *os.File, size int64, r *rand.Rand) (int64, error) {
		at := r.Int64N(size)
		return at, f.Truncate(at)
	}},
}

// pageOf returns the offset of a random page.
func pageOf(size int64, r *rand.Rand) int64 { return r.Int64N(size/pageSize) * pageSize }

// damageNotes is the number of notes in a place whose index is damaged.
const damageNotes = 60

// damages damages the database of a daemon that is stopped, or running.
func damages(s *soak, d time.Duration) {
	t := &damageTotals{}
	provider := newProvider(s)
	places := []*place{damagePlace(s, nil), damagePlace(s, provider)}
	whole := int(provider.texts.Load()) // of one index: chunks and their windows
	end := time.Now().Add(d)
	for i := 0; i < 2 || time.Now().Before(end); i++ {
		t.attack(s, places[i%2], harms[s.rand.IntN(len(harms))], i/2%2 == 1)
	}
	s.add("damages done / noticed / overwritten in time / mended", "%d / %d / %d / %d", t.done, t.noticed, t.overwritten, t.mended)
	s.add("answers about damaged indexes: other in silence before / after the scrub / failed", "%d / %d / %d", t.silent, t.silentAfter, t.failed)
	s.add("texts embedded again for damages", "%d of %d", t.embedded, t.done*whole/2)
}

// damageTotals counts what damages led to. A running daemon has overwritten some with what should be there before it read them.
type damageTotals struct{ done, noticed, overwritten, mended, silent, silentAfter, failed, embedded int }

// damagePlace makes a place with notes, indexes it, and keeps a copy of the index.
func damagePlace(s *soak, p *provider) *place {
	s.Helper()
	pl := newPlace(s, s.TempDir(), p)
	for i := range damageNotes {
		text := fmt.Sprintf("# Harbour %d\n\nThe pilot of boat%dz met the %s ship at pier %d.\n%s\n", i, i, ordinal(i), i%7, strings.Repeat("Tide, wind and rope. ", 60))
		if err := os.WriteFile(filepath.Join(pl.workspace, "memory", fmt.Sprintf("harbour-%02d.md", i)), []byte(text), 0o644); err != nil {
			s.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	files, err := filepath.Glob(filepath.Join(pl.workspace, "memory", "*.md"))
	if err != nil {
		s.Fatal(err)
	}
	for _, f := range files {
		if err := os.Chtimes(f, old, old); err != nil {
			s.Fatal(err)
		}
	}
	if out, err := pl.command(pl.state, "index", "--strict").CombinedOutput(); err != nil {
		s.Fatalf("index: %v: %s", err, out)
	}
	if err := os.CopyFS(filepath.Join(pl.dir, "whole"), os.DirFS(pl.state)); err != nil {
		s.Fatal(err)
	}
	return pl
}

// ordinal returns a word that several notes share.
func ordinal(i int) string { return []string{"first", "second", "third", "fourth", "fifth"}[i%5] }

// restore puts the whole index back in the place of a damaged one.
func (p *place) restore(s *soak) {
	s.Helper()
	if err := os.RemoveAll(p.state); err != nil {
		s.Fatal(err)
	}
	if err := os.CopyFS(p.state, os.DirFS(filepath.Join(p.dir, "whole"))); err != nil {
		s.Fatal(err)
	}
	for _, dir := range []string{p.state, filepath.Dir(p.database())} {
		if err := os.Chmod(dir, 0o700); err != nil {
			s.Fatal(err)
		}
	}
}

// queries are asked before and after a damage.
func queries() []string {
	q := []string{"first ship pier 3", "fourth ship", "tide wind and rope"}
	for i := 0; i < damageNotes; i += 4 {
		q = append(q, fmt.Sprintf("pilot of boat%dz", i))
	}
	return q
}

// answers returns the hits of each query as text, "degraded" for an answer that says what it lacks, and "error: ..." for one
// that fails.
func (c client) answers() []string {
	var all []string
	for _, q := range queries() {
		answer, err := c.search(q)
		switch {
		case err != nil:
			all = append(all, "error: "+err.Error())
		case len(answer.Degraded) > 0:
			all = append(all, "degraded")
		default:
			var hits []string
			for _, h := range answer.Hits {
				hits = append(hits, fmt.Sprintf("%s:%d-%d %s", h.Path, h.StartLine, h.EndLine, h.Snippet))
			}
			slices.Sort(hits) // equal scores may change places
			all = append(all, strings.Join(hits, "\n"))
		}
	}
	return all
}

// attack damages the index of a place, asks, has it scrubbed, and asks again.
func (t *damageTotals) attack(s *soak, p *place, h harm, running bool) {
	s.Helper()
	p.restore(s)
	p.serve()
	c := p.dial()
	defer c.Close()
	want := c.answers()
	var before int64
	if p.provider != nil {
		before = p.provider.texts.Load()
	}
	if !running {
		p.stop(syscall.SIGTERM)
	}
	log := p.lines()
	at := p.damage(s, h)
	what := fmt.Sprintf("damage %d, %s at %d, running %v, vectors %v", t.done, h.name, at, running, p.provider != nil)
	t.done++
	harmed := p.pageAt(s, at)
	if !running {
		p.start()
	}
	got := c.answers()
	t.count(s, what, want, got, &t.silent)
	found, err := p.scrub()
	if err != nil {
		s.broken("%s: the scrub fails: %v; %q", what, err, p.tail())
	}
	lacks, silent := c.settle(patience), t.silentAfter
	if t.count(s, what, want, c.answers(), &t.silentAfter); t.silentAfter > silent {
		s.broken("%s: other answers after the scrub", what)
	}
	if p.provider != nil {
		t.embedded += int(p.provider.texts.Load() - before)
	}
	noticed := p.said(log, "damage") || p.said(log, "is replaced by a new one") || strings.Contains(found, "damage") ||
		slices.ContainsFunc(got, func(a string) bool { return a == "degraded" })
	if !p.alive() {
		s.broken("%s: the daemon died: %q", what, p.tail())
		return
	}
	p.stop(syscall.SIGTERM)
	switch {
	case noticed:
		t.noticed++
	case running && !bytes.Equal(harmed, p.pageAt(s, at)):
		t.overwritten++
	default:
		s.broken("%s: not noticed; %q", what, p.tail())
	}
	if diff := p.compare(); len(diff) > 0 || lacks != "" {
		s.broken("%s: not mended: %s %q; %q", what, lacks, diff, p.tail())
		return
	}
	t.mended++
}

// count counts the answers that failed, and those that are others without saying so.
func (t *damageTotals) count(s *soak, what string, want, got []string, silent *int) {
	s.Helper()
	for i := range want {
		switch {
		case got[i] == want[i], got[i] == "degraded":
		case strings.HasPrefix(got[i], "error: "):
			t.failed++
		default:
			*silent++
			s.Logf("%s: another answer to %q: %.200s; it was %.200s", what, queries()[i], got[i], want[i])
		}
	}
}

// pageAt returns the page of the database at an offset, as far as it is there.
func (p *place) pageAt(s *soak, at int64) []byte {
	s.Helper()
	f, err := os.Open(p.database())
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, pageSize)
	n, err := f.ReadAt(page, at/pageSize*pageSize)
	if err != nil && !errors.Is(err, io.EOF) {
		s.Fatal(err)
	}
	return page[:n]
}

// damage damages the database, of which everything has been written by then: SQLite copies the log into the file at the end of
// a process only.
func (p *place) damage(s *soak, h harm) (at int64) {
	s.Helper()
	f, err := os.OpenFile(p.database(), os.O_RDWR, 0)
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		at, err = h.do(f, size, s.rand)
	}
	if err != nil {
		s.Fatalf("%s: %v", h.name, err)
	}
	return at
}
