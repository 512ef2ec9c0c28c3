package kioku

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kioku/history"
	"kioku/indexer"
	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/memory"
)

// pastWait is how long a search waits for another process that makes the same index of old notes.
const pastWait = time.Minute

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

// newPast returns the past of the folder.
func (m *Memory) newPast() *history.Past {
	h := m.opt.History
	return history.NewPast(history.Options{
		Folder: m.workspace, KeepsJournal: h.Journal, Owns: m.ownsPast, MaxFileBytes: m.opt.Index.maxFileBytes(), Episodes: m.opt.Episodes,
		Journal: history.JournalOptions{Folder: m.stateOf("journal.git"), MaxBytes: h.MaxBytes, MaxAge: h.MaxAge, Now: m.opt.Now},
	})
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
	return m.past.Log(ctx, q)
}

// Show returns a note as it was. It returns an error that is memory.ErrNotFound for a path that no note can have, memory.ErrNoVersion
// if it was not there then, and memory.ErrNoHistory for a folder without a history. Lines above the ceiling, which nil means Private, are
// replaced; without derivation nobody knows which these are, so that it then returns a *memory.InputError for the ceiling Normal.
func (m *Memory) Show(ctx context.Context, name string, at memory.Moment, ceiling *memory.Sensitivity) (memory.PastFile, error) {
	if err := m.enter(); err != nil {
		return memory.PastFile{}, err
	}
	defer m.leave()
	name, err := m.checkPast(name)
	if err != nil {
		return memory.PastFile{}, err
	}
	return m.past.Show(ctx, name, at, ceiling)
}

// Diff returns what two versions of the notes differ in, of at most 200 files. A file that was renamed is one that was removed and one
// that was added. Its errors are those of Show.
func (m *Memory) Diff(ctx context.Context, q memory.DiffQuery) (memory.Diff, error) {
	if err := m.enter(); err != nil {
		return memory.Diff{}, err
	}
	defer m.leave()
	var err error
	if q.Path, err = m.checkPast(q.Path); err != nil {
		return memory.Diff{}, err
	}
	return m.past.Diff(ctx, q, func(each func(string, []byte)) error {
		if _, err := m.freshen(ctx); err != nil {
			return err
		}
		return m.readNotes(ctx, func(notes []history.Noted, read func(string) ([]byte, error)) error {
			for _, n := range notes {
				if src, err := read(n.Path); err == nil {
					each(n.Path, src)
				}
			}
			return ctx.Err()
		})
	})
}

// readNotes calls f with the notes of the workspace that the index has, in the order of their paths, and a function that reads one. A note
// whose text is not indexed has no hash.
func (m *Memory) readNotes(ctx context.Context, f func(notes []history.Noted, read func(name string) ([]byte, error)) error) error {
	indexed, err := m.store.Files(ctx)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(m.workspace)
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrUnavailable, err)
	}
	defer root.Close()
	var notes []history.Noted
	for _, name := range slices.Sorted(maps.Keys(indexed)) {
		if !m.ownsPast(name) {
			continue
		}
		n := history.Noted{Path: name}
		if indexed[name].Skipped == "" {
			n.Hash = fmt.Sprintf("%x", indexed[name].SHA256)
		}
		notes = append(notes, n)
	}
	return f(notes, func(name string) ([]byte, error) {
		src, _, err := files.Read(root, name, m.opt.Index.maxFileBytes())
		return src, err
	})
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
	err := m.readNotes(ctx, func(notes []history.Noted, read func(string) ([]byte, error)) error {
		notes = slices.DeleteFunc(notes, func(n history.Noted) bool { return n.Hash == "" })
		return m.past.Record(ctx, notes, read)
	})
	if err != nil && ctx.Err() == nil {
		m.recorded.Store(0)
		m.log.Warn("the journal of the notes lacks a version", "err", err)
	}
}

// SearchPast answers a query from the notes as they were in a version, with the ranking of Search, but by words only. Unless the query
// has a time, it is asked at the time of the version. Nothing of what was written later takes part. If derivation is on, passages with lines
// above the ceiling of the query are left out. The first search of a version makes an index of it in the state folder, of which the last 4 are
// kept for a week. The errors are those of Show and Search.
func (m *Memory) SearchPast(ctx context.Context, q memory.Query, at memory.Moment) (memory.PastAnswer, error) {
	if err := m.enter(); err != nil {
		return memory.PastAnswer{}, err
	}
	defer m.leave()
	start := time.Now()
	ceiling, err := m.past.CheckCeiling(q.MaxSensitivity)
	if err != nil {
		return memory.PastAnswer{}, err
	}
	past, v, err := m.openPast(ctx, at)
	if err != nil {
		return memory.PastAnswer{}, err
	}
	if q.Now.IsZero() {
		q.Now = cmp.Or(at.Time, v.Time).In(m.opt.Location)
	}
	answer, err := past.Search(ctx, q)
	if err == nil {
		err = m.past.Withhold(past.workspace, &answer, ceiling)
	}
	if err := errors.Join(err, past.Close()); err != nil {
		return memory.PastAnswer{}, err
	}
	if m.opt.Embedder.Enabled() {
		answer.Degraded = append(answer.Degraded, memory.Degradation{Code: memory.PastByWords, Text: "notes as they were are found by their words only"})
	}
	answer.Took = time.Since(start)
	return memory.PastAnswer{Answer: answer, Version: v}, nil
}

// openPast returns the memory of a version to be read, whose index it makes unless there is one.
func (m *Memory) openPast(ctx context.Context, at memory.Moment) (*Memory, memory.FolderVersion, error) {
	g, err := m.past.Open(ctx)
	if err != nil {
		return nil, memory.FolderVersion{}, err
	}
	v, err := g.Find(ctx, at)
	if err != nil {
		return nil, v, err
	}
	files, err := m.past.Notes(ctx, g, v, "")
	if err != nil {
		return nil, v, err
	}
	notes, state, err := m.pastIndexes().Open(ctx, g, v, files)
	if err != nil {
		return nil, v, err
	}
	past, err := Open(ctx, m.pastOptions(notes, state, ReadIndex))
	return past, v, err
}

// pastIndexes returns the indexes of versions.
func (m *Memory) pastIndexes() history.Indexes {
	x := history.Indexes{Dir: m.stateOf("past"), Recipe: fmt.Sprintf("%+v %s", m.opt.Chunking, markersVersion), Now: m.opt.Now}
	if m.opt.Mode == ReadOnly {
		return x
	}
	x.Build = func(ctx context.Context, notes, state string) error {
		past, err := Open(ctx, m.pastOptions(notes, state, Own))
		if err != nil {
			return err
		}
		_, err = past.Sync(ctx, SyncOptions{}, nil)
		return errors.Join(err, past.Close())
	}
	return x
}

// pastOptions returns the options of the memory of a version.
func (m *Memory) pastOptions(notes, state string, mode Mode) Options {
	ranking := m.opt.Search
	if now := m.ranking.Load(); now != nil {
		ranking = *now
	}
	ranking.Now = nil
	return Options{
		Agent: m.opt.Agent, Workspace: notes, StateDir: state, Mode: mode, LockWait: pastWait,
		Chunking: m.opt.Chunking, Search: ranking, Location: m.opt.Location, Now: m.opt.Now, Log: m.log,
		Index: IndexOptions{Include: indexer.WholeFolder, MaxFileBytes: m.opt.Index.MaxFileBytes},
	}
}

// ForgetPast removes the indexes of the past, which SearchPast makes anew, and the changes of files that have one of the texts in said, which
// cannot be taken back then. It returns where older versions of these files are still kept, one line for people each: in copies, in the
// journal, and in the history of git. It does not change these. In the mode ReadOnly it removes nothing.
func (m *Memory) ForgetPast(ctx context.Context, paths, said []string) (remaining []string, err error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	if m.opt.Mode != ReadOnly {
		if _, err := m.pastIndexes().Remove(0, 0); err != nil {
			return nil, fmt.Errorf("remove indexes of the past: %w", err)
		}
		if err := m.notes.Forget(ctx, paths, said); err != nil {
			return nil, err
		}
	}
	paths = slices.Compact(slices.Sorted(slices.Values(paths)))
	if remaining, err = m.copiesWith(paths, said); err != nil {
		return nil, err
	}
	older, err := m.past.Remaining(ctx, paths)
	return append(remaining, older...), err
}

// copiesWith returns a line for each file of which a copy is kept with one of the texts, or that cannot be read.
func (m *Memory) copiesWith(paths, said []string) ([]string, error) {
	entries, err := os.ReadDir(m.stateOf("kept"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list kept copies: %w", err)
	}
	var lines []string
	for _, path := range paths {
		for _, e := range entries {
			text, err := os.ReadFile(filepath.Join(m.stateOf("kept"), e.Name(), filepath.FromSlash(path)))
			has := err != nil || len(said) == 0 || slices.ContainsFunc(said, func(s string) bool { return strings.Contains(string(text), s) })
			if has && !errors.Is(err, fs.ErrNotExist) {
				lines = append(lines, fmt.Sprintf("%s in the copy %s, which kioku has kept before it changed the folder: delete kept/%[2]s in the folder of the agent's state by hand", path, e.Name()))
			}
		}
	}
	return lines, nil
}

// PurgeHistory removes the versions of a file or folder from the journal, all of them for the empty path, their changes that
// Undo knows, and all indexes of the past.
// It does not change a repository of git. It returns memory.ErrReadOnly in the mode ReadOnly.
func (m *Memory) PurgeHistory(ctx context.Context, name string) (memory.Purged, error) {
	if err := m.enter(); err != nil {
		return memory.Purged{}, err
	}
	defer m.leave()
	if m.opt.Mode == ReadOnly {
		return memory.Purged{}, memory.ErrReadOnly
	}
	name, err := m.checkPast(name)
	if err != nil {
		return memory.Purged{}, err
	}
	var p memory.Purged
	if p.Versions, err = m.past.Purge(ctx, name); err != nil {
		return p, err
	}
	for _, name := range []string{"journal", "writes.jsonl", "writes.1.jsonl", "refused"} { // of earlier versions, which are not read any more
		if err := os.RemoveAll(m.stateOf(name)); err != nil {
			return p, err
		}
	}
	if p.Copies, err = m.notes.Purge(ctx, name); err != nil {
		return p, err
	}
	p.Indexes, err = m.pastIndexes().Remove(0, 0)
	return p, err
}
