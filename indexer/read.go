package indexer

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"kioku/chunker"
	"kioku/internal/safefile"
	"kioku/memory"
)

// done is a job after its file was read and cut.
type done struct {
	job
	file File
	// at is when the file was about to be read.
	at time.Time
	// read says that the content was read, same that it is what the index holds already.
	read, same bool
	// moved is a file that was gone or another one when it was to be read.
	moved bool
	// err is a failure that says nothing of the file: what the index holds of it stays.
	err error
}

// read reads a file and cuts it into chunks, unless the index holds this content. A panic on the way is a defect of
// this program, which one file must not spread to the others.
func (r *run) read(j job) (d done) {
	d = done{job: j, at: r.x.opt.Now()}
	defer func() {
		if v := recover(); v != nil {
			r.panicked(&d, v)
		}
	}()
	d.file = j.empty()
	if j.skip != "" {
		return d
	}
	data, info, err := safefile.Read(j.root, j.rel, limitOf(j.source, r.x.opt.MaxFileBytes))
	if info != nil {
		d.info, d.read = info, true
		d.file.ModTime, d.file.Size = info.ModTime(), info.Size()
	}
	if err != nil {
		d.refuse(err)
		return d
	}
	d.file.SHA256 = sha256.Sum256(data)
	d.same = j.known && j.stored.Skipped == "" && j.stored.Source == j.source && j.stored.SHA256 == d.file.SHA256
	if !d.same {
		r.cut(&d.file, data)
	}
	return d
}

// panicked has a file skipped whose reading ended in a panic.
func (r *run) panicked(d *done, v any) {
	r.x.opt.Log.Error("panic while a file was read", "path", d.path, "panic", v, "stack", string(debug.Stack()))
	d.file, d.same = d.empty(), false
	d.file.Skipped = "internal error while reading it (see the log)"
}

// empty is the file as the index is to hold it, before anything is known of its content.
func (j job) empty() File {
	f := File{Path: j.path, Source: j.source, Skipped: j.skip}
	if j.info != nil {
		f.ModTime, f.Size = j.info.ModTime(), j.info.Size()
	}
	return f
}

// refuse sorts out why a file could not be read: it moved, it must not be indexed, or something is broken. Whether a
// file is gone for good is for the next scan to say, which knows of its root too.
func (d *done) refuse(err error) {
	var skip *safefile.SkipError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, safefile.ErrReplaced):
		d.moved = true
	case errors.As(err, &skip), errors.Is(err, fs.ErrPermission):
		d.file.Skipped = skipReason(err)
	default:
		d.err = err
	}
}

// skippedAsBefore reports whether the index lists the file with the same reason already.
func (d *done) skippedAsBefore() bool {
	return d.file.Skipped != "" && d.known && d.stored.Skipped == d.file.Skipped && d.stored.Source == d.source
}

// cut fills in what comes from the content of a file.
func (r *run) cut(f *File, data []byte) {
	var days []string
	switch {
	case f.Source == memory.SourceSessions:
		data, days = r.x.opt.Sessions.render(data)
	case r.x.opt.Hide != nil:
		data = r.x.opt.Hide(data)
	}
	doc := r.x.split.Split(chunker.KindOf(f.Path), data)
	f.Meta, f.Date = doc.Meta, doc.Meta.Date
	if f.Date == "" {
		f.Date = DateOf(path.Base(f.Path))
	}
	f.Chunks = make([]Chunk, len(doc.Chunks))
	for i, c := range doc.Chunks {
		f.Chunks[i] = Chunk{Chunk: c, Hash: sha256.Sum256([]byte(c.Text))}
	}
	dateChunks(f.Chunks, days)
	if r.x.opt.Analyze != nil {
		r.x.opt.Analyze(f)
	}
}

// ahead is how many results inOrder holds for each goroutine, so that a large file does not hold up the others.
const ahead = 4

// inOrder applies do to jobs on n goroutines and sends the results in the order of the jobs. Few results are held at
// any time. The channel is closed after the last one, or soon after ctx is done; no goroutine is left then.
func inOrder(ctx context.Context, n int, jobs []job, do func(job) done) <-chan done {
	out := make(chan done)
	slots := make(chan chan done, ahead*n)
	work := make(chan func(), n)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(slots)
		defer close(work)
		for _, j := range jobs {
			slot := make(chan done, 1)
			select {
			case slots <- slot:
			case <-ctx.Done():
				return
			}
			work <- func() { slot <- do(j) }
		}
	})
	for range n {
		wg.Go(func() {
			for f := range work {
				if ctx.Err() == nil {
					f()
				}
			}
		})
	}
	wg.Go(func() {
		for slot := range slots {
			select {
			case d := <-slot:
				select {
				case out <- d:
				case <-ctx.Done():
				}
			case <-ctx.Done():
			}
		}
	})
	go func() {
		wg.Wait()
		close(out)
	}()
	return out
}

// readers is how many goroutines read files: all processors but the one on which the store writes, which is to wait for
// nobody.
func readers() int { return max(runtime.GOMAXPROCS(0)-1, 1) }
