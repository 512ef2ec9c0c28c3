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

	"kioku/cmd/kioku/internal/disk"
)

// checkSizes returns an error if a file of a model is missing or has another size than it had when the model was added.
func (m Model) checkSizes() error {
	for _, f := range m.Files {
		info, err := os.Stat(m.path(f))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return m.broken(f, "is missing")
		case err != nil:
			return err
		case info.Size() != f.Bytes:
			return m.broken(f, fmt.Sprintf("has %d bytes and had %d", info.Size(), f.Bytes))
		}
	}
	return nil
}

// broken returns the error of a file that is not as it was when the model was added.
func (m Model) broken(f File, how string) error {
	return fmt.Errorf("its file %s %s; add it again with: kioku model add --replace --name %s %s", f.Path, how, m.Name, m.Source)
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
			return m.broken(f, "has changed since it was added")
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
	if _, err := io.Copy(h, &disk.Reader{Context: ctx, From: f}); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
