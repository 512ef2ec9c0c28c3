package indexer

import (
	"context"
	"fmt"
	"time"

	"kioku/internal/safefile"
	"kioku/memory"
)

// batchChunks and batchWait bound a transaction: files are written together until they have that many chunks or the
// first of them has waited that long; slowChunks where the provider is waited for.
const (
	batchChunks = 500
	slowChunks  = 256
	batchWait   = 200 * time.Millisecond
)

// pass reads files on all processors and writes them, with those that are gone, in batches: while one is written, the
// next is read and embedded. It returns the files that changed in the meantime.
func (r *run) pass(ctx context.Context, jobs []job, gone []done) (again []job, err error) {
	ctx, cancel := context.WithCancel(ctx)
	ready := inOrder(ctx, readers(), jobs, r.read)
	w := writer{run: r}
	defer func() {
		err = firstErr(err, w.land())
		cancel()
		for range ready {
		}
		again = w.again
	}()
	b := batch{files: gone}
	wait := time.NewTimer(batchWait)
	defer wait.Stop()
	for more := true; more; {
		flush := false
		select {
		case d, ok := <-ready:
			if more = ok; ok && r.take(d) {
				b.add(d)
			}
			flush = !ok || b.full(r.embedding)
		case <-wait.C:
			flush = true
		case <-w.landed:
			if err := w.land(); err != nil {
				return nil, err
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if flush {
			if err := w.flush(ctx, &b); err != nil {
				return nil, err
			}
			wait.Reset(batchWait)
		}
	}
	return nil, nil
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

// full counts a file as a chunk at least, so that thousands of empty ones are no endless transaction. What a slow provider
// gave is written earlier.
func (b *batch) full(slow bool) bool {
	limit := batchChunks
	if slow {
		limit = slowChunks
	}
	return b.chunks >= limit || len(b.files) >= limit
}

// take accounts for a file that was read, and reports whether it has to be written.
func (r *run) take(d done) bool {
	if d.read && !r.embedding {
		r.rep.Read++
	}
	switch {
	case d.err != nil:
		r.x.opt.Log.Warn("a file cannot be read", "path", d.path, "cause", d.err)
		r.x.notify(Event{Kind: SyncFailed, Path: d.path, Text: d.err.Error()})
	case d.moved:
		r.left = append(r.left, d.abs())
	case d.unread:
	case d.same, d.skippedAsBefore():
		r.unchanged(d.stored)
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
	if r.embedding {
		r.tell(PhaseEmbed, d.path)
	} else {
		r.tell(PhaseIndex, d.path)
	}
}

// writer writes the batches of a pass, one at a time, beside the pass.
type writer struct {
	run *run
	// files are being written; landed is closed after that, when err is set, and nil where nothing is being written.
	files  []done
	landed chan struct{}
	err    error
	// again are files that changed after they were read.
	again []job
}

// flush finds the vectors of a batch and has it written, after the one before.
func (w *writer) flush(ctx context.Context, b *batch) error {
	r := w.run
	if len(b.files) == 0 {
		return nil
	}
	if err := r.vectors.fill(ctx, b.files); err != nil {
		return err
	}
	r.down.Store(r.vectors.down != nil || r.vectors.cut)
	r.rep.Embedded, r.rep.Cached = r.vectors.embedded, r.vectors.cached
	r.noteEmbedErr(r.vectors.trouble())
	if err := w.land(); err != nil {
		return err
	}
	r.flying, r.ahead = r.ahead, 0
	w.begin(ctx, b.files)
	*b = batch{}
	return nil
}

// begin has files written on a goroutine that land waits for.
func (w *writer) begin(ctx context.Context, batch []done) {
	var files []File
	for _, d := range batch {
		if d.gained() {
			files = append(files, d.file)
		}
	}
	w.files, w.landed = batch, make(chan struct{})
	if len(files) == 0 {
		close(w.landed)
		return
	}
	x, landed := w.run.x, w.landed
	go func() {
		defer close(landed)
		if err := x.index.ReplaceFile(ctx, x.embed.Space(), files...); err != nil {
			w.err = fmt.Errorf("write %d files to the index: %w", len(files), err)
		}
	}()
}

// land waits for the files that are being written, if any, and accounts for them.
func (w *writer) land() error {
	if w.landed == nil {
		return nil
	}
	<-w.landed
	files := w.files
	w.files, w.landed = nil, nil
	if w.err != nil {
		return w.err
	}
	r := w.run
	for _, d := range files {
		if j, changed := r.written(d); changed {
			w.again = append(w.again, j)
		} else {
			r.postpone(d)
		}
	}
	r.flying = 0
	r.tell(PhaseCommit, "")
	r.pending()
	return nil
}

// written accounts for a file after the commit. It returns the file again if it is not what was indexed any more.
func (r *run) written(d done) (job, bool) {
	if d.gained() && !(r.embedding && d.hashKnown) {
		r.account(d)
	}
	if d.file.Gone {
		delete(r.x.memos, d.path)
		return job{}, false
	}
	r.flying = max(r.flying-1, 0)
	r.finish(d)
	r.remember(d, d.gained())
	// A conversation goes on; what was said meanwhile is for the next sync.
	if d.skip != "" || d.file.Skipped != "" || d.source == memory.SourceSessions {
		return job{}, false
	}
	info, err := d.root.Lstat(d.rel)
	if err == nil && safefile.Unchanged(info, d.info) {
		return job{}, false
	}
	next := d.job
	next.known, next.retry = true, false
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
	if d.same {
		m.refused, m.parked = r.x.memos[d.path].refused, r.x.memos[d.path].parked
	} else if err := r.vectors.refusal(d.file.Chunks); err != nil {
		m.refused, m.parked = err, r.x.opt.Now().Add(parkedFor)
	}
	if m.refused == nil && m.rested() && m.size == held.Size && m.mtime.Equal(held.ModTime) {
		delete(r.x.memos, d.path)
		return
	}
	r.x.memos[d.path] = m
}
