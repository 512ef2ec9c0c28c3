package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrInUse reports that a file was not replaced because another program has it open, or because the system cannot tell.
var ErrInUse = errors.New("another program has it open")

// ErrChanged reports that a file was not replaced because it is not what it was when it was read.
var ErrChanged = errors.New("it has changed meanwhile")

// Replacement is a new content for a file that is open.
type Replacement struct {
	// File is the open file. The caller keeps its lock on it.
	File *os.File
	// Have is its whole content, as the caller has read it, and Want the new content.
	Have, Want []byte
	// Shared replaces the file also if another program has it open. What such a program writes into it long afterwards is lost.
	Shared bool
}

// Replace puts a new file in the place of the file rel of root, which is open and has one name. It returns ErrChanged if the file
// is not what it was, and ErrInUse unless Shared is set if another program has it open, or if it has two names or another owner.
// After these two errors nothing has changed.
//
// What others append to the old file while it is replaced, is appended to the new one.
func (r Replacement) Replace(root *os.Root, rel string) error {
	before, err := r.File.Stat()
	if err != nil {
		return err
	}
	if err := r.check(root, rel); err != nil {
		return err // a file that was replaced has no name any more, which is no second one
	}
	if !canReplace(before) {
		return ErrInUse
	}
	release := func() {}
	err = WriteIf(root, rel, r.Want, before.Mode().Perm(), func() error {
		alone, err := soleUse(r.File)
		switch {
		case err == nil:
			release = alone
		case !r.Shared && !errors.Is(err, errors.ErrUnsupported):
			return errors.Join(ErrInUse, err)
		}
		return r.check(root, rel)
	})
	release()
	if err != nil {
		return err
	}
	return r.carryOver(root, rel)
}

// canReplace reports whether a new file would be like the old one: with one name and of this user.
func canReplace(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Nlink == 1 && int(st.Uid) == os.Geteuid()
}

// check returns ErrChanged if the open file has lost its name or has another content.
func (r Replacement) check(root *os.Root, rel string) error {
	opened, err := r.File.Stat()
	if err != nil {
		return err
	}
	if now, err := root.Lstat(rel); err != nil || !os.SameFile(opened, now) || opened.Size() != int64(len(r.Have)) {
		return ErrChanged
	}
	have := make([]byte, len(r.Have))
	if _, err := r.File.ReadAt(have, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.Equal(have, r.Have) {
		return ErrChanged
	}
	return nil
}

// carryOver appends to the new file what others have appended to the old one. It waits a moment for those who are about to.
func (r Replacement) carryOver(root *os.Root, rel string) error {
	if release, err := soleUse(r.File); err == nil {
		release()
	}
	info, err := r.File.Stat()
	if err != nil || info.Size() <= int64(len(r.Have)) {
		return err
	}
	more := make([]byte, info.Size()-int64(len(r.Have)))
	if _, err := r.File.ReadAt(more, int64(len(r.Have))); err != nil {
		return err
	}
	f, err := root.OpenFile(rel, os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	return errors.Join(Append(f, more), f.Close())
}
