package note

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// workspace returns a folder with files. An empty text makes no file.
func workspace(t *testing.T, files map[string]string) string {
	t.Helper()
	ws, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		writeFile(t, filepath.Join(ws, name), text)
	}
	return ws
}

// writeFile writes a file and its folders.
func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// openFolder returns a folder of notes with defaults for what the options lack.
func openFolder(t *testing.T, opt Options) *Folder {
	t.Helper()
	if opt.State == "" {
		opt.State = t.TempDir()
	}
	if opt.MaxFileBytes == 0 {
		opt.MaxFileBytes = 10 << 20
	}
	if opt.Location == nil {
		opt.Location = time.UTC
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	opt.Prepare = func(context.Context) error { return nil }
	opt.Owns = func(path string) (string, bool) {
		return opt.Path, filepath.IsLocal(path) && filepath.Ext(path) == ".md"
	}
	return New(opt)
}

// october returns noon of a day of October 2026.
func october(n int) time.Time { return time.Date(2026, 10, n, 12, 0, 0, 0, time.UTC) }
