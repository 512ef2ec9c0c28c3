package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	defaultLog, maxLog = 100, 10_000
	// maxDiffFiles is the maximum number of files whose difference is returned.
	maxDiffFiles = 200
)

// Options say which folder has a past, what of it may be shown, and how its versions are searched.
type Options struct {
	// Folder of the notes, absolute and without symbolic links.
	Folder string
	// State is the folder of the agent's state, in which the journal and the indexes of old notes are.
	State string
	// KeepsJournal says that the journal is kept of a folder that git has no versions of.
	KeepsJournal bool
	// Journal are the limits of the journal; its folder and its clock are filled in.
	Journal JournalOptions
	// ReadOnly keeps Forget, Purge, Record and Search from writing to State.
	ReadOnly bool
	// Owns reports whether a path is one of a note that the settings of today include.
	Owns func(path string) bool
	// FileOf returns the path of the file that a citation names, and whether there is one.
	FileOf func(citation string) (path string, ok bool)
	// Indexed returns the notes of the folder that the index has now, in any order; one whose text is not indexed has no hash.
	Indexed func(ctx context.Context) ([]Noted, error)
	// Changes is the log of what was written to the notes.
	Changes Changes
	// Index makes an index of a folder of old notes in a state folder.
	Index func(ctx context.Context, notes, state string) error
	// Search answers a query from such an index.
	Search func(ctx context.Context, notes, state string, q memory.Query) (memory.Answer, error)
	// Recipe changes when an index would be made otherwise.
	Recipe string
	// MaxFileBytes is the size above which a note is left out.
	MaxFileBytes int64
	// Episodes cuts a note into parts that have a sensitivity; nil means that nobody knows which lines are private.
	Episodes func(memory.SourceFile) []memory.Episode
	// Location is that of the time at which a query about a version is asked.
	Location *time.Location
	// Now is the clock.
	Now func() time.Time
}

// Changes is a log of changes of notes; *note.Folder has one.
type Changes interface {
	// DropChanges removes the changes of files that have one of some texts.
	DropChanges(ctx context.Context, paths, said []string) error
	// Purge removes the changes of a file or folder, and returns how many.
	Purge(ctx context.Context, name string) (int, error)
}

// Past is the past of a folder of notes. Its methods may be called concurrently.
type Past struct {
	opt     Options
	journal *Journal
	// recorded is 1 more than the generation of the index that the journal has; 0 if it is not known.
	recorded atomic.Int64
}

// NewPast returns the past of a folder, which may have none.
func NewPast(opt Options) *Past {
	opt.Journal.Folder, opt.Journal.Now = filepath.Join(opt.State, "journal.git"), opt.Now
	return &Past{opt: opt, journal: NewJournal(opt.Journal)}
}

// cleanPath returns the path of a file or folder in a request. The empty path is everything.
func (p *Past) cleanPath(name string) (string, error) {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if name == "" || name == "." {
		return "", nil
	}
	if err := memory.CheckPath(name); err != nil {
		return "", err
	}
	if name != path.Clean(name) || path.IsAbs(name) || strings.HasPrefix(name, "../") || name == ".." {
		return "", &memory.InputError{Field: "path", Problem: "must be the path of a file or folder of the workspace, relative to it"}
	}
	if file, ok := p.opt.FileOf(name); ok && text.MarkdownExtension(file) != "" {
		return file, nil
	}
	return name, nil
}

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

// find returns the history of the folder and a version in it.
func (p *Past) find(ctx context.Context, at memory.Moment) (*Git, memory.FolderVersion, error) {
	g, err := p.Open(ctx)
	if err != nil {
		return nil, memory.FolderVersion{}, err
	}
	v, err := g.Find(ctx, at)
	return g, v, err
}

// Record adds what a generation of the index has to the journal, if it is kept. It does nothing if the journal has that generation.
func (p *Past) Record(ctx context.Context, generation int64) error {
	if !p.opt.KeepsJournal || p.opt.ReadOnly || p.recorded.Swap(generation+1) == generation+1 {
		return nil
	}
	err := p.readIndexed(ctx, func(notes []Noted, read func(string) ([]byte, error)) error {
		notes = slices.DeleteFunc(notes, func(n Noted) bool { return n.Hash == "" })
		_, err := p.journal.Record(ctx, notes, read)
		return err
	})
	if err != nil {
		p.recorded.Store(0)
		return fmt.Errorf("the journal of the notes lacks a version: %w", err)
	}
	return nil
}

// readIndexed calls f with the notes that the index has and that may be shown, in the order of their paths, and a function that reads one.
func (p *Past) readIndexed(ctx context.Context, f func(notes []Noted, read func(name string) ([]byte, error)) error) error {
	notes, err := p.opt.Indexed(ctx)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(p.opt.Folder)
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	defer root.Close()
	notes = slices.DeleteFunc(notes, func(n Noted) bool { return !p.opt.Owns(n.Path) })
	slices.SortFunc(notes, func(a, b Noted) int { return cmp.Compare(a.Path, b.Path) })
	return f(notes, func(name string) ([]byte, error) {
		src, _, err := files.Read(root, name, p.opt.MaxFileBytes)
		return src, err
	})
}

// Log returns the changes of notes that git has, or else the journal, the latest first; none if nothing was changed. It returns an
// error that is memory.ErrNoHistory for a folder that has neither, and a *memory.InputError for a path outside of the folder.
func (p *Past) Log(ctx context.Context, q memory.LogQuery) ([]memory.FileChange, error) {
	var err error
	if q.Path, err = p.cleanPath(q.Path); err != nil {
		return nil, err
	}
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

// Show returns a note as it was. It returns an error that is memory.ErrNotFound for a path that no note can have, memory.ErrNoVersion
// if it was not there then, and memory.ErrNoHistory for a folder without a history. Lines above the ceiling, which nil means Private, are
// replaced; without derivation nobody knows which these are, so that it then returns a *memory.InputError for the ceiling Normal.
func (p *Past) Show(ctx context.Context, name string, at memory.Moment, ceiling *memory.Sensitivity) (memory.PastFile, error) {
	name, err := p.cleanPath(name)
	if err != nil {
		return memory.PastFile{}, err
	}
	upTo, err := p.checkCeiling(ceiling)
	if err != nil {
		return memory.PastFile{}, err
	}
	if !p.opt.Owns(name) {
		return memory.PastFile{}, memory.ErrNoFile
	}
	g, v, err := p.find(ctx, at)
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
// that was added. Its errors are those of Show.
func (p *Past) Diff(ctx context.Context, q memory.DiffQuery) (memory.Diff, error) {
	var err error
	if q.Path, err = p.cleanPath(q.Path); err != nil {
		return memory.Diff{}, err
	}
	ceiling, err := p.checkCeiling(q.MaxSensitivity)
	if err != nil {
		return memory.Diff{}, err
	}
	g, from, err := p.find(ctx, q.From)
	if err != nil {
		return memory.Diff{}, err
	}
	d := memory.Diff{From: from}
	before, err := p.texts(ctx, g, d.From, q.Path, ceiling)
	if err != nil {
		return memory.Diff{}, err
	}
	var after map[string]string
	if q.To == nil {
		after, err = p.textsNow(ctx, q.Path, ceiling)
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

// textsNow returns the notes that the index has by path, as they are now, without lines above a ceiling.
func (p *Past) textsNow(ctx context.Context, below string, ceiling memory.Sensitivity) (map[string]string, error) {
	all := map[string]string{}
	return all, p.readIndexed(ctx, func(notes []Noted, read func(string) ([]byte, error)) error {
		for _, n := range notes {
			if !isBelow(n.Path, below) {
				continue
			}
			if src, err := read(n.Path); err == nil {
				all[n.Path] = p.noteUpTo(n.Path, src, ceiling)
			}
		}
		return ctx.Err()
	})
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

// notes returns the notes of a version that may be shown, those at or below a path.
func (p *Past) notes(ctx context.Context, g *Git, v memory.FolderVersion, below string) ([]File, error) {
	tree, err := g.Tree(ctx, v)
	var shown []File
	for _, file := range tree.Files {
		if isBelow(file.Path, below) && file.Size <= p.opt.MaxFileBytes && p.opt.Owns(file.Path) {
			shown = append(shown, file)
		}
	}
	return shown, err
}

// texts returns the notes of a version by path, without lines above a ceiling.
func (p *Past) texts(ctx context.Context, g *Git, v memory.FolderVersion, below string, ceiling memory.Sensitivity) (map[string]string, error) {
	shown, err := p.notes(ctx, g, v, below)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	err = g.Read(ctx, shown, func(file File, src []byte) error {
		all[file.Path] = p.noteUpTo(file.Path, src, ceiling)
		return nil
	})
	return all, err
}
