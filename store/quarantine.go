package store

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mattn/go-sqlite3"
)

// corruptMark is the suffix of the file that marks a database as corrupt.
const corruptMark = ".damaged"

// isDamage reports whether err says that the file is not a valid database.
func isDamage(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrNotADB || e.Code == sqlite3.ErrCorrupt)
}

// markCorrupt marks a database if err reports damage, so that the next Open quarantines it. It returns err, with advice if err
// reports damage.
func (d *database) markCorrupt(err error) error {
	if !isDamage(err) {
		return err
	}
	if markErr := os.WriteFile(d.path+corruptMark, nil, 0o600); markErr != nil {
		return errors.Join(err, fmt.Errorf("mark the index as damaged: %w", markErr))
	}
	return fmt.Errorf("the index is damaged and is rebuilt at the next start (run kioku index, or start kioku serve again): %w", err)
}

// quarantineMarked quarantines a database that markCorrupt has marked, and returns its new path; "" if there is no mark.
func quarantineMarked(path string) (string, error) {
	if _, err := os.Lstat(path + corruptMark); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	moved, err := quarantine(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("quarantine damaged index: %w", err)
	}
	return moved, os.Remove(path + corruptMark)
}

// quarantine renames a damaged database together with its -wal and -shm files, which SQLite would otherwise replay into a new
// database. It returns the new path.
func quarantine(path string) (string, error) {
	moved := path + ".corrupt-" + time.Now().UTC().Format("20060102T150405.000000000")
	if err := os.Rename(path, moved); err != nil {
		return "", err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, moved+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return moved, nil
}
