package flush

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kioku/internal/atomicfile"
)

const (
	// keepRecords is the age up to which the records of flushes that succeeded are kept.
	keepRecords = 30 * 24 * time.Hour
	// sweepEvery is the minimum time between two looks for old flushes in one process.
	sweepEvery = time.Hour
)

// Maintain removes the spools and journals of the flushes of a session that are done and belong to a cycle before the given
// one. It ignores errors; the next call tries again.
func (l *Ledger) Maintain(session string, cycle int) {
	l.inspect("", func(f *folder) error {
		f.removeDone(session, cycle)
		l.sweep(f)
		return nil
	})
}

// sweep removes all files of old flushes that succeeded, at most once within sweepEvery.
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
	for _, id := range f.ids(recordSuffix) {
		if r, err := f.record(id); err == nil && r.Done && now.Sub(r.Begun) > keepRecords {
			f.removeMessages(id)
			f.root.Remove(id + recordSuffix)
		}
	}
}

// fileNames returns the names of all files.
func (f *folder) fileNames() []string {
	d, err := f.root.Open(".")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	return names
}

// ids returns the ids of the flushes that have a file with a suffix.
func (f *folder) ids(suffix string) []string {
	var ids []string
	for _, name := range f.fileNames() {
		if id, ok := strings.CutSuffix(name, suffix); ok && idForm.MatchString(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// cycles returns the cycles of a session that have a file with a suffix, in ascending order.
func (f *folder) cycles(session, suffix string) []int {
	var cycles []int
	for _, id := range f.ids(suffix) {
		hash, number, _ := strings.Cut(id, "-")
		if cycle, err := strconv.Atoi(number); err == nil && hash == sessionHash(session) {
			cycles = append(cycles, cycle)
		}
	}
	slices.Sort(cycles)
	return cycles
}

// removeDone removes the spools and journals of flushes that are done and belong to a cycle before the given one. It needs
// no lock, because a flush that is done is never continued.
func (f *folder) removeDone(session string, before int) {
	for _, suffix := range []string{spoolSuffix, journalSuffix} {
		for _, cycle := range f.cycles(session, suffix) {
			if cycle >= before {
				break
			}
			id := flushID(session, cycle)
			if r, err := f.record(id); err == nil && r.Done {
				f.removeMessages(id)
			}
		}
	}
}

// removeMessages removes the spool and the journal of a flush.
func (f *folder) removeMessages(id string) {
	f.root.Remove(id + spoolSuffix)
	f.root.Remove(id + journalSuffix)
}

// removeTemps removes temporary files. The folder must be locked: then the processes that wrote them are gone.
func (f *folder) removeTemps() {
	for _, name := range f.fileNames() {
		if atomicfile.IsTemp(name) {
			f.root.Remove(name)
		}
	}
}
