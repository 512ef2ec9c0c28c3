package backup

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kioku/cmd/kioku/internal/disk"
	derived "kioku/derive/store"
	"kioku/vectors"
)

// Verify reads a whole backup, and checks the embeddings and what is derived in it. It returns what is wrong as an error. progress is as
// in [Source].
func Verify(ctx context.Context, archive string, progress func(phase string, done, total int64)) (*Manifest, error) {
	dir, err := os.MkdirTemp(filepath.Dir(archive), ".kioku-verify-")
	if errors.Is(err, fs.ErrPermission) || err != nil && strings.Contains(err.Error(), "read-only") {
		dir, err = os.MkdirTemp("", "kioku-verify-")
	}
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return unpack(ctx, archive, dir, func(name string) bool { return slices.Contains(databaseNames, name) }, progress)
}

// unpack reads a whole backup, checks it, and writes the files that are wanted into a folder.
func unpack(ctx context.Context, archive, dir string, wanted func(name string) bool, progress func(phase string, done, total int64)) (*Manifest, error) {
	u := &unpacker{dir: dir, wanted: wanted, names: map[string]bool{}}
	err := u.read(ctx, archive, progress)
	if err == nil && u.manifest == nil {
		err = errors.New("the backup is not whole: its end is missing")
	}
	if err == nil {
		progress("check", 0, -1)
		err = u.checkDatabases(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	u.manifest.entries = u.entries
	return u.manifest, nil
}

// unpacker reads an archive once.
type unpacker struct {
	dir string
	// wanted says which files are written into dir; the others are only read.
	wanted func(name string) bool

	entries  []*tar.Header
	names    map[string]bool
	manifest *Manifest
}

// checkDatabases checks the embeddings and what is derived, which were unpacked.
func (u *unpacker) checkDatabases(ctx context.Context) error {
	var found []string
	cache, err := vectors.Open(ctx, filepath.Join(u.dir, embeddingsName), vectors.Options{ReadOnly: true})
	if err == nil {
		_, found, err = cache.Check(ctx, func(time.Duration) error { return ctx.Err() })
		err = errors.Join(err, cache.Close())
	}
	if err == nil {
		var more []string
		more, err = derived.New(filepath.Join(u.dir, derivedName), "", derived.Options{ReadOnly: true}).Check(ctx, false)
		found = append(found, more...)
	}
	if err == nil && len(found) > 0 {
		err = errors.New(strings.Join(found, "; "))
	}
	if err != nil {
		return fmt.Errorf("what the backup has of embeddings and derived answers: %w", err)
	}
	return nil
}

// read reads all entries.
func (u *unpacker) read(ctx context.Context, archive string, progress func(phase string, done, total int64)) error {
	info, err := os.Stat(archive)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // opening a named pipe would wait for a writer
		return errors.New("it is no file")
	}
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(&disk.Reader{Context: ctx, From: f, Each: func(n int64) { progress("read", n, info.Size()) }}))
	if err != nil {
		return fmt.Errorf("%w: it is no tar.gz", ErrUnsafe)
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			_, err := io.Copy(io.Discard, z) // the checksum of gzip is behind the last entry
			return damaged(err)
		}
		if err != nil {
			return damaged(err)
		}
		if err := u.entry(h, t); err != nil {
			return err
		}
	}
}

// damaged returns the error of an archive that cannot be read to its end.
func damaged(err error) error {
	switch {
	case err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, tar.ErrInsecurePath):
		return fmt.Errorf("%w: %w", ErrUnsafe, err)
	}
	return fmt.Errorf("the backup is damaged or not whole: %w", err)
}

// entry reads one entry, and writes it if it is wanted.
func (u *unpacker) entry(h *tar.Header, r io.Reader) error {
	switch {
	case u.manifest != nil:
		return fmt.Errorf("%w: it has something behind its manifest", ErrUnsafe)
	case h.Typeflag != tar.TypeReg:
		return fmt.Errorf("%w: its entry %q is no regular file", ErrUnsafe, h.Name)
	case len(u.entries) >= maxEntries:
		return fmt.Errorf("%w: it has more than %d entries", ErrUnsafe, maxEntries)
	case u.names[h.Name]:
		return fmt.Errorf("%w: it has two entries %q", ErrUnsafe, h.Name)
	case h.Name == manifestName:
		return u.readManifest(h, r)
	}
	if err := checkName(h.Name); err != nil {
		return err
	}
	u.names[h.Name] = true
	u.entries = append(u.entries, h)
	if u.wanted(h.Name) {
		return u.write(h, r)
	}
	_, err := io.Copy(io.Discard, r)
	return damaged(err)
}

// readManifest reads the last entry.
func (u *unpacker) readManifest(h *tar.Header, r io.Reader) error {
	if h.Size > maxManifest {
		return fmt.Errorf("%w: its manifest is too large", ErrUnsafe)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return damaged(err)
	}
	u.manifest, err = parseManifest(data)
	return err
}

// write writes the content of an entry.
func (u *unpacker) write(h *tar.Header, r io.Reader) error {
	path := filepath.Join(u.dir, filepath.FromSlash(h.Name))
	if err := errors.Join(disk.CheckSpace(u.dir, h.Size), os.MkdirAll(filepath.Dir(path), 0o700)); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err = damaged(err); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Chtimes(path, h.ModTime, h.ModTime)
	}
	return err
}
