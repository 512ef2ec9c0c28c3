package indexer

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"runtime"
	"runtime/debug"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"kioku/chunker"
	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/internal/trace"
	"kioku/memory"
)

// errMoved: a file was gone, or another file, when it was about to be read.
var errMoved = errors.New("the file moved while it was indexed")

// readFile reads a file and splits it into chunks, unless the index has this content. A panic on the way is a defect of
// this program that costs only this file.
func (r *syncRun) readFile(ctx context.Context, t *fileTask) {
	if !t.contentMatters() {
		return
	}
	t.readAt = r.opt.Now()
	ctx, span := trace.Start(ctx, "file")
	defer func() {
		span.Int("bytes", int(t.file.Size))
		span.End(t.err)
	}()
	defer func() {
		if v := recover(); v != nil {
			r.opt.Log.Error("panic while a file was read", "path", t.path, "panic", v, "stack", string(debug.Stack()))
			t.file = t.withoutContent()
			t.file.Skipped = "internal error while reading it (see the log)"
			t.unchanged = t.skippedAsBefore()
		}
	}()
	t.file = t.withoutContent()
	if t.skip != "" {
		t.unchanged = t.skippedAsBefore()
		return
	}
	src, err := files.ReadText(t.root, t.rel, limitOf(t.source, r.opt.MaxFileBytes))
	if src.Info != nil {
		t.info, t.contentRead = src.Info, true
		t.file.stamp(src.Info)
	}
	if err != nil {
		t.readFailed(err)
		return
	}
	t.file.SHA256 = src.SHA256
	same := t.stored != nil && t.stored.Skipped == "" && t.stored.Source == t.source &&
		t.stored.SHA256 == t.file.SHA256
	same = same && !r.rebuilds
	t.unchanged = same && (r.req.compares || !needsOrder(t.path))
	if !t.unchanged && !r.req.compares {
		_, span := trace.Start(ctx, "chunk")
		switch {
		case src.Encoding != "":
			t.file.Remark = "read as " + src.Encoding + ", for it is not UTF-8"
		case !memory.IsTranscript(t.source) && !utf8.Valid(src.Data):
			t.file.Remark = "some bytes are not UTF-8, and cannot be read"
		}
		r.split(&t.file, t.foundFile, src.Data)
		t.unchanged = same && t.file.Date == t.stored.Date
		span.Int("chunks", len(t.file.Chunks))
		span.End(nil)
	}
}

// withoutContent returns the file as the index must contain it if its content is not read.
func (f *foundFile) withoutContent() File {
	file := File{Path: f.path, Source: f.source, Skipped: f.skip}
	if f.info != nil {
		file.stamp(f.info)
	}
	return file
}

// stamp fills in what is known of a file without reading it.
func (f *File) stamp(info fs.FileInfo) {
	f.ModTime, f.Stamp, f.Size = info.ModTime(), files.Stamp(info), info.Size()
}

// readFailed decides what an error means: the file moved, must be skipped, or is in trouble. Only the next scan, which
// knows the state of the root, can say whether a file that moved is gone.
func (t *fileTask) readFailed(err error) {
	var skip *files.SkipError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, files.ErrReplaced):
		t.err = errMoved
	case errors.As(err, &skip), errors.Is(err, fs.ErrPermission):
		t.file.Skipped = skipReason(err)
		t.unchanged = t.skippedAsBefore()
	default:
		t.err = err
	}
}

// skippedAsBefore reports whether the index already lists the file with the same reason.
func (t *fileTask) skippedAsBefore() bool {
	return t.stored != nil && t.stored.Skipped == t.file.Skipped && t.stored.Source == t.source
}

// split fills in the chunks, and what else comes from the content of a file and its place in its root.
func (r *syncRun) split(f *File, found foundFile, data []byte) {
	var days []string
	switch {
	case memory.IsTranscript(f.Source):
		raw, reading := data, r.layout.read(f.Source)
		data, days = render(reading, raw)
		if left := reading.LeftOut(); left != "" {
			f.Remark = "lines that are not understood are left out: " + left
		}
		f.Origins = r.spokenOrigins(f.Source, raw, data)
	default:
		if r.opt.Origins != nil {
			f.Origins = r.opt.Origins(data)
		}
		data = text.StripMarks(data)
	}
	doc := r.splitter.Split(chunker.KindOf(f.Path), data)
	f.describe(doc, found)
	if !memory.IsTranscript(f.Source) && (doc.OnlyPlaceholders || doc.Placeholders && isTemplatePath(found.rel)) {
		f.Remark = "it is a template: no search finds it"
		return
	}
	f.Chunks = make([]Chunk, len(doc.Chunks))
	for i, c := range doc.Chunks {
		f.Chunks[i] = Chunk{Chunk: c, Hash: EmbeddedHash(f.Names, c.Text)}
	}
	dateChunks(f.Chunks, days)
	if r.opt.Analyze != nil {
		r.opt.Analyze(f)
	}
}

// readAhead is how many tasks for each reading goroutine may wait for an earlier one, so that a large file does not hold up
// the others.
const readAhead = 4

// readFiles reads files on several goroutines and yields them in order. It takes the tasks out of the slice, so that only a
// few files are in memory at once. After ctx is done it yields only files that it has begun. No goroutine is left when it
// returns.
func (r *syncRun) readFiles(ctx context.Context, tasks []*fileTask) iter.Seq[*fileTask] {
	// The store writes on one processor, which must not wait for readers.
	readers := max(runtime.GOMAXPROCS(0)-1, 1)
	return func(yield func(*fileTask) bool) {
		ctx, cancel := context.WithCancel(ctx)
		begun := make(chan chan *fileTask, readAhead*readers)
		var feeder, pool errgroup.Group
		pool.SetLimit(readers)
		feeder.Go(func() error {
			defer close(begun)
			for i, t := range tasks {
				tasks[i] = nil
				result := make(chan *fileTask, 1)
				select {
				case begun <- result:
				case <-ctx.Done():
					return nil
				}
				pool.Go(func() error {
					r.readFile(ctx, t)
					result <- t
					return nil
				})
			}
			return nil
		})
		defer func() {
			cancel()
			feeder.Wait() // no goroutine of either group returns an error
			pool.Wait()
		}()
		for result := range begun {
			if !yield(<-result) {
				return
			}
		}
	}
}
