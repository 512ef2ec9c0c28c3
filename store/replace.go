package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"kioku/indexer"
	"kioku/memory"
	"kioku/search/analysis"
	"kioku/search/dates"
)

// ReplaceFile implements indexer.Store.
func (s *Store) ReplaceFile(ctx context.Context, files ...indexer.File) (known int, err error) {
	files = s.analyzeAll(files)
	defer s.known.wrote(files) // also if it fails: a commit may have been made
	return known, s.change(ctx, func(w *fileWriter) error {
		for i := range files {
			if err := w.replace(ctx, &files[i]); err != nil {
				return err
			}
		}
		known = w.attached
		return nil
	})
}

// ReplaceAll implements indexer.Store.
func (s *Store) ReplaceAll(ctx context.Context, files iter.Seq2[indexer.File, error]) (known int, err error) {
	defer s.known.forget()
	err = s.write(ctx, func(tx *sql.Tx, ch *change) error {
		space, err := s.clearIndex(ctx, tx)
		if err != nil {
			return err
		}
		ch.all = true
		w, err := s.newWriter(ctx, tx, ch)
		if err != nil {
			return err
		}
		if !space.IsZero() {
			if err := w.setSpace(ctx, space); err != nil {
				return err
			}
		}
		for f, err := range files {
			if err != nil {
				return err
			}
			if err := w.replace(ctx, &s.analyzeAll([]indexer.File{f})[0]); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "UPDATE meta SET chunking = ?", s.chunking); err != nil {
			return fmt.Errorf("record chunking: %w", err)
		}
		known = w.attached
		return w.finish(ctx)
	})
	if err == nil {
		err = s.tidy(ctx)
	}
	return known, s.db.condemn(err)
}

// change runs f in one transaction and keeps the file small after it. If the tables of chunks_vec turn out to be damaged, they
// are made anew, and f runs again.
func (s *Store) change(ctx context.Context, f func(*fileWriter) error) error {
	once := func() error {
		return s.write(ctx, func(tx *sql.Tx, ch *change) error {
			w, err := s.newWriter(ctx, tx, ch)
			if err != nil {
				return err
			}
			if err := f(w); err != nil {
				return err
			}
			return w.finish(ctx)
		})
	}
	err := once()
	if errors.Is(err, errVectors) {
		if err = s.resetVectors(ctx, err); err == nil {
			err = once()
		}
	}
	if err == nil {
		err = s.tidy(ctx)
	}
	return s.db.condemn(err)
}

// analyzeAll analyses those files that Analyze has not seen, on all cores, before the transaction that writes them begins.
func (s *Store) analyzeAll(files []indexer.File) []indexer.File {
	files = slices.Clone(files)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range files {
		f := &files[i]
		if slices.ContainsFunc(f.Chunks, func(c indexer.Chunk) bool { return c.Terms == nil }) {
			f.Chunks = slices.Clone(f.Chunks) // the caller's stay as they are
			g.Go(func() error {
				s.Analyze(f)
				return nil
			})
		}
	}
	g.Wait() // no goroutine returns an error
	return files
}

// Analyze fills in the terms of the chunks of a file.
func (s *Store) Analyze(f *indexer.File) {
	for i := range f.Chunks {
		f.Chunks[i].Terms = s.terms(f, &f.Chunks[i])
	}
}

// terms analyses one chunk. A panic costs the words of this chunk, not the process nor the file.
func (s *Store) terms(f *indexer.File, c *indexer.Chunk) (t *indexer.Terms) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error("analyse chunk", "path", f.Path, "line", c.StartLine, "panic", r, "stack", string(debug.Stack()))
			t = &indexer.Terms{Date: f.Date}
		}
	}()
	date := chunkDate(f, c)
	terms := analysis.ChunkTerms(c.Headings, date, c.Text)
	return &indexer.Terms{Text: strings.Join(terms, " "), Count: len(terms), Date: date}
}

// chunkDate is the date of the entry where it has one of its own, else that of its heading or of the file.
func chunkDate(f *indexer.File, c *indexer.Chunk) string {
	if c.Date != "" {
		return c.Date
	}
	return dates.OfHeadings(c.Headings, f.Date)
}

// evergreen reports whether a file does not decay: its front matter says so, or it is one of the curated files.
func evergreen(f *indexer.File) bool {
	name := path.Base(f.Path)
	return f.Meta.Evergreen || f.Source == memory.SourceMemory && (name == "MEMORY.md" || name == "USER.md")
}
