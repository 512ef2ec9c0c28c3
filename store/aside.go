package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An index that cannot be used is set aside under a name that says what is still to be done with it, so that a restart goes on
// where the last process ended: <path><suffix><time>.
const (
	// damagedSuffix is that of a damaged index whose vectors are not salvaged yet.
	damagedSuffix = ".damaged-"
	// outdatedSuffix is that of an intact index of an older schema or of another workspace, until its vectors are salvaged.
	outdatedSuffix = ".old-"
	// corruptSuffix is that of a damaged index whose vectors are salvaged. It is kept for people.
	corruptSuffix = ".corrupt-"

	// keepCorrupt is the number of damaged indexes that are kept, and keepCorruptFor how long.
	keepCorrupt    = 3
	keepCorruptFor = 14 * 24 * time.Hour
)

// asideTime is the layout of the time in a name, which sorts like the time.
const asideTime = "20060102T150405.000000000"

// setAside renames the index at path with its log, and returns its new name. The log of another index stays behind.
func setAside(path, suffix string, now time.Time, foreignLog bool) (string, error) {
	moved := path + suffix + now.UTC().Format(asideTime)
	if err := os.Rename(path, moved); err != nil {
		return "", err
	}
	if foreignLog {
		return moved, removeLog(path)
	}
	return moved, moveLog(path, moved)
}

// moveLog renames the log of an index, if there is one.
func moveLog(path, moved string) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, moved+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removeLog removes the log beside path, if there is one.
func removeLog(path string) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// finishMove finishes what a process that was killed has left: a log that lacks its index belongs to the one that was set
// aside last, unless that has one. A draft is removed.
func finishMove(path string) error {
	if err := removeIndex(path + newSuffix); err != nil {
		return err
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if names := unsalvaged(path); len(names) > 0 {
		if _, err := os.Lstat(names[0] + "-wal"); errors.Is(err, os.ErrNotExist) {
			return moveLog(path, names[0])
		}
	}
	return removeLog(path)
}

// listAside returns the indexes of path that were set aside under one of the suffixes, the newest first.
func listAside(path string, suffixes ...string) []string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil // the same folder cannot be read by the caller, who reports it
	}
	var names []string
	for _, e := range entries {
		for _, suffix := range suffixes {
			if stamp, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+suffix); ok && len(stamp) == len(asideTime) {
				names = append(names, filepath.Join(filepath.Dir(path), e.Name()))
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(b[len(b)-len(asideTime):], a[len(a)-len(asideTime):])
	})
	return names
}

// unsalvaged returns the indexes that were set aside and whose vectors are not salvaged yet, the newest first.
func unsalvaged(path string) []string { return listAside(path, damagedSuffix, outdatedSuffix) }

// retire is called when the vectors of an index that was set aside are salvaged. It keeps a damaged one for people, for a
// while, and removes an outdated one.
func retire(path, name string, now time.Time) error {
	if strings.HasPrefix(name, path+outdatedSuffix) {
		return removeIndex(name)
	}
	kept := path + corruptSuffix + strings.TrimPrefix(name, path+damagedSuffix)
	if err := os.Rename(name, kept); err != nil {
		return err
	}
	return errors.Join(moveLog(name, kept), removeOldCorrupt(path, now))
}

// removeOldCorrupt removes damaged indexes that were kept for long, and all but the newest few.
func removeOldCorrupt(path string, now time.Time) error {
	oldest := now.Add(-keepCorruptFor).UTC().Format(asideTime)
	var errs []error
	for i, name := range listAside(path, corruptSuffix) {
		if i >= keepCorrupt || name[len(name)-len(asideTime):] < oldest {
			errs = append(errs, removeIndex(name))
		}
	}
	return errors.Join(errs...)
}
