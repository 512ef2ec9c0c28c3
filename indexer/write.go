package indexer

import (
	"context"
	"fmt"
	"time"

	"kioku/internal/safefile"
	"kioku/memory"
)

// batchChunks and batchWait bound a transaction: files are written together until they have that many chunks or the
// first of them has waited that long.
const (
	batchChunks = 500
	batchWait   = 200 * time.Millisecond
)

// pass reads files on all processors and writes them, with those that are gone, in batches: while one batch is written,
// the next is read. It returns the files that changed in the meantime.
func (r *run) pass(ctx context.Context, jobs []job, gone []done) (again []job, err error) {
	ctx, cancel := context.WithCancel(ctx)
	ready := inOrder(ctx, readers(), jobs, r.read)
	w := writer{run: r}
	defer func() {
		err = firstErr(err, w.wait())
		cancel()
		for range ready {
		}
		again = w.again
	}()
	b := batch{files: gone}
	due := time.NewTimer(batchWait)
	defer due.Stop()
	for more := true; more; {
		flush := false
		select {
		case d, ok := <-ready:
			if more = ok; ok && r.take(d) {
				b.add(d)
			}
			flush = !ok || b.full()
		case <-due.C:
			flush = true
		case <-w.written:
			if err := w.wait(); err != nil {
				return nil, err
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if flush {
			if err := w.wait(); err != nil {
				return nil, err
			}
			w.start(ctx, b.files)
			b = batch{}
			due.Reset(batchWait)
		}
	}
	return nil, nil
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

// batch is what the next transaction writes.
type batch struct {
	files  []done
	chunks int
}

func (b *batch) add(d done) {
	b.files = append(b.files, d)
	b.chunks += len(d.file.Chunks)
}

// full counts a file as a chunk at least, so that thousands of empty ones are no endless transaction.
func (b *batch) full() bool { return b.chunks >= batchChunks || len(b.files) >= batchChunks }

// take accounts for a file that was read, and reports whether it has to be written.
func (r *run) take(d done) bool {
	if d.read {
		r.rep.Read++
	}
	switch {
	case d.err != nil:
		r.x.opt.Log.Warn("a file cannot be read", "path", d.path, "cause", d.err)
		r.x.notify(Event{Kind: SyncFailed, Path: d.path, Text: d.err.Error()})
	case d.moved:
		r.left = append(r.left, d.abs())
	case d.same, d.skippedAsBefore():
		r.remember(d, false)
	default:
		return true
	}
	r.finish(d)
	return false
}

// finish counts a file as done.
func (r *run) finish(d done) {
	r.progress.FilesDone++
	if d.file.Skipped != "" {
		r.progress.Skipped++
	}
	r.tell(PhaseIndex, d.path)
}

// writer writes the batches of a pass, one at a time, beside the pass.
type writer struct {
	run *run
	// files are being written; written is closed after that, when known and err are set, and nil while nothing is written.
	files   []done
	written chan struct{}
	known   int
	err     error
	// again are files that changed after they were read.
	again []job
}

// start has files written on a goroutine that wait waits for.
func (w *writer) start(ctx context.Context, batch []done) {
	if len(batch) == 0 {
		return
	}
	files := make([]File, len(batch))
	for i, d := range batch {
		files[i] = d.file
	}
	written := make(chan struct{})
	w.files, w.written = batch, written
	go func() {
		defer close(written)
		if w.known, w.err = w.run.x.index.ReplaceFile(ctx, files...); w.err != nil {
			w.err = fmt.Errorf("write %d files to the index: %w", len(files), w.err)
		}
	}()
}

// wait waits for the files that are being written, if any, and accounts for them.
func (w *writer) wait() error {
	if w.written == nil {
		return nil
	}
	<-w.written
	files := w.files
	w.files, w.written = nil, nil
	if w.err != nil {
		return w.err
	}
	r := w.run
	r.rep.Known += w.known
	for _, d := range files {
		if j, changed := r.committed(d); changed {
			w.again = append(w.again, j)
		}
	}
	r.tell(PhaseCommit, "")
	r.pending()
	return nil
}

// committed accounts for a file after the commit. It returns the file again if it is not what was indexed any more.
func (r *run) committed(d done) (job, bool) {
	r.account(d)
	if d.file.Gone {
		delete(r.x.memos, d.path)
		return job{}, false
	}
	r.finish(d)
	r.remember(d, true)
	// A conversation goes on; what was said meanwhile is for the next sync.
	if d.skip != "" || d.file.Skipped != "" || d.source == memory.SourceSessions {
		return job{}, false
	}
	info, err := d.root.Lstat(d.rel)
	if err == nil && safefile.Unchanged(info, d.info) {
		return job{}, false
	}
	next := d.job
	next.known = true
	next.stored = Stored{Source: d.source, SHA256: d.file.SHA256, Skipped: d.file.Skipped}
	if err == nil {
		next.info = info
	}
	return next, true
}

// account counts a written file in the report and tells of it.
func (r *run) account(d done) {
	was, is := d.known && d.stored.Skipped != "", d.file.Skipped != ""
	if was && !is {
		r.rep.Skipped--
	}
	if is && !was {
		r.rep.Skipped++
	}
	switch {
	case d.file.Gone:
		r.rep.Removed++
		r.x.notify(Event{Kind: FileRemoved, Path: d.path})
	case is:
		r.x.notify(Event{Kind: FileSkipped, Path: d.path, Text: d.file.Skipped})
	default:
		r.rep.Files++
		r.rep.Chunks += len(d.file.Chunks)
		r.progress.Chunks += len(d.file.Chunks)
		r.x.notify(Event{Kind: FileIndexed, Path: d.path, Chunks: len(d.file.Chunks)})
	}
}

// remember notes what the index now holds of a file: what was written, or what it held before. A file that rests as the
// index holds it needs no note.
func (r *run) remember(d done, written bool) {
	if d.info == nil {
		return
	}
	held := d.stored
	if written {
		held = Stored{SHA256: d.file.SHA256, Size: d.file.Size, ModTime: d.file.ModTime}
	}
	m := memo{size: d.info.Size(), mtime: d.info.ModTime(), hash: held.SHA256, read: d.at}
	if m.rested() && m.size == held.Size && m.mtime.Equal(held.ModTime) {
		delete(r.x.memos, d.path)
		return
	}
	r.x.memos[d.path] = m
}
