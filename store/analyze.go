package store

import (
	"log/slog"
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

// analyze fills in the terms of the chunks of a file.
func analyze(f *indexer.File, log *slog.Logger) {
	languages := chunkLanguages(f, log)
	for i := range f.Chunks {
		f.Chunks[i].Terms = analyzeChunk(f, &f.Chunks[i], languages[i], log)
	}
}

// chunkLanguages returns the language that decides how each chunk of a file is analysed. After a panic it returns no
// languages.
func chunkLanguages(f *indexer.File, log *slog.Logger) (languages []analysis.Language) {
	languages = make([]analysis.Language, len(f.Chunks))
	defer func() {
		if r := recover(); r != nil {
			log.Error("detect languages", "path", f.Path, "panic", r, "stack", string(debug.Stack()))
			clear(languages)
		}
	}()
	var whole analysis.Profile
	profiles := make([]*analysis.Profile, len(f.Chunks))
	for i, c := range f.Chunks {
		profiles[i] = analysis.Detect(c.Text)
		whole.Add(profiles[i])
	}
	for i, p := range profiles {
		languages[i] = p.LanguageWithin(whole.Language()).Analysis()
	}
	return languages
}

// analyzeAll analyses the files that analyze has not seen, on all cores, before the transaction that writes them begins.
func (x *index) analyzeAll(files []indexer.File) []indexer.File {
	files = slices.Clone(files)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range files {
		f := &files[i]
		if slices.ContainsFunc(f.Chunks, func(c indexer.Chunk) bool { return c.Terms == nil }) {
			f.Chunks = slices.Clone(f.Chunks) // the caller's chunks do not change
			g.Go(func() error {
				analyze(f, x.log)
				return nil
			})
		}
	}
	g.Wait() // no goroutine returns an error
	return files
}

// analyzeChunk returns the terms of a chunk in a language. After a panic it returns no terms, so that only this chunk is affected.
func analyzeChunk(f *indexer.File, c *indexer.Chunk, l analysis.Language, log *slog.Logger) (t *indexer.Terms) {
	defer func() {
		if r := recover(); r != nil {
			log.Error("analyse chunk", "path", f.Path, "line", c.StartLine, "panic", r, "stack", string(debug.Stack()))
			t = &indexer.Terms{Words: analysis.EncodeTerms(nil), Date: f.Date}
		}
	}()
	date := chunkDate(f, c)
	terms := analysis.ChunkTerms(analysis.Chunk{
		First: c == &f.Chunks[0], Language: l, Names: f.Names, Folders: f.Folders, Headings: c.Headings, Date: date, Text: c.Text,
	})
	return &indexer.Terms{Text: strings.Join(terms, " "), Count: len(terms), Words: analysis.EncodeTerms(terms), Date: date, Language: string(l)}
}

// chunkDate returns the date of the chunk's entry if it has one, else that of its heading or of the file.
func chunkDate(f *indexer.File, c *indexer.Chunk) string {
	if c.Date != "" {
		return c.Date
	}
	return dates.OfHeadings(c.Headings, f.Date)
}

// isEvergreen reports whether the scores of a file do not decay: its front matter says so, or it is one of the curated files.
func isEvergreen(f *indexer.File) bool {
	name := path.Base(f.Path)
	return f.Meta.Evergreen || f.Source == memory.SourceMemory && (name == "MEMORY.md" || name == "USER.md")
}
