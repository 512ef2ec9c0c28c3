//go:build unix

package encoder_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"kioku/embed/local/encoder"
)

// Opening a named pipe would wait for a writer for ever.
func TestOpenRefusesANamedPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := encoder.Open(path); !errors.Is(err, encoder.ErrFormat) {
		t.Errorf("got %v", err)
	}
}
