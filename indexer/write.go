package indexer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kioku/internal/files"
	"kioku/internal/trace"
	"kioku/memory"
)

// A transaction is written once its files have batchChunks chunks, or once the first of them has waited for batchWait.
const (
	batchChunks = 500
	batchWait   = 200 * time.Millisecond
)

// indexFiles reads files and writes them in batches: while one batch is written, the next is read. It returns the files that
// changed meanwhile.
func (r *syncRun) indexFiles(ctx context.Context, tasks []*fileTask) (changed []*fileTask, err error) {
	w := batchWriter{r: r}
	for t := range r.readFiles(ctx, tasks) {
		if err = ctx.Err(); err != nil {
			break
		}
		if r.mustWrite(t) {
			err = w.addTask(ctx, t)
		}
		if err != nil {
			break
		}
	}
	if err = firstErr(err, ctx.Err()); err == nil {
		err = w.flush(ctx)
	}
	err = firstErr(err, w.wait())
	return w.changed, err
}

// firstErr returns the first error that is not nil.
func firstErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// mustWrite reports whether a file that was read must be written, and finishes the task if not.
func (r *syncRun) mustWrite(t *fileTask) bool {
	if t.contentRead {
		r.rep.Read++
	}
	switch {
	case errors.Is(t.err, errMoved):
		r.unsettled = append(r.unsettled, t.abs())
	case t.err != nil:
		r.unread.add(t)
		r.notify(Event{Kind: SyncFailed, Path: t.path, Text: t.err.Error()})
	case t.unchanged:
		r.remember(t, false)
	default:
		return true
	}
	r.fileDone(t)
	return false
}

// taskDone counts a task that differed from the index.
func (r *syncRun) taskDone(t *fileTask) {
	if t.differs {
		r.differing--
	}
}

// fileDone counts a file in the progress.
func (r *syncRun) fileDone(t *fileTask) {
	r.taskDone(t)
	r.progress.FilesDone++
	if t.file.Skipped != "" {
		r.progress.Skipped++
	}
	r.reportProgress(PhaseIndex, t.path)
}

// batchWriter writes files to the index in batches, one at a time, on a goroutine of its own.
type batchWriter struct {
	r *syncRun
	// batch is the next transaction: its files, how many chunks they have, and when it must begin.
	batch  []*fileTask
	chunks int
	due    time.Time
	// writing are the files of the transaction under way, whose outcome is sent to written; nil while there is none.
	writing []*fileTask
	written chan writeOutcome
	// changed are files that changed after they were read.
	changed []*fileTask
}

// writeOutcome is the outcome of a transaction.
type writeOutcome struct {
	known int
	err   error
}

// addTask adds a file to the batch, and starts to write it if it is full or due.
func (w *batchWriter) addTask(ctx context.Context, t *fileTask) error {
	if len(w.batch) == 0 {
		w.due = time.Now().Add(batchWait)
	}
	w.batch = append(w.batch, t)
	w.chunks += len(t.file.Chunks)
	// Files without chunks count too, so that thousands of them do not make an endless transaction.
	if max(w.chunks, len(w.batch)) < batchChunks && time.Now().Before(w.due) {
		return nil
	}
	return w.flush(ctx)
}

// flush waits for the transaction under way and starts the next.
func (w *batchWriter) flush(ctx context.Context) error {
	if err := w.wait(); err != nil || len(w.batch) == 0 {
		return err
	}
	files := make([]File, len(w.batch))
	for i, t := range w.batch {
		files[i] = t.file
	}
	written := make(chan writeOutcome, 1)
	w.writing, w.written = w.batch, written
	w.batch, w.chunks = nil, 0
	go func() {
		writing, span := trace.Start(ctx, "write")
		known, err := w.r.store.ReplaceFile(writing, files...)
		span.Int("files", len(files))
		span.End(err)
		written <- writeOutcome{known, err}
	}()
	return nil
}

// wait waits for the transaction under way, if any, and accounts for its files.
func (w *batchWriter) wait() error {
	if w.written == nil {
		return nil
	}
	outcome, tasks := <-w.written, w.writing
	w.writing, w.written = nil, nil
	if outcome.err != nil {
		return fmt.Errorf("write %d files to the index: %w", len(tasks), outcome.err)
	}
	w.r.rep.Known += outcome.known
	for _, t := range tasks {
		if next := w.r.committed(t); next != nil {
			w.changed = append(w.changed, next)
		}
	}
	w.r.reportProgress(PhaseCommit, "")
	w.r.reportPending()
	return nil
}

// committed accounts for a file that was written. If the file has changed since it was read, committed returns a task to
// index it again.
func (r *syncRun) committed(t *fileTask) *fileTask {
	r.countWritten(t)
	if t.file.Gone {
		delete(r.stats, t.path)
		r.taskDone(t)
		return nil
	}
	r.fileDone(t)
	r.remember(t, true)
	// A conversation goes on; the next sync indexes what was said meanwhile.
	if t.file.Skipped != "" || memory.IsTranscript(t.source) {
		return nil
	}
	info, err := t.root.Lstat(t.rel)
	if err == nil && files.Unchanged(info, t.info) {
		return nil
	}
	next := &fileTask{foundFile: t.foundFile, stored: &Stored{Source: t.source, SHA256: t.file.SHA256}}
	if err == nil {
		next.info = info
	}
	return next
}

// countWritten counts a written file in the report and notifies of it.
func (r *syncRun) countWritten(t *fileTask) {
	if t.stored != nil && t.stored.Skipped != "" {
		r.rep.Skipped--
	}
	switch {
	case t.file.Gone:
		r.rep.Removed++
		r.notify(Event{Kind: FileRemoved, Path: t.path})
	case t.file.Skipped != "":
		r.rep.Skipped++
		r.notify(Event{Kind: FileSkipped, Path: t.path, Text: t.file.Skipped})
	default:
		r.rep.Files++
		r.rep.Chunks += len(t.file.Chunks)
		r.progress.Chunks += len(t.file.Chunks)
		r.notify(Event{Kind: FileIndexed, Path: t.path, Chunks: len(t.file.Chunks), Modified: t.file.ModTime})
	}
}
