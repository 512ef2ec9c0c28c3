package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"

	"kioku/internal/atomicfile"
	"kioku/internal/filelock"
	"kioku/internal/safefile"
)

// lockFile opens a plain file for reading and writing and waits for the lock that MemoryAppend takes, at
// most until ctx ends.
func lockFile(ctx context.Context, root *os.Root, rel string) (*os.File, error) {
	// Links and pipes are refused in the same words as for reading.
	seen, info, err := safefile.OpenRegular(root, rel)
	if err != nil {
		return nil, err
	}
	defer seen.Close()
	file, err := root.OpenFile(rel, os.O_RDWR|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err = filelock.Lock(ctx, file); err == nil {
		err = stillThere(root, rel, info, file)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// stillThere refuses a file that has lost its name to another one while its lock was waited for: what is written into it
// would be lost.
func stillThere(root *os.Root, rel string, seen os.FileInfo, file *os.File) error {
	locked, err := file.Stat()
	if err != nil {
		return err
	}
	now, err := root.Lstat(rel)
	if err != nil || !os.SameFile(seen, locked) || !os.SameFile(locked, now) {
		return errChanged(rel)
	}
	return nil
}

// errChanged: somebody who takes no lock, such as an editor, was faster.
func errChanged(rel string) error {
	return refuse("%s was changed by somebody else meanwhile; view it and try again", shown(rel))
}

// writeNew writes a file that must not exist.
func (f *folder) writeNew(ctx context.Context, rel, text string) error {
	file, err := f.root.OpenFile(rel, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return fmt.Errorf("memory tool: create %s: %w", shown(rel), err)
	}
	defer file.Close()
	if err := filelock.Lock(ctx, file); err != nil {
		return fmt.Errorf("memory tool: create %s: %w", shown(rel), err)
	}
	if info, err := file.Stat(); err != nil || info.Size() > 0 {
		return errors.Join(refuse("%s exists already: a note was added to it just now", shown(rel)), err)
	}
	if err := f.write(file, rel, "", text); err != nil {
		if !inUse(rel, f.now) {
			err = errors.Join(err, f.root.Remove(rel))
		}
		return err
	}
	return nil
}

// write gives the locked file, which holds the text old, a new one, on the disk when it returns. The file of a day stays
// the same file, because others have it open to append to it. Any other file is replaced in one step.
func (f *folder) write(file *os.File, rel, old, text string) error {
	var err error
	if _, day := dayOf(rel); day {
		err = writeInPlace(file, old, text)
	} else {
		err = f.exchange(file, rel, int64(len(old)), text)
	}
	if input := new(InputError); err != nil && !errors.As(err, &input) {
		err = fmt.Errorf("memory tool: write %s: %w", shown(rel), err)
	}
	if err == nil {
		err = atomicfile.SyncFolder(f.root, path.Dir(rel))
	}
	return err
}

// writeInPlace writes what is new of a text over the old one; where that comes to nothing, the old one is put back.
func writeInPlace(file *os.File, old, text string) error {
	same := 0
	for same < min(len(old), len(text)) && old[same] == text[same] {
		same++
	}
	put := func(s string) error {
		if _, err := file.WriteAt([]byte(s[same:]), int64(same)); err != nil {
			return err
		}
		if err := file.Truncate(int64(len(s))); err != nil {
			return err
		}
		return file.Sync()
	}
	if err := put(text); err != nil {
		return errors.Join(err, put(old))
	}
	return nil
}

// exchange puts a new file in the place of one that had size bytes when it was read.
func (f *folder) exchange(file *os.File, rel string, size int64, text string) error {
	was, err := file.Stat()
	if err != nil {
		return err
	}
	return atomicfile.WriteIf(f.root, rel, []byte(text), was.Mode().Perm(), func() error {
		now, err := f.root.Lstat(rel)
		if err == nil && (!safefile.Unchanged(was, now) || now.Size() != size) {
			err = errChanged(rel)
		}
		return err
	})
}

// writeFile writes a file that must not exist, to the disk.
func writeFile(root *os.Root, rel, text string, mode fs.FileMode) error {
	file, err := root.OpenFile(rel, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
