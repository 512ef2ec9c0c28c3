package kioku

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kioku/internal/files"
	"kioku/store"
)

// CopyIndex writes the index, as it is at one moment, to a new file at path with mode 0600. Other
// processes may read and write the index meanwhile. progress is called now and then with the number of copied pages and of all pages; it may be nil.
func (m *Memory) CopyIndex(ctx context.Context, path string, progress func(done, total int)) error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	return m.store.Copy(ctx, path, progress)
}

// LockIndex takes an agent's index under a state folder, which it makes if it is missing, without opening the index. It returns a *LockedError if another
// process owns the index. The caller calls unlock.
func LockIndex(state, agent string) (unlock func() error, err error) {
	if err := CheckAgent(agent); err != nil {
		return nil, err
	}
	path := store.Path(state, agent)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make state folder: %w", err)
	}
	lock, err := lockFile(lockPath(path), false, "")
	if err != nil {
		return nil, err
	}
	return func() error { return files.Unlock(lock) }, nil
}

// lockPath returns the path of the lock of an index.
func lockPath(index string) string { return strings.TrimSuffix(index, ".sqlite") + ".lock" }
