package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
	"kioku/store/checksumvfs"
	"kioku/store/storetest"
	"kioku/vectors"
)

// killEnv makes the test binary a process that opens an index, brings it in step with killNotes, and is killed after a number
// of writes. Its value is the number and the folder.
const killEnv = "KIOKU_TEST_KILL"

// killNotes are the files of the tests that kill.
func killNotes() []note {
	r := newRand()
	var files []note
	for i := range 5 {
		files = append(files, testFile(fmt.Sprintf("memory/%d.md", i), r, numbered(fmt.Sprint("word", i), 40)...))
	}
	return files
}

// syncUntilKilled is the process of killEnv.
func syncUntilKilled(value string) {
	number, dir, _ := strings.Cut(value, ":")
	left, err := strconv.Atoi(number)
	if err != nil {
		panic(err)
	}
	checksumvfs.SetFault(func(checksumvfs.Op, string, int) error {
		if left--; left < 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return nil
	})
	ctx := context.Background()
	opt := testOptions()
	if opt.Cache, err = vectors.Open(ctx, vectors.Path(dir, "main"), vectors.Options{Entries: 50}); err != nil {
		fmt.Println("open:", err)
		os.Exit(1)
	}
	s, err := Open(ctx, Path(dir, "main"), opt)
	if err == nil {
		err = errors.Join(resync(ctx, s, killNotes()...), s.Close())
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Hazards A02, A21: a process that replaces an index of an older schema or a damaged one, indexes the files and embeds
// them from the cache is killed at every kind of write. The next start goes on, ends with the index of a clean build, and loses no vector.
func TestReplaceConvergesAfterKills(t *testing.T) {
	t.Parallel()
	clean := openTestStore(t, t.TempDir())
	replace(t, clean, killNotes()...)
	want := dump(t, clean)
	for name, hurt := range map[string]func(t *testing.T, path string){
		"older":   func(t *testing.T, path string) { storetest.Exec(t, path, "PRAGMA user_version = 5") },
		"damaged": func(t *testing.T, path string) { storetest.Exec(t, path, "UPDATE meta SET chunks = 1") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killed := 0
			for n := 0; ; n += 1 + n/testkit.Rounds(40, 2) {
				dir := t.TempDir()
				s := openTestStore(t, dir)
				replace(t, s, killNotes()...)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				hurt(t, s.path)
				cmd := exec.CommandContext(t.Context(), os.Args[0])
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d:%s", killEnv, n, dir))
				out, err := cmd.CombinedOutput()
				if err != nil && cmd.ProcessState.ExitCode() != -1 {
					t.Fatalf("write %d: %v: %s", n, err, out)
				}
				s = openTestStore(t, dir)
				restore(t, s, killNotes()...)
				if diff := cmp.Diff(want, dump(t, s)); diff != "" {
					t.Errorf("killed at write %d:\n%s", n, diff)
				}
				if exists(s.path + newSuffix) {
					t.Errorf("killed at write %d: the draft is left", n)
				}
				if err == nil {
					break
				}
				killed++
			}
			if killed < 3 {
				t.Errorf("killed only %d times", killed)
			}
		})
	}
}
