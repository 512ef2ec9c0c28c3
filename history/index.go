package history

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

	"kioku/internal/files"
	"kioku/memory"
)

const (
	// maxIndexes is the number of indexes that are kept, and indexAge how long after their last search.
	maxIndexes = 4
	indexAge   = 7 * 24 * time.Hour
	// indexInUse is how long an index is not removed after a search of it began.
	indexInUse = 10 * time.Minute
	// Names in the folder of an index: the notes, the index, the mark that both are whole, and the lock of who makes them.
	notesFolder, stateFolder, wholeFile, lockFile = "notes", "state", "whole", "lock"
)

// Indexes is a folder of indexes of the notes of some versions. The last 4 are kept for a week.
type Indexes struct {
	// Dir is the folder.
	Dir string
	// Recipe changes when an index would be made otherwise.
	Recipe string
	// Build makes an index of notes in a state folder; nil means that none may be made.
	Build func(ctx context.Context, notes, state string) error
	// Now is the clock.
	Now func() time.Time
}

// Open returns the folders of the notes of a version and of their index, which it makes unless there is one. The same texts have the same
// index.
func (x Indexes) Open(ctx context.Context, g *Git, v memory.FolderVersion, files []File) (notes, state string, err error) {
	if len(files) == 0 {
		return "", "", fmt.Errorf("%w: %s has no notes that the settings include", memory.ErrNoVersion, v.Short())
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", x.Recipe)
	for _, f := range files {
		fmt.Fprintf(sum, "%s\x00%s\x00", f.Path, f.Hash)
	}
	dir := filepath.Join(x.Dir, hex.EncodeToString(sum.Sum(nil))[:32])
	now := x.Now()
	if os.Chtimes(filepath.Join(dir, wholeFile), now, now) != nil {
		if x.Build == nil {
			return "", "", fmt.Errorf("%w, and there is no index of %s yet", memory.ErrReadOnly, v.Short())
		}
		_, _ = x.Remove(maxIndexes-1, indexAge) // one that stays is removed the next time
		if err := x.make(ctx, g, v, files, dir); err != nil {
			return "", "", fmt.Errorf("index the notes of %s: %w", v.Short(), err)
		}
	}
	return filepath.Join(dir, notesFolder), filepath.Join(dir, stateFolder), nil
}

// make writes the notes of a version and indexes them, unless another process or call has just done so.
func (x Indexes) make(ctx context.Context, g *Git, v memory.FolderVersion, changed []File, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := files.Lock(ctx, lock); err != nil {
		return errors.Join(err, lock.Close())
	}
	defer func() { _ = files.Unlock(lock) }()
	if _, err := os.Stat(filepath.Join(dir, wholeFile)); err == nil {
		return nil
	}
	for _, name := range []string{notesFolder, stateFolder} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := writeNotes(ctx, g, v, changed, filepath.Join(dir, notesFolder)); err != nil {
		return err
	}
	if err := x.Build(ctx, filepath.Join(dir, notesFolder), filepath.Join(dir, stateFolder)); err != nil {
		return err
	}
	whole, now := filepath.Join(dir, wholeFile), x.Now()
	return cmp.Or(os.WriteFile(whole, []byte(v.ID+"\n"), 0o600), os.Chtimes(whole, now, now))
}

// writeNotes writes the notes of a version into a folder, each with the time of its last change.
func writeNotes(ctx context.Context, g *Git, v memory.FolderVersion, files []File, dir string) error {
	changes, err := g.Log(ctx, memory.LogQuery{Until: v.Time})
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
	return g.Read(ctx, files, func(file File, text []byte) error {
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

// Remove removes indexes: those beyond a number, the ones that were searched longest ago first, and those that
// were not searched for a time. It leaves out one that is being made, or that was searched a moment ago unless none is to be kept.
func (x Indexes) Remove(keep int, age time.Duration) (removed int, err error) {
	entries, err := os.ReadDir(x.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	type index struct {
		path string
		used time.Time
	}
	var all []index
	for _, e := range entries {
		in := index{path: filepath.Join(x.Dir, e.Name())}
		info, err := os.Stat(filepath.Join(in.path, wholeFile))
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
		unused := x.Now().Sub(in.used)
		if i < keep && unused < age || i < 4*keep && unused < indexInUse {
			continue
		}
		if err := removeUnlocked(in.path); err == nil {
			removed++
		} else if !errors.Is(err, files.ErrHeld) {
			failed = append(failed, err)
		}
	}
	return removed, errors.Join(failed...)
}

// removeUnlocked removes an index unless somebody makes it.
func removeUnlocked(dir string) error {
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := files.TryLock(lock); err != nil {
		return errors.Join(err, lock.Close())
	}
	defer func() { _ = files.Unlock(lock) }()
	if err := os.Remove(filepath.Join(dir, wholeFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(dir)
}
