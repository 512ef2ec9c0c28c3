package kioku

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
	"time"

	"kioku/history"
	"kioku/internal/safefile"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	defaultLog, maxLog = 100, 10_000
	// maxDiffFiles is the maximum number of files whose difference is returned.
	maxDiffFiles = 200
)

// HistoryOptions say what Kioku keeps of the versions of notes itself. What git has of them is read in any case.
type HistoryOptions struct {
	// Journal records the texts of the notes in the state folder whenever a sync has found that they have changed.
	Journal bool
	// MaxBytes is the size of the journal above which its oldest versions are removed; 0 means history.DefaultJournalBytes.
	MaxBytes int64
	// MaxAge is the age above which they are removed; 0 means never.
	MaxAge time.Duration
}

// stateOf returns a folder of the agent in the state folder.
func (m *Memory) stateOf(name string) string {
	return filepath.Join(m.opt.StateDir, "agents", m.opt.Agent, name)
}

// journal returns the journal of the folder, which may not exist.
func (m *Memory) journal() *history.Journal {
	h := m.opt.History
	return history.NewJournal(history.JournalOptions{Folder: m.stateOf("journal"), MaxBytes: h.MaxBytes, MaxAge: h.MaxAge, Now: m.opt.Now})
}

// errNoJournal says how a folder without git gets a history.
var errNoJournal = errors.New("kioku config set history.journal true keeps one from now on")

// past returns the history of the folder: that of git if there is one, else the journal.
func (m *Memory) past(ctx context.Context) (history.Source, error) {
	g, err := history.OpenGit(ctx, m.workspace)
	if err == nil {
		return g, nil
	}
	if j := m.journal(); errors.Is(err, memory.ErrNoHistory) && j.Exists() {
		return j, nil
	}
	switch {
	case !errors.Is(err, memory.ErrNoHistory):
		return nil, err
	case m.opt.History.Journal:
		return nil, fmt.Errorf("%w, and its journal is empty: the next sync begins it", err)
	}
	return nil, fmt.Errorf("%w; %w", err, errNoJournal)
}

// ownsPast reports whether a path may be shown: one of a note of the workspace that the settings of today include.
func (m *Memory) ownsPast(name string) bool {
	root, rel, ok := m.indexer.Owns(name)
	return ok && root == m.workspace && rel == name && !m.indexer.IsTranscript(name)
}

// checkPast returns the clean path of a file or folder in a request. The empty path is everything.
func (m *Memory) checkPast(name string) (string, error) {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if name == "" || name == "." {
		return "", nil
	}
	if err := checkPath(name); err != nil {
		return "", err
	}
	if name != path.Clean(name) || path.IsAbs(name) || strings.HasPrefix(name, "../") || name == ".." {
		return "", &memory.InputError{Field: "path", Problem: "must be the path of a file or folder of the workspace, relative to it"}
	}
	readings, _ := memory.Readings(name)
	if r, ok := m.fileOf(readings); ok && text.MarkdownExtension(r.Path) != "" {
		return r.Path, nil
	}
	return name, nil
}

// Log returns the changes of notes that git has, or else the journal, the latest first; none if nothing was changed. It returns an
// error that is memory.ErrNoHistory for a folder that has neither, and a *memory.InputError for a path outside of the folder.
func (m *Memory) Log(ctx context.Context, q memory.LogQuery) ([]memory.FileChange, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	var err error
	if q.Path, err = m.checkPast(q.Path); err != nil {
		return nil, err
	}
	if q.Limit < 0 || q.Limit > maxLog {
		return nil, &memory.InputError{Field: "limit", Problem: fmt.Sprintf("is %d, not within 0 and %d", q.Limit, maxLog)}
	}
	source, err := m.past(ctx)
	if err != nil {
		return nil, err
	}
	limit := cmp.Or(q.Limit, defaultLog)
	if q.Limit = 0; text.MarkdownExtension(q.Path) != "" {
		q.Limit = limit
	}
	all, err := source.Log(ctx, q)
	if err != nil {
		return nil, err
	}
	shown := all[:0]
	for _, c := range all {
		if !m.ownsPast(c.Path) || len(shown) == limit {
			continue
		}
		if c.OldPath != "" && !m.ownsPast(c.OldPath) {
			c.OldPath, c.Change = "", memory.FileAdded
		}
		shown = append(shown, c)
	}
	return shown, nil
}

// Show returns a note as it was. It returns an error that is memory.ErrNotFound for a path that no note can have, memory.ErrNoVersion
// if it was not there then, and memory.ErrNoHistory for a folder without a history. Lines above the ceiling, which nil means Private, are
// replaced; without derivation nobody knows which these are, so that it then returns a *memory.InputError for the ceiling Normal.
func (m *Memory) Show(ctx context.Context, name string, at memory.Moment, ceiling *memory.Sensitivity) (memory.PastFile, error) {
	if err := m.enter(); err != nil {
		return memory.PastFile{}, err
	}
	defer m.leave()
	upTo, err := m.pastCeiling(ceiling)
	if err != nil {
		return memory.PastFile{}, err
	}
	if name, err = m.checkPast(name); err != nil {
		return memory.PastFile{}, err
	}
	if !m.ownsPast(name) {
		return memory.PastFile{}, errNotFound
	}
	source, err := m.past(ctx)
	if err != nil {
		return memory.PastFile{}, err
	}
	v, err := source.Find(ctx, at)
	if err != nil {
		return memory.PastFile{}, err
	}
	file, src, err := history.Show(ctx, source, name, v)
	if err != nil {
		return memory.PastFile{}, err
	}
	if !m.ownsPast(file.Path) {
		return memory.PastFile{}, errNotFound
	}
	return memory.PastFile{Path: file.Path, Version: v, Text: m.noteUpTo(file.Path, src, upTo)}, nil
}

// Diff returns what two versions of the notes differ in, of at most 200 files. A file that was renamed is one that was removed and one
// that was added. Its errors are those of Show.
func (m *Memory) Diff(ctx context.Context, q memory.DiffQuery) (memory.Diff, error) {
	if err := m.enter(); err != nil {
		return memory.Diff{}, err
	}
	defer m.leave()
	ceiling, err := m.pastCeiling(q.MaxSensitivity)
	if err != nil {
		return memory.Diff{}, err
	}
	if q.Path, err = m.checkPast(q.Path); err != nil {
		return memory.Diff{}, err
	}
	source, err := m.past(ctx)
	if err != nil {
		return memory.Diff{}, err
	}
	var d memory.Diff
	if d.From, err = source.Find(ctx, q.From); err != nil {
		return memory.Diff{}, err
	}
	before, err := m.texts(ctx, source, d.From, q.Path, ceiling)
	if err != nil {
		return memory.Diff{}, err
	}
	after := map[string]string{}
	if q.To == nil {
		after, err = m.textsNow(ctx, q.Path, ceiling)
	} else if d.To, err = source.Find(ctx, *q.To); err == nil {
		after, err = m.texts(ctx, source, d.To, q.Path, ceiling)
	}
	if err != nil {
		return memory.Diff{}, err
	}
	addDiffs(&d, before, after)
	return d, nil
}

// addDiffs adds the files that differ.
func addDiffs(d *memory.Diff, before, after map[string]string) {
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
		d.Files = append(d.Files, history.DiffText(name, bytesIf(a, inA), bytesIf(b, inB)))
	}
}

// bytesIf returns a text as bytes, nil if there is none.
func bytesIf(s string, ok bool) []byte {
	if !ok {
		return nil
	}
	return append([]byte{}, s...)
}

// notesOf returns the notes of a version that may be shown, those at or below a path.
func (m *Memory) notesOf(tree history.Tree, below string) []history.File {
	var files []history.File
	for _, file := range tree.Files {
		if isAtOrBelow(file.Path, below) && file.Size <= m.opt.Index.maxFileBytes() && m.ownsPast(file.Path) {
			files = append(files, file)
		}
	}
	return files
}

// isAtOrBelow reports whether a path is another one or below it; every path is below the empty one.
func isAtOrBelow(name, folder string) bool {
	return folder == "" || name == folder || strings.HasPrefix(name, folder+"/")
}

// texts returns the notes of a version by path, without lines above a ceiling.
func (m *Memory) texts(ctx context.Context, source history.Source, v memory.FolderVersion, below string, ceiling memory.Sensitivity) (map[string]string, error) {
	tree, err := source.Tree(ctx, v)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	err = source.Read(ctx, m.notesOf(tree, below), func(file history.File, text []byte) error {
		all[file.Path] = m.noteUpTo(file.Path, text, ceiling)
		return nil
	})
	return all, err
}

// textsNow returns the notes as they are now by path, without lines above a ceiling.
func (m *Memory) textsNow(ctx context.Context, below string, ceiling memory.Sensitivity) (map[string]string, error) {
	if _, err := m.freshen(ctx); err != nil {
		return nil, err
	}
	files, err := m.store.Files(ctx)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(m.workspace)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	defer root.Close()
	all := map[string]string{}
	for name := range files {
		if !isAtOrBelow(name, below) || !m.ownsPast(name) {
			continue
		}
		if src, _, err := safefile.Read(root, name, m.opt.Index.maxFileBytes()); err == nil {
			all[name] = m.noteUpTo(name, src, ceiling)
		}
	}
	return all, ctx.Err()
}

// recordVersion adds to the journal what the last sync has found. Searches need no journal, so an error is logged.
func (m *Memory) recordVersion(ctx context.Context) {
	if !m.opt.History.Journal || m.opt.Mode != Own {
		return
	}
	generation := m.store.Generation()
	if m.recorded.Swap(generation+1) == generation+1 {
		return // nothing was indexed since
	}
	if err := m.writeJournal(ctx); err != nil && ctx.Err() == nil {
		m.recorded.Store(0)
		m.log.Warn("the journal of the notes lacks a version", "err", err)
	}
}

// writeJournal is recordVersion with its error.
func (m *Memory) writeJournal(ctx context.Context) error {
	files, err := m.store.Files(ctx)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(m.workspace)
	if err != nil {
		return err
	}
	defer root.Close()
	var noted []history.Noted
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := files[name]
		if !file.OutOfScope && file.Skipped == "" && m.ownsPast(name) {
			noted = append(noted, history.Noted{Path: name, Hash: fmt.Sprintf("%x", file.SHA256)})
		}
	}
	_, err = m.journal().Record(ctx, noted, func(name string) ([]byte, error) {
		src, _, err := safefile.Read(root, name, m.opt.Index.maxFileBytes())
		return src, err
	})
	return err
}
