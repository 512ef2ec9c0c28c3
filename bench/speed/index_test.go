package speed

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"kioku"
	"kioku/chunker"
)

const (
	// indexRounds is how often each full index is measured.
	indexRounds = 3
	// indexNotes of at least indexNoteBytes are what a full index reads: 20 MB.
	indexNotes, indexNoteBytes = 2000, 10_000
)

// indexBench is a workspace that is indexed in full, again and again.
type indexBench struct {
	dir       string
	workspace string
	notes     []note
	chunks    []string // the texts of all chunks, overlaps included
}

// newIndexBench writes the notes. It splits them once, so that what is loaded at the first use is loaded.
func newIndexBench(ctx context.Context, e *Env) (*indexBench, error) {
	b := &indexBench{dir: e.Dir, workspace: filepath.Join(e.Dir, "workspace")}
	splitter, err := chunker.New(chunker.Options{})
	if err != nil {
		return nil, err
	}
	if b.notes, err = writeNotes(ctx, b.workspace, indexNotes, indexNoteBytes); err != nil {
		return nil, err
	}
	for _, n := range b.notes {
		for _, c := range splitter.Split(chunker.Notes, []byte(n.text)).Chunks {
			b.chunks = append(b.chunks, c.Text)
		}
	}
	return b, nil
}

// indexWords compares a full index without vectors with the least that it has to do, on one core: hash the text, count its
// tokens, and insert it into a plain FTS5 table.
func indexWords(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	b, err := newIndexBench(ctx, e)
	if err != nil {
		return 0, 0, err
	}
	return e.medians(indexRounds, func() error { return b.index(ctx, 0, nil) }, func() error { return b.insertWords(ctx) })
}

// indexSize compares the size of the database after a full index with vectors, and again after every tenth note was
// edited, deleted or created, with the size of the texts and their vectors. It returns the worse of the two.
func indexSize(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	b, err := newIndexBench(ctx, e)
	if err != nil {
		return 0, 0, err
	}
	for _, change := range []func() error{func() error { return nil }, b.changeNotes} {
		err := b.index(ctx, vectorDims, func(m *kioku.Memory) error {
			if err := change(); err != nil {
				return err
			}
			if _, err := m.Sync(ctx, kioku.SyncOptions{Verify: true}, nil); err != nil {
				return err
			}
			size, least, err := b.size(ctx, m)
			if yardstick == 0 || size/least > ours/yardstick {
				ours, yardstick = size, least
			}
			return err
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return ours, yardstick, nil
}

// index builds a full index with vectors of dims numbers, or without vectors if dims is 0, and passes it to use, unless that
// is nil. It returns an error if the index lacks something, and so was built too fast.
func (b *indexBench) index(ctx context.Context, dims int, use func(*kioku.Memory) error) (err error) {
	state, err := os.MkdirTemp(b.dir, "state-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	opt := kioku.Options{Workspace: b.workspace, StateDir: state}
	if opt.Embedder, err = (provider{dims}).client("http://localhost"); err != nil {
		return err
	}
	m, r, err := openIndexed(ctx, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	switch {
	case r.Files != len(b.notes) || r.Chunks != len(b.chunks):
		return fmt.Errorf("%d files and %d chunks were indexed, of %d and %d", r.Files, r.Chunks, len(b.notes), len(b.chunks))
	case dims > 0 && r.Embedded+r.Known < len(b.chunks):
		return fmt.Errorf("%d of %d texts were embedded", r.Embedded+r.Known, len(b.chunks))
	case use != nil:
		return use(m)
	}
	return nil
}

// size returns the size of the database and that of what it is built from, the texts of the notes and a vector a chunk, in
// MB.
func (b *indexBench) size(ctx context.Context, m *kioku.Memory) (size, least float64, err error) {
	s, err := m.Status(ctx)
	if err != nil {
		return 0, 0, err
	}
	if s.Embedded < s.Index.Chunks {
		return 0, 0, fmt.Errorf("%d of %d chunks have a vector", s.Embedded, s.Index.Chunks)
	}
	db, err := readIndex(ctx, m)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	pages, err := db.bytes(ctx)
	for _, n := range b.notes {
		least += float64(len(n.text))
	}
	least += float64(4 * vectorDims * s.Embedded)
	return float64(max(s.Sizes.Database, pages)) / 1e6, least / 1e6, err
}

// changeNotes edits every tenth note, deletes every tenth and creates as many.
func (b *indexBench) changeNotes() error {
	for i := 0; i < len(b.notes); i += 10 {
		edited, deleted := &b.notes[i], &b.notes[i+1]
		half := len(edited.text) / 2
		end := half + strings.IndexByte(edited.text[half:], '\n') + 1
		edited.text = edited.text[:end] + "\nOne more line.\n" + edited.text[end:]
		created := note{notePath(b.workspace, len(b.notes)+i), strings.ReplaceAll(deleted.text, "e", "o")}
		err := errors.Join(writeFile(edited.path, edited.text), os.Remove(deleted.path), writeFile(created.path, created.text))
		if err != nil {
			return err
		}
		*deleted = created
	}
	return nil
}

// insertWords is the yardstick of indexWords.
func (b *indexBench) insertWords(ctx context.Context) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	splitter, err := chunker.New(chunker.Options{})
	if err != nil {
		return err
	}
	tokens, sums := 0, make([][sha256.Size]byte, len(b.chunks))
	for i, text := range b.chunks {
		tokens += splitter.Count(text)
		sums[i] = sha256.Sum256([]byte(text))
	}
	return b.withTable(ctx, "CREATE VIRTUAL TABLE bare USING fts5 (text)", func(y yardstick) error {
		return y.insert(ctx, len(b.chunks), "INSERT INTO bare (text) VALUES (?)", func(i int) []any { return []any{b.chunks[i]} })
	})
}

// withTable calls f with a new database with one table and the settings of the index, and removes it.
func (b *indexBench) withTable(ctx context.Context, table string, f func(yardstick) error) error {
	dir, err := os.MkdirTemp(b.dir, "bare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	y, err := openYardstick(ctx, filepath.Join(dir, "bare.sqlite"), writable, table)
	if err != nil {
		return err
	}
	return errors.Join(f(y), y.Close())
}
