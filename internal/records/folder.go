// Package records keeps records of JSON in a folder: published once or replaced as a whole, by one process that has the lock of the
// folder, and files of lines of JSON that are put aside once they are full.
package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"kioku/internal/files"
)

// MaxFile is the maximum size of a record.
const MaxFile = 1 << 20

// ErrTooLarge is the error of a record that could not be read again.
var ErrTooLarge = fmt.Errorf("the record has more than %d bytes", MaxFile)

// perm are the permissions of files, folderPerm those of folders.
const (
	perm       = 0o600
	folderPerm = 0o700
)

// lockName is the name of the file that a process locks.
const lockName = ".lock"

// Folder of records. Its methods may be called concurrently.
type Folder struct {
	root *os.Root
	path string
	lock *os.File
	// Step is called before and after each change of a file, with its name and ":before" or ":after"; nil for nothing. Tests end the
	// process there.
	Step func(point string)
}

// HeldError says who holds the lock of a folder. It is files.ErrHeld.
type HeldError struct {
	Holder string // process and host
}

// Error implements error.
func (e *HeldError) Error() string { return "held by " + e.Holder }

// Unwrap returns files.ErrHeld.
func (e *HeldError) Unwrap() error { return files.ErrHeld }

// Open opens a folder, which must exist.
func Open(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{root: root, path: dir}, nil
}

// Path returns the path of the folder.
func (f *Folder) Path() string { return f.path }

// Root returns the folder as a root. It is closed by Close.
func (f *Folder) Root() *os.Root { return f.root }

// Lock makes this process the only one until Close. It returns a *HeldError if there is another.
func (f *Folder) Lock() error {
	file, err := f.tryLock(os.O_CREATE)
	if err != nil {
		return err
	}
	host, _ := os.Hostname() // only for people
	if err := file.Truncate(0); err == nil {
		if _, err = fmt.Fprintf(file, "process %d on %s\n", os.Getpid(), host); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	f.lock = file
	return nil
}

// tryLock returns the locked file.
func (f *Folder) tryLock(flag int) (*os.File, error) {
	file, err := f.root.OpenFile(lockName, flag|os.O_RDWR|syscall.O_NOFOLLOW, perm)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", f.path, err)
	}
	if err = files.TryLock(file); err == nil {
		return file, nil
	}
	defer file.Close()
	if !errors.Is(err, files.ErrHeld) {
		return nil, fmt.Errorf("lock %s: %w", f.path, err)
	}
	holder, _ := io.ReadAll(io.LimitReader(file, 200))
	return nil, &HeldError{Holder: strings.TrimSpace(string(holder))}
}

// Locked reports whether this Folder has the lock.
func (f *Folder) Locked() bool { return f.lock != nil }

// Probe returns a *HeldError if somebody has the lock, and nil if nobody does.
func (f *Folder) Probe() error {
	file, err := f.tryLock(0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return files.Unlock(file)
}

// Close releases the lock and the folder.
func (f *Folder) Close() error {
	var err error
	if f.lock != nil {
		err = files.Unlock(f.lock)
	}
	return errors.Join(err, f.root.Close())
}

// step tells tests that a file is about to be changed, and returns what tells them that it was.
func (f *Folder) step(rel string) (after func()) {
	if f.Step == nil {
		return func() {}
	}
	f.Step(path.Base(rel) + ":before")
	return func() { f.Step(path.Base(rel) + ":after") }
}

// Encode returns a record as it is on disk.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a record: %w", err)
	}
	return b.Bytes(), nil
}

// bounded is Encode for a record that can be read again.
func bounded(rel string, v any) ([]byte, error) {
	data, err := Encode(v)
	if err == nil && len(data) > MaxFile {
		return nil, fmt.Errorf("%s: %w", rel, ErrTooLarge)
	}
	return data, err
}

// Publish writes a record that must not exist, and never changes. It returns fs.ErrExist if it does; of several callers one succeeds. It
// returns ErrTooLarge for a record of more than MaxFile bytes.
func (f *Folder) Publish(rel string, v any) error {
	data, err := bounded(rel, v)
	if err != nil {
		return err
	}
	return f.PublishBytes(rel, data)
}

// PublishBytes is Publish for bytes.
func (f *Folder) PublishBytes(rel string, data []byte) error {
	defer f.step(rel)()
	if err := f.root.MkdirAll(path.Dir(rel), folderPerm); err != nil {
		return err
	}
	return files.Create(f.root, rel, data, perm)
}

// Write replaces a record that follows from others. It writes nothing if the file is the same already. It returns ErrTooLarge for a
// record of more than MaxFile bytes.
func (f *Folder) Write(rel string, v any) error {
	defer f.step(rel)()
	data, err := bounded(rel, v)
	if err != nil {
		return err
	}
	if old, err := f.ReadBytes(rel, MaxFile); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := f.root.MkdirAll(path.Dir(rel), folderPerm); err != nil {
		return err
	}
	return files.Write(f.root, rel, data, perm)
}

// WriteLoose replaces a record without flushing it to the disk, for what is worth nothing after a crash.
func (f *Folder) WriteLoose(rel string, v any) error {
	data, err := Encode(v)
	if err != nil {
		return err
	}
	if err := f.root.MkdirAll(path.Dir(rel), folderPerm); err != nil {
		return err
	}
	temp := path.Join(path.Dir(rel), ".kioku-loose.tmp")
	if err := f.root.WriteFile(temp, data, perm); err != nil {
		return err
	}
	return f.root.Rename(temp, rel)
}

// Read reads a record. It returns fs.ErrNotExist if there is none.
func (f *Folder) Read(rel string, v any) error {
	data, err := f.ReadBytes(rel, MaxFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", rel, err)
	}
	return nil
}

// ReadBytes is ReadFile in the folder.
func (f *Folder) ReadBytes(rel string, limit int64) ([]byte, error) {
	return ReadFile(f.root, rel, limit)
}

// ReadFile reads a regular file of at most limit bytes. Links are not followed.
func ReadFile(root *os.Root, rel string, limit int64) ([]byte, error) {
	file, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	// A Root follows links that stay within it, whatever the flags say.
	if named, err := root.Lstat(rel); err != nil || !info.Mode().IsRegular() || !os.SameFile(named, info) {
		return nil, fmt.Errorf("%s is not a regular file; put a copy of the file in its place", rel)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", rel, limit)
	}
	buf := bytes.NewBuffer(make([]byte, 0, info.Size()+1))
	_, err = buf.ReadFrom(io.LimitReader(file, limit))
	return buf.Bytes(), err
}

// Entries returns what is in a folder below, sorted, without temporary files; nothing if there is no such folder.
func (f *Folder) Entries(rel string) ([]fs.DirEntry, error) {
	dir, err := f.root.Open(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	all, err := dir.ReadDir(-1)
	all = slices.DeleteFunc(all, func(e fs.DirEntry) bool { return files.IsTemp(e.Name()) })
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, err
}

// Names returns the names of Entries.
func (f *Folder) Names(rel string) ([]string, error) {
	entries, err := f.Entries(rel)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// Exists reports whether there is something of that name.
func (f *Folder) Exists(rel string) bool {
	_, err := f.root.Lstat(rel)
	return err == nil
}

// Move renames a file or folder and flushes both folders. The new name must not exist.
func (f *Folder) Move(from, to string) error {
	defer f.step(to)()
	if err := f.root.MkdirAll(path.Dir(to), folderPerm); err != nil {
		return err
	}
	if f.Exists(to) {
		return fmt.Errorf("%s: %w", to, fs.ErrExist)
	}
	if err := f.root.Rename(from, to); err != nil {
		return err
	}
	return errors.Join(files.SyncFolder(f.root, path.Dir(to)), files.SyncFolder(f.root, path.Dir(from)))
}

// Sweep removes temporary files that a crash has left, but not below the folders of others. Only a process that has the lock may.
func (f *Folder) Sweep(others ...string) error {
	var errs []error
	err := fs.WalkDir(f.root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			errs = append(errs, err)
		case d.IsDir() && slices.Contains(others, rel):
			return fs.SkipDir
		case !d.IsDir() && files.IsTemp(d.Name()):
			errs = append(errs, f.root.Remove(rel))
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}
