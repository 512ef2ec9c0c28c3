package modelstore

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of archives. An archive beyond them is refused as a whole.
const (
	maxEntries  = 20_000
	maxUnpacked = 8 << 30
)

// unpack writes what may belong to a model out of an archive (zip, wheel, jar, tar, tar.gz, told by its content) into a folder. It
// refuses an archive as a whole if a path leaves the folder, or if something that is needed is a link. It returns the names of the
// files that it has left out.
func unpack(ctx context.Context, archive, dir string) (left []string, err error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	u := &unpacker{ctx: ctx, dir: dir, left: maxUnpacked}
	if err := u.read(f); err != nil {
		return nil, fmt.Errorf("unpack %s: %w", filepath.Base(archive), err)
	}
	return u.skipped, nil
}

// read unpacks an archive.
func (u *unpacker) read(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, 262)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return u.zip(f, info.Size())
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return u.gzip(f)
	case len(head) == 262 && bytes.HasPrefix(head[257:], []byte("ustar")):
		return u.tar(f)
	}
	return errors.New("it is no archive of a known kind: zip, wheel, tar and tar.gz can be read")
}

// unpacker writes entries of an archive below a folder.
type unpacker struct {
	ctx     context.Context // of the call that unpacks
	dir     string
	entries int
	// left is how many bytes may still be written.
	left int64
	// skipped are the names of files that were left out.
	skipped []string
}

// wanted returns whether the file of an entry may belong to a model. It returns an error for an entry that no honest archive has.
func (u *unpacker) wanted(name string, mode fs.FileMode) (bool, error) {
	if u.entries++; u.entries > maxEntries {
		return false, fmt.Errorf("%w: it has more than %d entries", errUnsafe, maxEntries)
	}
	if err := u.ctx.Err(); err != nil {
		return false, err
	}
	if strings.Contains(name, `\`) || !filepath.IsLocal(filepath.FromSlash(strings.TrimSuffix(name, "/"))) {
		return false, fmt.Errorf("%w: its entry %q leaves the folder", errUnsafe, name)
	}
	if mode.IsDir() {
		return false, nil
	}
	if !belongs(name) {
		u.skipped = append(u.skipped, name)
		return false, nil
	}
	if !mode.IsRegular() {
		return false, fmt.Errorf("%w: its entry %q is a link or a device", errUnsafe, name)
	}
	return true, nil
}

// belongs reports whether a file may belong to a model by its name.
func belongs(name string) bool {
	base := strings.ToLower(path.Base(name))
	return slices.Contains([]string{".safetensors", ".json"}, path.Ext(base)) || strings.HasPrefix(base, "license") || base == "readme.md" || base == "metadata"
}

// write writes one entry.
func (u *unpacker) write(name string, r io.Reader, size int64) error {
	if size > u.left {
		return errTooLarge
	}
	if err := checkSpace(u.dir, size); err != nil {
		return err
	}
	to := filepath.Join(u.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: it has two entries %q", errUnsafe, name)
	}
	if err != nil {
		return err
	}
	n, err := io.Copy(out, contextReader{u.ctx, io.LimitReader(r, u.left+1)})
	u.left -= n
	if err == nil && u.left < 0 {
		err = errTooLarge
	}
	return errors.Join(err, out.Close())
}

func (u *unpacker) zip(f *os.File, size int64) error {
	z, err := zip.NewReader(f, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	for _, e := range z.File {
		want, err := u.wanted(e.Name, e.Mode())
		if err != nil {
			return err
		}
		if !want {
			continue
		}
		if err := u.zipEntry(e); err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return nil
}

func (u *unpacker) zipEntry(e *zip.File) error {
	if e.UncompressedSize64 > maxUnpacked {
		return errTooLarge
	}
	r, err := e.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	return u.write(e.Name, r, int64(e.UncompressedSize64))
}

func (u *unpacker) gzip(f *os.File) error {
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return err
	}
	// What is skipped of the archive is unpacked too, and is bounded like what is written.
	bounded := io.LimitReader(z, 2*maxUnpacked)
	return u.tar(bounded)
}

func (u *unpacker) tar(r io.Reader) error {
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return err
		}
		mode := h.FileInfo().Mode()
		if h.Typeflag == tar.TypeLink {
			mode |= fs.ModeIrregular
		}
		want, err := u.wanted(h.Name, mode)
		if err != nil {
			return err
		}
		if !want {
			continue
		}
		if err := u.write(path.Clean(h.Name), t, h.Size); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}
