package flush

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"kioku/internal/atomicfile"
	"kioku/llm"
	"kioku/memory"
)

// errOvertaken: somebody else continues this flush.
var errOvertaken = errors.New("somebody else goes on with this flush")

// step is a line of a flush's journal: an answer of the model, written before its calls are carried out, or the result of
// one of them. The results of an answer follow it in the order of its calls. Who continues a flush goes through the
// same steps first, so that no note gets another key than it had.
type step struct {
	Answer *llm.Message `json:"answer,omitempty"`
	// NoteKey is that of the attempt in which the answer came.
	NoteKey string           `json:"noteKey,omitempty"`
	Result  *llm.Message     `json:"result,omitempty"`
	Note    *memory.Appended `json:"note,omitempty"`
}

// steps reads the journal of a flush. A last line that was cut off is left out: nobody was told that it is written.
func (l *Ledger) steps(id string) ([]step, error) {
	f, err := l.peek()
	if err != nil {
		return nil, err
	}
	defer f.close()
	data, err := f.root.ReadFile(id + journalSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var steps []step
	for line := range bytes.Lines(wholeLines(data)) {
		var s step
		err := json.Unmarshal(line, &s)
		if err == nil && (s.Answer == nil) == (s.Result == nil) {
			err = errors.New("it is neither an answer nor a result")
		}
		if err != nil {
			return nil, f.damaged(id, journalSuffix, fmt.Errorf("line %d: %w", len(steps)+1, err))
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// addStep writes the step after the first n to the journal, waits for the disk, and renews the lease. It returns
// errOvertaken if holder holds the flush no more, or if there are more steps already.
func (l *Ledger) addStep(ctx context.Context, lease Lease, n int, s step) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := l.openLocked(ctx, false)
	if err != nil {
		return err
	}
	defer f.close()
	r, err := f.held(lease.ID, lease.Holder)
	if errors.Is(err, ErrUnknown) || err == nil && r.Done {
		return errOvertaken
	}
	if err != nil {
		return err
	}
	if err := f.appendLine(lease.ID+journalSuffix, n, append(line, '\n')); err != nil {
		return err
	}
	r.Expires = l.now().Add(l.settings.Lease)
	return f.writeRecord(lease.ID, r)
}

// appendLine adds a line to a file that has n whole lines, and takes off what a crash has left of another one.
func (f *folder) appendLine(name string, n int, line []byte) error {
	file, err := f.root.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	whole := wholeLines(data)
	if bytes.Count(whole, []byte("\n")) != n {
		return errOvertaken
	}
	if len(whole) < len(data) {
		if err := file.Truncate(int64(len(whole))); err != nil {
			return err
		}
	}
	if err := atomicfile.Append(file, int64(len(whole)), line); err != nil {
		return err
	}
	if n == 0 {
		return atomicfile.SyncFolder(f.root, ".")
	}
	return nil
}

// wholeLines returns data up to its last line end.
func wholeLines(data []byte) []byte { return data[:bytes.LastIndexByte(data, '\n')+1] }
