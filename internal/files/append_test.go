package files_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kioku/internal/files"
)

// limitedEnv names the file to which a copy of the test binary appends beyond its limit, see appendBeyondLimit.
const limitedEnv = "KIOKU_TEST_APPEND_TO"

func TestMain(m *testing.M) {
	if name := os.Getenv(limitedEnv); name != "" {
		if err := appendBeyondLimit(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// openAppend opens a file to append to it.
func openAppend(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestAppendAddsData(t *testing.T) {
	_, dir := openDir(t)
	name := filepath.Join(dir, "a")
	f := openAppend(t, name)
	if err := errors.Join(files.Append(f, []byte("one\n")), files.Append(f, []byte("two\n"))); err != nil {
		t.Fatal(err)
	}
	readOnly, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	if err := files.Append(readOnly, []byte("three\n")); err == nil || errors.Is(err, files.ErrTorn) {
		t.Errorf("nothing could be written: %v", err)
	}
	if got := namesIn(t, dir); got != "a=one\ntwo\n" {
		t.Errorf("the folder has %q", got)
	}
}

// failing is what a limited process tries to append again and again.
var failing = bytes.Repeat([]byte("half a note "), 2000)

// appendBeyondLimit appends to a file, under a limit of its size that cuts each write short, until standard input ends. It
// writes a line to standard output for each failure: whether a part is left.
func appendBeyondLimit(name string) error {
	signal.Ignore(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	for {
		select {
		case <-ended:
			return nil
		default:
		}
		torn, err := appendOnceBeyondLimit(name, old)
		if err != nil {
			return err
		}
		fmt.Println(torn)
	}
}

// appendOnceBeyondLimit appends under a limit of 5,000 bytes more than the file has, and lifts it again.
func appendOnceBeyondLimit(name string, old syscall.Rlimit) (torn bool, err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(info.Size()) + 5000, Max: old.Max}); err != nil {
		return false, err
	}
	failed := files.Append(f, failing)
	if !errors.Is(failed, syscall.EFBIG) {
		return false, fmt.Errorf("appended beyond the limit: %v", failed)
	}
	return errors.Is(failed, files.ErrTorn), syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)
}

// limitedAppends runs appendBeyondLimit in a process of its own until enough, which is called after each failure, returns
// true. It returns how many appends have failed, and how many of them have left a part.
func limitedAppends(t *testing.T, name string, enough func() bool) (failed, torn int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), limitedEnv+"="+name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		failed++
		if lines.Text() == "true" {
			torn++
		}
		if enough() {
			in.Close()
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return failed, torn
}

// Hazard A13: an append that fails for want of room leaves the file as it was.
func TestAppendTakesBackWhatItHasWritten(t *testing.T) {
	_, dir := openDir(t)
	name := filepath.Join(dir, "a")
	if err := os.WriteFile(name, []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	failed := 0
	_, torn := limitedAppends(t, name, func() bool { failed++; return failed == 20 })
	if got := namesIn(t, dir); got != "a=one\n" || torn != 0 {
		t.Errorf("%d failures say that a part is left, and the folder has %d bytes", torn, len(got))
	}
}

// Hazards A12, A13: what others append while appends fail is never cut off, and who keeps the file open is told of.
func TestAppendThatFailsCutsOffNobodysLines(t *testing.T) {
	const lines = 1700
	for name, keepOpen := range map[string]bool{"opened for each line": false, "kept open": true} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a")
			var ended atomic.Bool
			var writer sync.WaitGroup
			writer.Go(func() {
				defer ended.Store(true)
				if err := appendLines(file, lines, keepOpen); err != nil {
					t.Error(err)
				}
			})
			failed, torn := limitedAppends(t, file, ended.Load)
			writer.Wait()
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i := range lines {
				if n := bytes.Count(got, fmt.Appendf(nil, "<line %d>\n", i)); n != 1 {
					t.Errorf("line %d of %d is in the file %d times", i, lines, n)
				}
			}
			t.Logf("%d lines, %d of %d failures left a part", lines, torn, failed)
		})
	}
}

// appendLines appends numbered lines, as another program would.
func appendLines(name string, lines int, keepOpen bool) error {
	var f *os.File
	for i := range lines {
		if f == nil || !keepOpen {
			var err error
			if f, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
				return err
			}
		}
		time.Sleep(100 * time.Microsecond) // so that appends fail between the lines
		_, err := fmt.Fprintf(f, "<line %d>\n", i)
		if !keepOpen || i == lines-1 || err != nil {
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A part behind which somebody may have written stays, and the error says so.
func TestAppendLeavesWhatMayBeFollowed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	other := openAppend(t, name) // so that nobody has sole use of the file
	if _, err := other.WriteString("theirs\n"); err != nil {
		t.Fatal(err)
	}
	failed, torn := limitedAppends(t, name, func() bool { return true })
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if torn != failed || string(got) != "theirs\n"+strings.Repeat(string(failing[:5000]), failed) {
		t.Errorf("%d of %d failures have left a part, and the file has %d bytes", torn, failed, len(got))
	}
}
