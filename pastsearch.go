package kioku

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"kioku/history"
	"kioku/indexer"
	"kioku/internal/filelock"
	"kioku/memory"
)

const (
	// maxPastIndexes is the number of indexes of the past that are kept, and pastIndexAge how long after their last search.
	maxPastIndexes = 4
	pastIndexAge   = 7 * 24 * time.Hour
	// pastInUse is how long an index of the past is not removed after a search of it began.
	pastInUse = 10 * time.Minute
	// pastWait is how long a search waits for another process that makes the same index.
	pastWait = time.Minute
	// Names in the folder of an index of the past: the notes, the index, the mark that both are whole, and the lock of who makes them.
	pastNotes, pastState, pastWhole, pastLock = "notes", "state", "whole", "lock"
)

// SearchPast answers a query from the notes as they were in a version, with the ranking of Search, but by words only. Unless the query
// has a time, it is asked at the time of the version. Nothing of what was written later takes part. If derivation is on, passages with lines
// above the ceiling of the query are left out. The first search of a version makes
// an index of it in the state folder, of which the last 4 are kept for a week. The errors are those of Show and Search.
func (m *Memory) SearchPast(ctx context.Context, q memory.Query, at memory.Moment) (memory.PastAnswer, error) {
	if err := m.enter(); err != nil {
		return memory.PastAnswer{}, err
	}
	defer m.leave()
	start := time.Now()
	ceiling, err := m.pastCeiling(q.MaxSensitivity)
	if err != nil {
		return memory.PastAnswer{}, err
	}
	source, err := m.past(ctx)
	if err != nil {
		return memory.PastAnswer{}, err
	}
	v, err := source.Find(ctx, at)
	if err != nil {
		return memory.PastAnswer{}, err
	}
	past, err := m.openPast(ctx, source, v)
	if err != nil {
		return memory.PastAnswer{}, err
	}
	if q.Now.IsZero() {
		q.Now = cmp.Or(at.Time, v.Time).In(m.opt.Location)
	}
	answer, err := past.Search(ctx, q)
	if err == nil {
		err = m.withholdPast(past, &answer, ceiling)
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
func (m *Memory) openPast(ctx context.Context, source history.Source, v memory.FolderVersion) (*Memory, error) {
	tree, err := source.Tree(ctx, v)
	if err != nil {
		return nil, err
	}
	files := m.notesOf(tree, "")
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: %s has no notes that the settings include", memory.ErrNoVersion, v.Short())
	}
	dir := filepath.Join(m.stateOf("past"), m.pastKey(files))
	whole := filepath.Join(dir, pastWhole)
	now := m.opt.Now()
	if os.Chtimes(whole, now, now) != nil {
		if m.opt.Mode == ReadOnly {
			return nil, fmt.Errorf("%w, and there is no index of %s yet", memory.ErrReadOnly, v.Short())
		}
		if _, err := m.removePastIndexes(maxPastIndexes-1, pastIndexAge); err != nil {
			m.log.Warn("an index of the past stays", "err", err)
		}
		if err := m.makePast(ctx, source, v, files, dir); err != nil {
			return nil, fmt.Errorf("index the notes of %s: %w", v.Short(), err)
		}
	}
	return Open(ctx, m.pastOptions(dir, ReadIndex))
}

// pastKey names the index of files: the same for the same texts and the same chunking.
func (m *Memory) pastKey(files []history.File) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%+v %s\n", m.opt.Chunking, markersVersion)
	for _, f := range files {
		fmt.Fprintf(sum, "%s\x00%s\x00", f.Path, f.Hash)
	}
	return hex.EncodeToString(sum.Sum(nil))[:32]
}

// pastOptions returns the options of the memory of a version.
func (m *Memory) pastOptions(dir string, mode Mode) Options {
	ranking := m.opt.Search
	if now := m.ranking.Load(); now != nil {
		ranking = *now
	}
	ranking.Now = nil
	return Options{
		Agent: m.opt.Agent, Workspace: filepath.Join(dir, pastNotes), StateDir: filepath.Join(dir, pastState), Mode: mode, LockWait: pastWait,
		Chunking: m.opt.Chunking, Search: ranking, Location: m.opt.Location, Now: m.opt.Now, Log: m.log,
		Index: IndexOptions{Include: indexer.WholeFolder, MaxFileBytes: m.opt.Index.MaxFileBytes},
	}
}

// makePast writes the notes of a version and indexes them, unless another process or call has just done so.
func (m *Memory) makePast(ctx context.Context, source history.Source, v memory.FolderVersion, files []history.File, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(dir, pastLock), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := filelock.Lock(ctx, lock); err != nil {
		return errors.Join(err, lock.Close())
	}
	defer func() { _ = filelock.Unlock(lock) }()
	if _, err := os.Stat(filepath.Join(dir, pastWhole)); err == nil {
		return nil
	}
	for _, name := range []string{pastNotes, pastState} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := writePast(ctx, source, v, files, filepath.Join(dir, pastNotes)); err != nil {
		return err
	}
	if err := indexPast(ctx, m.pastOptions(dir, Own)); err != nil {
		return err
	}
	whole, now := filepath.Join(dir, pastWhole), m.opt.Now()
	return cmp.Or(os.WriteFile(whole, []byte(v.ID+"\n"), 0o600), os.Chtimes(whole, now, now))
}

// writePast writes the notes of a version into a folder, each with the time of its last change.
func writePast(ctx context.Context, source history.Source, v memory.FolderVersion, files []history.File, dir string) error {
	changes, err := source.Log(ctx, memory.LogQuery{Until: v.Time})
	if err != nil {
		return err
	}
	last := map[string]time.Time{}
	for _, c := range changes {
		if _, known := last[c.Path]; !known {
			last[c.Path] = c.Time
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return source.Read(ctx, files, func(file history.File, text []byte) error {
		if err := root.MkdirAll(path.Dir(file.Path), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(file.Path, text, 0o600); err != nil {
			return err
		}
		at := cmp.Or(last[file.Path], v.Time)
		return root.Chtimes(file.Path, at, at)
	})
}

// indexPast makes the index of a version.
func indexPast(ctx context.Context, opt Options) error {
	m, err := Open(ctx, opt)
	if err != nil {
		return err
	}
	_, err = m.Sync(ctx, SyncOptions{}, nil)
	return errors.Join(err, m.Close())
}

// removePastIndexes removes indexes of the past: those beyond a number, the ones that were searched longest ago first, and those that
// were not searched for a time. It leaves out one that is being made, or that was searched a moment ago unless none is to be kept.
func (m *Memory) removePastIndexes(keep int, age time.Duration) (removed int, err error) {
	dir := m.stateOf("past")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	type index struct {
		path string
		used time.Time
	}
	var all []index
	for _, e := range entries {
		in := index{path: filepath.Join(dir, e.Name())}
		info, err := os.Stat(filepath.Join(in.path, pastWhole))
		if errors.Is(err, fs.ErrNotExist) {
			info, err = e.Info() // somebody may be about to make it
		}
		if err == nil {
			in.used = info.ModTime()
		}
		all = append(all, in)
	}
	slices.SortFunc(all, func(a, b index) int { return b.used.Compare(a.used) })
	var failed []error
	for i, in := range all {
		unused := m.opt.Now().Sub(in.used)
		if i < keep && unused < age || i < 4*keep && unused < pastInUse {
			continue
		}
		if err := removeUnlocked(in.path); err == nil {
			removed++
		} else if !errors.Is(err, filelock.ErrHeld) {
			failed = append(failed, err)
		}
	}
	return removed, errors.Join(failed...)
}

// removeUnlocked removes an index of the past unless somebody makes it.
func removeUnlocked(dir string) error {
	lock, err := os.OpenFile(filepath.Join(dir, pastLock), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := filelock.TryLock(lock); err != nil {
		return errors.Join(err, lock.Close())
	}
	defer func() { _ = filelock.Unlock(lock) }()
	if err := os.Remove(filepath.Join(dir, pastWhole)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(dir)
}
