package speed

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shellScript writes a script that stands for the kioku binary.
func shellScript(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStartDaemonReportsWhyItEnded(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	if _, err := e.startDaemon(t.Context(), "ws", "state"); err == nil || !strings.Contains(err.Error(), "no kioku binary") {
		t.Errorf("without a program: %v", err)
	}
	e.Program = shellScript(t, "echo 'kioku: the disk is full' >&2; exit 1\n")
	if _, err := e.startDaemon(t.Context(), "ws", "state"); err == nil || !strings.Contains(err.Error(), "start daemon: it ended: kioku: the disk is full") {
		t.Errorf("one that fails: %v", err)
	}
}

func TestStartDaemonEndsWithItsContext(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.Program = shellScript(t, "exec cat\n")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := e.startDaemon(ctx, "ws", "state"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestOwnMemoryLeavesOutMappedFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("mapped files are told apart only on Linux")
	}
	const size = 64_000_000
	own := func() float64 {
		t.Helper()
		mb, err := ownMemory(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		return mb
	}
	before := own()
	f, err := os.Create(filepath.Join(t.TempDir(), "mapped"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	mapped, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED|syscall.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(mapped)
	if mb := own() - before; mb > 20 {
		t.Errorf("64 MB of a mapped file make %v MB", mb)
	}
	before = own()
	held := bytes.Repeat([]byte{1}, size)
	if mb := own() - before; mb < 50 {
		t.Errorf("64 MB of its own make %v MB", mb)
	}
	runtime.KeepAlive(held)
}

func TestSumFields(t *testing.T) {
	t.Parallel()
	const status = "Name:\tcat\nVmRSS:\t 9000 kB\nRssAnon:\t    1000 kB\nVmSwap:\t 500 kB\n"
	if got := sumFields(status, "RssAnon:", "VmSwap:", "Missing:"); got != 1.536 {
		t.Errorf("got %v MB", got)
	}
}
