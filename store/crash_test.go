package store

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"kioku/internal/testkit"
	"kioku/memory"
	"kioku/vectors"
)

// crashEnv makes the test binary a writer that is going to be killed. Its value is the folder to write to.
const crashEnv = "KIOKU_TEST_CRASH_DIR"

// TestMain runs the tests, with a quarter of the checks of rapid and half of its steps unless testkit.Soak.
func TestMain(m *testing.M) {
	if dir := os.Getenv(crashEnv); dir != "" {
		writeUntilKilled(dir)
	}
	if value := os.Getenv(killEnv); value != "" {
		syncUntilKilled(value)
	}
	if path := os.Getenv(lockEnv); path != "" {
		lookForLocks(path)
	}
	for name, n := range map[string]int{"rapid.checks": testkit.Rounds(100, 25), "rapid.steps": testkit.Rounds(30, 15)} {
		if err := flag.Set(name, strconv.Itoa(n)); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// writeUntilKilled replaces files forever and acknowledges each commit on stdout.
func writeUntilKilled(dir string) {
	ctx := context.Background()
	opt := testOptions()
	var err error
	if opt.Cache, err = vectors.Open(ctx, vectors.Path(dir, "main"), vectors.Options{Entries: 50}); err != nil {
		fmt.Println("open:", err)
		os.Exit(1)
	}
	s, err := Open(ctx, Path(dir, "main"), opt)
	if err != nil {
		fmt.Println("open:", err)
		os.Exit(1)
	}
	r := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
	for i := 0; ; i++ {
		word := fmt.Sprintf("w%dx%d", os.Getpid(), i)
		path := fmt.Sprintf("memory/%d.md", i%7)
		if err := write(ctx, s, testSpace, testFile(path, r, word, "filler one", "filler two")); err != nil {
			fmt.Println("replace:", err)
			os.Exit(1)
		}
		fmt.Println("ack", path, word)
	}
}

// Hazard A01: the writer is killed again and again while it works. Every commit that it acknowledged is in the index, and the
// tables are consistent.
func TestStoreKeepsAcknowledgedCommitsOfKilledWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(7, 7))
	for range testkit.Rounds(100, 8) {
		acked := killedWriter(t, dir, time.Duration(20+r.IntN(180))*time.Millisecond)
		if len(acked) == 0 {
			t.Fatal("the writer acknowledged nothing: the test does not test")
		}
		checkAcknowledged(t, dir, acked)
	}
}

// checkAcknowledged opens the index of a killed writer and looks for every acknowledged commit.
func checkAcknowledged(t *testing.T, dir string, acked map[string]string) {
	t.Helper()
	s := openTestStore(t, dir)
	defer s.current().db.close()
	if m := checkConsistent(t, s); m.chunks == 0 {
		t.Error("the index is empty")
	}
	for path, word := range acked {
		if got := match(t, s, memory.Filter{PathPrefix: path}, word); len(got) != 1 && !unacknowledged(t, s, path, word) {
			t.Errorf("%s: acknowledged %s is lost", path, word)
		}
	}
}

// unacknowledged reports whether the file contains a commit that its writer was killed before acknowledging: seven words after
// the acknowledged one, because a writer goes round seven files.
func unacknowledged(t *testing.T, s *Store, path, word string) bool {
	t.Helper()
	var pid, i int
	if _, err := fmt.Sscanf(word, "w%dx%d", &pid, &i); err != nil {
		t.Fatal(err)
	}
	next := fmt.Sprintf("w%dx%d", pid, i+7)
	return len(match(t, s, memory.Filter{PathPrefix: path}, next)) == 1
}

// killedWriter runs a writer for a while, kills it and returns the last acknowledged word of each file.
func killedWriter(t *testing.T, dir string, life time.Duration) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acked := map[string]string{}
	lines := bufio.NewScanner(out)
	var killer *time.Timer
	for lines.Scan() {
		if killer == nil { // its time starts with the first commit
			killer = time.AfterFunc(life, func() { cmd.Process.Kill() })
		}
		f := strings.Fields(lines.Text())
		if len(f) != 3 || f[0] != "ack" {
			t.Fatalf("writer said %q", lines.Text())
		}
		acked[f[1]] = f[2]
	}
	cmd.Wait()
	return acked
}
