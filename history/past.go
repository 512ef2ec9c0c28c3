package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"kioku/internal/text"
	"kioku/memory"
)

const (
	defaultLog, maxLog = 100, 10_000
	// maxDiffFiles is the maximum number of files whose difference is returned.
	maxDiffFiles = 200
)

// Options say which folder has a past and what of it may be shown.
type Options struct {
	// Folder of the notes.
	Folder string
	// Journal is what is kept of a folder that git has no versions of.
	Journal JournalOptions
	// KeepsJournal says that it is kept.
	KeepsJournal bool
	// Owns reports whether a path is one of a note that the settings of today include.
	Owns func(path string) bool
	// MaxFileBytes is the size above which a note is left out.
	MaxFileBytes int64
	// Episodes cuts a note into parts that have a sensitivity; nil means that nobody knows which lines are private.
	Episodes func(memory.SourceFile) []memory.Episode
}

// Past is the past of a folder of notes.
type Past struct {
	opt     Options
	journal *Journal
}

// NewPast returns the past of a folder, which may have none.
func NewPast(opt Options) *Past { return &Past{opt, NewJournal(opt.Journal)} }

// Open returns the history of the folder: that of git if there is one, else the journal. It returns an error that is memory.ErrNoHistory for
// a folder that has neither.
func (p *Past) Open(ctx context.Context) (*Git, error) {
	g, err := OpenGit(ctx, p.opt.Folder)
	if err == nil || !errors.Is(err, memory.ErrNoHistory) {
		return g, err
	}
	j, empty := p.journal.Open(ctx)
	switch {
	case !errors.Is(empty, memory.ErrNoHistory):
		return j, empty
	case p.opt.KeepsJournal:
		return nil, fmt.Errorf("%w, and its journal is empty: the next sync begins it", err)
	}
	return nil, fmt.Errorf("%w; kioku config set history.journal true keeps one from now on", err)
}

// Record adds a version to the journal; see Journal.Record.
func (p *Past) Record(ctx context.Context, files []Noted, read func(path string) ([]byte, error)) error {
	_, err := p.journal.Record(ctx, files, read)
	return err
}

// Purge removes the versions of a file or folder from the journal; see Journal.Purge.
func (p *Past) Purge(ctx context.Context, name string) (removed int, err error) {
	return p.journal.Purge(ctx, name)
}

// Log returns the changes of notes, the latest first; none if nothing was changed.
func (p *Past) Log(ctx context.Context, q memory.LogQuery) ([]memory.FileChange, error) {
	if q.Limit < 0 || q.Limit > maxLog {
		return nil, &memory.InputError{Field: "limit", Problem: fmt.Sprintf("is %d, not within 0 and %d", q.Limit, maxLog)}
	}
	g, err := p.Open(ctx)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(q.Limit, defaultLog)
	if q.Limit = 0; text.MarkdownExtension(q.Path) != "" {
		q.Limit = limit
	}
	all, err := g.Log(ctx, q)
	if err != nil {
		return nil, err
	}
	shown := all[:0]
	for _, c := range all {
		if !p.opt.Owns(c.Path) || len(shown) == limit {
			continue
		}
		if c.OldPath != "" && !p.opt.Owns(c.OldPath) {
			c.OldPath, c.Change = "", memory.FileAdded
		}
		shown = append(shown, c)
	}
	return shown, nil
}

// Show returns a note as it was. It returns an error that is memory.ErrNotFound for a path that no note can have, and memory.ErrNoVersion
// if it was not there then.
func (p *Past) Show(ctx context.Context, name string, at memory.Moment, ceiling *memory.Sensitivity) (memory.PastFile, error) {
	upTo, err := p.CheckCeiling(ceiling)
	if err != nil {
		return memory.PastFile{}, err
	}
	if !p.opt.Owns(name) {
		return memory.PastFile{}, memory.ErrNoFile
	}
	g, err := p.Open(ctx)
	if err != nil {
		return memory.PastFile{}, err
	}
	v, err := g.Find(ctx, at)
	if err != nil {
		return memory.PastFile{}, err
	}
	file, src, err := g.Show(ctx, name, v)
	if err != nil {
		return memory.PastFile{}, err
	}
	if !p.opt.Owns(file.Path) {
		return memory.PastFile{}, memory.ErrNoFile
	}
	return memory.PastFile{Path: file.Path, Version: v, Text: p.noteUpTo(file.Path, src, upTo)}, nil
}

// Diff returns what two versions of the notes differ in, of at most 200 files. A file that was renamed is one that was removed and one
// that was added. now calls its argument for each note at or below a path as the folder has it now.
func (p *Past) Diff(ctx context.Context, q memory.DiffQuery, now func(each func(path string, src []byte)) error) (memory.Diff, error) {
	ceiling, err := p.CheckCeiling(q.MaxSensitivity)
	if err != nil {
		return memory.Diff{}, err
	}
	g, err := p.Open(ctx)
	if err != nil {
		return memory.Diff{}, err
	}
	var d memory.Diff
	if d.From, err = g.Find(ctx, q.From); err != nil {
		return memory.Diff{}, err
	}
	before, err := p.texts(ctx, g, d.From, q.Path, ceiling)
	if err != nil {
		return memory.Diff{}, err
	}
	after := map[string]string{}
	if q.To == nil {
		err = now(func(name string, src []byte) {
			if isBelow(name, q.Path) && p.opt.Owns(name) {
				after[name] = p.noteUpTo(name, src, ceiling)
			}
		})
	} else if d.To, err = g.Find(ctx, *q.To); err == nil {
		after, err = p.texts(ctx, g, d.To, q.Path, ceiling)
	}
	if err == nil {
		err = addDiffs(&d, before, after)
	}
	if err != nil {
		return memory.Diff{}, err
	}
	return d, nil
}

// addDiffs adds the files that differ.
func addDiffs(d *memory.Diff, before, after map[string]string) error {
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, inA := before[name]
		b, inB := after[name]
		if inA == inB && a == b {
			continue
		}
		if len(d.Files) == maxDiffFiles {
			d.More++
			continue
		}
		file, err := DiffText(name, bytesIf(a, inA), bytesIf(b, inB))
		if err != nil {
			return err
		}
		d.Files = append(d.Files, file)
	}
	return nil
}

// bytesIf returns a text as bytes, nil if there is none.
func bytesIf(s string, ok bool) []byte {
	if !ok {
		return nil
	}
	return append([]byte{}, s...)
}

// Notes returns the notes of a version that may be shown, those at or below a path.
func (p *Past) Notes(ctx context.Context, g *Git, v memory.FolderVersion, below string) ([]File, error) {
	tree, err := g.Tree(ctx, v)
	var files []File
	for _, file := range tree.Files {
		if isBelow(file.Path, below) && file.Size <= p.opt.MaxFileBytes && p.opt.Owns(file.Path) {
			files = append(files, file)
		}
	}
	return files, err
}

// texts returns the notes of a version by path, without lines above a ceiling.
func (p *Past) texts(ctx context.Context, g *Git, v memory.FolderVersion, below string, ceiling memory.Sensitivity) (map[string]string, error) {
	files, err := p.Notes(ctx, g, v, below)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	err = g.Read(ctx, files, func(file File, src []byte) error {
		all[file.Path] = p.noteUpTo(file.Path, src, ceiling)
		return nil
	})
	return all, err
}

// Remaining returns a line for people for each file of which the journal or git has an older version, which it does not change.
func (p *Past) Remaining(ctx context.Context, paths []string) (lines []string, err error) {
	find := func(g *Git, err error, line string) error {
		for i := 0; i < len(paths) && err == nil; i++ {
			var changes []memory.FileChange
			if changes, err = g.Log(ctx, memory.LogQuery{Path: paths[i], Limit: 1}); len(changes) > 0 {
				lines = append(lines, fmt.Sprintf(line, paths[i]))
			}
		}
		if errors.Is(err, memory.ErrNoHistory) {
			return nil
		}
		return err
	}
	j, err := p.journal.Open(ctx)
	if err := find(j, err, "%s in the journal of old notes, until: kioku history purge %[1]s"); err != nil {
		return nil, err
	}
	g, err := OpenGit(ctx, p.opt.Folder)
	if err := find(g, err, "%s in the history of git, which Kioku does not change: git filter-repo can"); err != nil {
		lines = append(lines, "older versions in git, which could not be read: "+err.Error())
	}
	return lines, nil
}
