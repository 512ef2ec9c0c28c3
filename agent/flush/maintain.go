package flush

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"kioku/internal/atomicfile"
)

const (
	// keepRecords is how long the record of a flush that has succeeded is kept.
	keepRecords = 30 * 24 * time.Hour
	// sweepEvery is how often a process looks for old flushes.
	sweepEvery = time.Hour
)

// NextCycle returns the lowest cycle of a session that can be flushed, with all later ones: the one after the last that has
// ended well or has no attempt left, 0 if there is none. Who has lost count of the cycles continues it.
func (l *Ledger) NextCycle(session string) (int, error) {
	f, err := l.peek()
	if errors.Is(err, ErrUnknown) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.close()
	cycles := f.cycles(session, recordSuffix)
	for _, cycle := range slices.Backward(cycles) {
		r, _, err := f.record(flushID(session, cycle))
		if err != nil {
			return 0, err
		}
		if r.Done || r.Failed >= l.settings.Attempts {
			return cycle + 1, nil
		}
	}
	return 0, nil
}

// Maintain removes spools and journals of the flushes of a session that have succeeded, before a cycle: who is there has
// compacted what they were of. A file that cannot be removed now is left to the next time.
func (l *Ledger) Maintain(session string, cycle int) {
	f, err := l.peek()
	if err != nil {
		return
	}
	defer f.close()
	f.removeDone(session, cycle)
	l.sweep(f)
}

// sweep removes all that is left of old flushes that have succeeded, at most once in a while.
func (l *Ledger) sweep(f *folder) {
	now := l.now()
	l.mu.Lock()
	due := l.swept.IsZero() || now.Sub(l.swept) >= sweepEvery
	if due {
		l.swept = now
	}
	l.mu.Unlock()
	if !due {
		return
	}
	for _, name := range f.names() {
		id, isRecord := strings.CutSuffix(name, recordSuffix)
		if !isRecord || !idForm.MatchString(id) {
			continue
		}
		if r, begun, err := f.record(id); err == nil && begun && r.Done && now.Sub(r.Begun) > keepRecords {
			f.removeMessages(id)
			f.root.Remove(name)
		}
	}
}

// names of all files.
func (f *folder) names() []string {
	d, err := f.root.Open(".")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	return names
}

// cycles of a session that have a file with a suffix, the lowest first.
func (f *folder) cycles(session, suffix string) []int {
	var cycles []int
	for _, name := range f.names() {
		id, ok := strings.CutSuffix(name, suffix)
		if !ok || !idForm.MatchString(id) {
			continue
		}
		hash, number, _ := strings.Cut(id, "-")
		if cycle, err := strconv.Atoi(number); err == nil && hash == sessionHash(session) {
			cycles = append(cycles, cycle)
		}
	}
	slices.Sort(cycles)
	return cycles
}

// removeDone is Ledger.Maintain. It needs no lock: who continues a flush that has succeeded is content without them.
func (f *folder) removeDone(session string, before int) {
	for _, suffix := range []string{spoolSuffix, journalSuffix} {
		for _, cycle := range f.cycles(session, suffix) {
			if cycle >= before {
				break
			}
			id := flushID(session, cycle)
			if r, begun, err := f.record(id); err == nil && begun && r.Done {
				f.removeMessages(id)
			}
		}
	}
}

// removeMessages removes what a flush keeps beside its record.
func (f *folder) removeMessages(id string) {
	f.root.Remove(id + spoolSuffix)
	f.root.Remove(id + journalSuffix)
}

// removeTemps removes files that were not written whole. Who wrote them is gone, for the folder is locked.
func (f *folder) removeTemps() {
	for _, name := range f.names() {
		if atomicfile.IsTemp(name) {
			f.root.Remove(name)
		}
	}
}
