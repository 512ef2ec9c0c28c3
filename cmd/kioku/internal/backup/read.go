package backup

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	derived "kioku/derive/store"
	"kioku/vectors"
)

// Verify reads a whole backup, compares every file with the manifest, and checks the embeddings and what is derived in it. It returns what is wrong as an error. progress is as in [Source].
func Verify(ctx context.Context, archive string, progress func(phase string, done, total int64)) (*Manifest, error) {
	dir, err := os.MkdirTemp(filepath.Dir(archive), ".kioku-verify-")
	if errors.Is(err, fs.ErrPermission) || err != nil && strings.Contains(err.Error(), "read-only") {
		dir, err = os.MkdirTemp("", "kioku-verify-")
	}
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	u := &unpacker{ctx: ctx, dir: dir, progress: progress, wanted: func(name string) bool { return slices.Contains(databaseNames, name) }}
	return u.verified(archive)
}

// unpack writes a backup into a folder, and verifies it.
func unpack(ctx context.Context, archive, dir string, progress func(phase string, done, total int64)) (*Manifest, error) {
	u := &unpacker{ctx: ctx, dir: dir, progress: progress, wanted: func(name string) bool { return name != indexName }}
	return u.verified(archive)
}

// unpacker reads an archive once.
type unpacker struct {
	ctx context.Context // of the call that reads
	dir string
	// wanted says which files are written into dir; the others are only read.
	wanted   func(name string) bool
	progress func(phase string, done, total int64)

	found    []File
	names    map[string]bool
	manifest *Manifest
	// room is how many bytes may still be written.
	room int64
}

// verified reads the archive and checks all of it.
func (u *unpacker) verified(archive string) (*Manifest, error) {
	err := u.read(archive)
	if err == nil && u.manifest == nil {
		err = errors.New("the backup is not whole: its end is missing")
	}
	if err == nil {
		err = u.manifest.compare(u.found)
	}
	if err == nil {
		err = u.checkDatabases()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	return u.manifest, nil
}

// checkDatabases checks the embeddings and what is derived, which were unpacked.
func (u *unpacker) checkDatabases() error {
	u.progress("check", 0, -1)
	var found []string
	cache, err := vectors.Open(u.ctx, filepath.Join(u.dir, embeddingsName), vectors.Options{ReadOnly: true})
	if err == nil {
		_, found, err = cache.Check(u.ctx, func(time.Duration) error { return u.ctx.Err() })
		err = errors.Join(err, cache.Close())
	}
	if err == nil {
		var more []string
		more, err = derived.New(filepath.Join(u.dir, derivedName), "", derived.Options{ReadOnly: true}).Check(u.ctx, false)
		found = append(found, more...)
	}
	if err == nil && len(found) > 0 {
		err = errors.New(strings.Join(found, "; "))
	}
	if err != nil {
		return fmt.Errorf("what the backup has of embeddings and derived answers: %w", err)
	}
	return dropLogs(u.dir)
}

// dropLogs removes what checking has left beside the databases.
func dropLogs(dir string) error {
	for _, name := range databaseNames {
		for _, suffix := range []string{"-wal", "-shm"} {
			if err := os.Remove(filepath.Join(dir, name+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// read reads all entries.
func (u *unpacker) read(archive string) error {
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
	counted := &countingReader{r: contextReader{u.ctx, f}, each: func(n int64) { u.progress("read", n, info.Size()) }}
	z, err := gzip.NewReader(bufio.NewReader(counted))
	if err != nil {
		return fmt.Errorf("%w: it is no tar.gz", ErrUnsafe)
	}
	u.names, u.room = map[string]bool{}, freeBytes(u.dir)
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

// entry reads one entry.
func (u *unpacker) entry(h *tar.Header, r io.Reader) error {
	switch {
	case u.manifest != nil:
		return fmt.Errorf("%w: it has something behind its manifest", ErrUnsafe)
	case h.Typeflag != tar.TypeReg:
		return fmt.Errorf("%w: its entry %q is no regular file", ErrUnsafe, h.Name)
	case len(u.found) >= maxEntries:
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
	sum := sha256.New()
	n, err := u.content(h, io.TeeReader(r, sum))
	u.found = append(u.found, File{Name: h.Name, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))})
	return err
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

// content reads the content of an entry, and writes it if it is wanted.
func (u *unpacker) content(h *tar.Header, r io.Reader) (int64, error) {
	if !u.wanted(h.Name) {
		n, err := io.Copy(io.Discard, r)
		return n, damaged(err)
	}
	if u.room -= h.Size; u.room < 0 {
		return 0, fmt.Errorf("the disk of %s has no room for the %d bytes of %s", u.dir, h.Size, h.Name)
	}
	path := filepath.Join(u.dir, filepath.FromSlash(h.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(f, r)
	if err = damaged(err); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Chtimes(path, h.ModTime, h.ModTime)
	}
	return n, err
}

// countingReader tells how many bytes were read.
type countingReader struct {
	r    io.Reader
	n    int64
	each func(n int64)
}

// Read implements io.Reader.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.each(c.n)
	return n, err
}
