package flush

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kioku/llm"
)

// Spool returns messages as a Job keeps them on disk.
func Spool(messages []llm.Message) ([]json.RawMessage, error) {
	var spool []json.RawMessage
	for i, m := range messages {
		line, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("spool message %d: %w", i+1, err)
		}
		spool = append(spool, line)
	}
	return spool, nil
}

// conversation is the inverse of Spool.
func conversation(spool []json.RawMessage) ([]llm.Message, error) {
	messages := make([]llm.Message, len(spool))
	for i, line := range spool {
		if err := json.Unmarshal(line, &messages[i]); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	return messages, nil
}

// Kept is a flush that a ledger holds.
type Kept struct {
	Session string
	Cycle   int
	// Through is that of the Job, empty if it had none.
	Through string
	Done    bool
	// Left are the attempts that it has yet, and Spool the path of the file with its messages; 0 and empty if it is done.
	Left  int
	Spool string

	begun time.Time
}

// Kept returns the flushes of the sessions that ours holds for, in the order in which they were begun. It reads the record of
// each flush of the ledger. Records that are damaged are left out: Begin names them.
func (l *Ledger) Kept(ours func(session string) bool) ([]Kept, error) {
	f, err := l.peek()
	if errors.Is(err, ErrUnknown) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list flushes: %w", err)
	}
	defer f.close()
	var kept []Kept
	for _, name := range f.names() {
		id, isRecord := strings.CutSuffix(name, recordSuffix)
		if !isRecord || !idForm.MatchString(id) {
			continue
		}
		if r, begun, err := f.record(id); err == nil && begun && ours(r.Session) {
			kept = append(kept, l.kept(id, r))
		}
	}
	slices.SortStableFunc(kept, func(a, b Kept) int { return a.begun.Compare(b.begun) })
	return kept, nil
}

// kept tells of a record.
func (l *Ledger) kept(id string, r record) Kept {
	k := Kept{Session: r.Session, Cycle: r.Cycle, Through: r.Through, Done: r.Done, begun: r.Begun}
	if !r.Done {
		k.Left, k.Spool = max(0, l.opt.Attempts-r.Failed), filepath.Join(l.folder, id+spoolSuffix)
	}
	return k
}

// Unfinished returns the flush of a cycle that was begun and is not done, and reports whether there is one.
func (l *Ledger) Unfinished(session string, cycle int) (Kept, bool, error) {
	f, err := l.peek()
	if errors.Is(err, ErrUnknown) {
		return Kept{}, false, nil
	}
	if err != nil {
		return Kept{}, false, fmt.Errorf("read flush: %w", err)
	}
	defer f.close()
	id := flushID(session, cycle)
	r, begun, err := f.record(id)
	if err != nil {
		return Kept{}, false, fmt.Errorf("read flush: %w", err)
	}
	return l.kept(id, r), begun && !r.Done, nil
}
