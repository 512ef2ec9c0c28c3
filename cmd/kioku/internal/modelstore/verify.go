package modelstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// checkSizes returns an error if a file of a model is missing or has another size than it had when the model was added.
func (m Model) checkSizes() error {
	for _, f := range m.Files {
		info, err := os.Stat(m.path(f))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("its file %s is missing; add it again with: kioku model add --replace --name %s %s", f.Path, m.Name, m.Source)
		case err != nil:
			return err
		case info.Size() != f.Bytes:
			return fmt.Errorf("its file %s has %d bytes and had %d; add it again with: kioku model add --replace --name %s %s",
				f.Path, info.Size(), f.Bytes, m.Name, m.Source)
		}
	}
	return nil
}

// Verify reads all files of a model and returns an error if one is missing or not as it was when the model was added.
func (m Model) Verify(ctx context.Context) error {
	if m.Err != nil {
		return m.Err
	}
	for _, f := range m.Files {
		sum, err := hashFile(ctx, m.path(f))
		if err != nil {
			return err
		}
		if sum != f.SHA256 {
			return fmt.Errorf("its file %s has changed since it was added; add it again with: kioku model add --replace --name %s %s",
				f.Path, m.Name, m.Source)
		}
	}
	return nil
}

func (m Model) path(f File) string { return filepath.Join(m.Dir, filepath.FromSlash(f.Path)) }

// hashFile returns the SHA-256 of a file in hexadecimal digits.
func hashFile(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, contextReader{ctx, f}); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// contextReader is a reader that ends with a context.
type contextReader struct {
	ctx context.Context // of the call that reads
	r   io.Reader
}

// Read implements io.Reader.
func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
