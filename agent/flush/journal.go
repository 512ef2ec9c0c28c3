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

// errOvertaken reports that another holder continues this flush.
var errOvertaken = errors.New("somebody else goes on with this flush")

// step is a line of a journal: an answer of the model, which is written before its calls are executed, or the result of one
// of its calls. The results follow the answer in the order of its calls. Whoever continues a flush replays the steps first,
// so that no note gets a second key.
type step struct {
	Answer *llm.Message `json:"answer,omitempty"`
	// NoteKey is Lease.NoteKey of the attempt in which the model answered.
	NoteKey string           `json:"noteKey,omitempty"`
	Result  *llm.Message     `json:"result,omitempty"`
	Note    *memory.Appended `json:"note,omitempty"`
}

// steps reads the journal of a flush. It skips a last line without an end: no one was told that it was written.
func (l *Ledger) steps(id string) (steps []step, err error) {
	f, err := l.openFolder()
	if err != nil {
		return nil, err
	}
	defer f.close()
	data, err := f.root.ReadFile(id + journalSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
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

// addStep appends a step to a journal of n steps, waits for the disk, and renews the lease. It returns errOvertaken if holder
// no longer has the flush, or if the journal has other than n steps.
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
	r, err := f.heldRecord(lease.ID, lease.Holder)
	if errors.Is(err, ErrUnknown) || err == nil && r.Done {
		return errOvertaken
	}
	if err == nil {
		err = f.appendLine(lease.ID+journalSuffix, n, append(line, '\n'))
	}
	if err != nil {
		return err
	}
	r.Expires = l.now().Add(l.settings.Lease)
	return f.writeRecord(lease.ID, r)
}

// appendLine appends a line to a file of n whole lines. It first removes an unfinished line, which a crash left.
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
	size := int64(len(whole))
	if err := file.Truncate(size); err != nil {
		return err
	}
	if err := atomicfile.Append(file, line); err != nil {
		return err
	}
	if n == 0 {
		return atomicfile.SyncFolder(f.root, ".")
	}
	return nil
}

// wholeLines returns data up to its last line end.
func wholeLines(data []byte) []byte { return data[:bytes.LastIndexByte(data, '\n')+1] }
