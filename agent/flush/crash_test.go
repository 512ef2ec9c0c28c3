package flush_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kioku/agent/flush"
	"kioku/agent/session"
	"kioku/internal/testkit"
	"kioku/llm"
	"kioku/llm/llmtest"
	"kioku/memory"

	"github.com/google/go-cmp/cmp"
)

const (
	// crashEnv makes the test binary a process that is to be killed; its value is the folder to write to.
	crashEnv = "KIOKU_TEST_FLUSH_CRASH"
	// pointEnv is at which point it kills itself; without one it flushes until somebody else kills it.
	pointEnv = "KIOKU_TEST_FLUSH_POINT"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(crashEnv)
	switch point, err := strconv.Atoi(os.Getenv(pointEnv)); {
	case dir == "":
		os.Exit(m.Run())
	case err == nil:
		dying := &fuse{left: point}
		out := crashRunner(dir, dying, "first").Run(context.Background(), crashJob("first"))
		fmt.Println(out.Outcome, out.Reason)
	default:
		flushUntilKilled(dir)
	}
}

// fuse kills the process at a point.
type fuse struct{ left int }

func (f *fuse) point() {
	if f == nil {
		return
	}
	if f.left == 0 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	f.left--
}

// dyingModel asks to store notes that bear its name, since a model seldom says the same thing twice. It passes points before
// and after its work.
type dyingModel struct {
	llm.Model
	name string
	fuse *fuse
}

func (m dyingModel) Generate(_ context.Context, req llm.Request, _ func(llm.Event)) (llm.Response, error) {
	m.fuse.point()
	defer m.fuse.point()
	answers := 0
	for _, said := range req.Messages {
		if said.Role == llm.RoleAssistant {
			answers++
		}
	}
	steps := []llmtest.Step{save(m.name+" one", m.name+" two"), save(m.name + " three"), llmtest.Say("NO_REPLY")}
	return steps[answers].Response, nil
}

// dyingNotes adds "key text" to a file, once for each key. It passes points as well.
type dyingNotes struct {
	path string
	fuse *fuse
}

func (n dyingNotes) Append(_ context.Context, note memory.Note) (memory.Appended, error) {
	n.fuse.point()
	defer n.fuse.point()
	have, _ := os.ReadFile(n.path)
	if strings.Contains(string(have), note.Key+" ") {
		return memory.Appended{Path: n.path, Deduplicated: true}, nil
	}
	f, err := os.OpenFile(n.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return memory.Appended{}, err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%s %s\n", note.Key, note.Text)
	return memory.Appended{Path: n.path}, err
}

// crashRunner flushes into the files of a folder.
func crashRunner(dir string, dying *fuse, name string) *flush.Runner {
	return &flush.Runner{
		Model: dyingModel{name: name, fuse: dying}, Notes: dyingNotes{filepath.Join(dir, "notes"), dying},
		Ledger: flush.NewLedger(filepath.Join(dir, "flush"), flush.Settings{}, nil),
	}
}

func crashJob(text string) flush.Job {
	return flush.Job{Session: "s", Holder: "a", Messages: []llm.Message{{Role: llm.RoleUser, Text: text}}}
}

// child is the test binary as a process to be killed.
func child(t *testing.T, dir string, env ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), crashEnv+"="+dir), env...)
	return cmd
}

// Hazard F06: a process is killed before and after everything that it asks of the model and of the memory. Who continues
// the flush finds the same spool, and every note that the first model asked for is stored once, under the key that it had.
func TestRunAfterAKillStoresNothingTwice(t *testing.T) {
	t.Parallel()
	killed := 0
	for point := 0; ; point++ {
		dir := t.TempDir()
		out, err := child(t, dir, fmt.Sprint(pointEnv, "=", point)).Output()
		if err == nil {
			if !strings.HasPrefix(string(out), session.FlushDone) {
				t.Fatalf("point %d: %s", point, out)
			}
			break
		}
		killed++
		r := crashRunner(dir, nil, "second")
		second := r.Run(t.Context(), crashJob("second"))
		if second.Outcome != session.FlushDone || len(second.Notes) != 3 {
			t.Fatalf("point %d: %+v", point, second)
		}
		checkNotes(t, point, filepath.Join(dir, "notes"))
		checkSpool(t, filepath.Join(dir, "flush"), "first")
	}
	if killed != 3*2+3*2 { // three answers and three notes, before and after each
		t.Errorf("killed %d times", killed)
	}
}

// checkNotes checks that each note is there once, under a key of its own, and that no answer of which something may have been
// stored was replaced by another.
func checkNotes(t *testing.T, point int, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var numbers, texts []string
	for line := range strings.Lines(string(data)) {
		key, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		numbers, texts = append(numbers, key[strings.LastIndex(key, "-"):]), append(texts, text)
	}
	if !slices.Equal(numbers, []string{"-1", "-2", "-3"}) {
		t.Errorf("point %d: %q", point, data)
	}
	// Points 0 and 1 are before the first answer is on the disk, the next six before the second one is.
	one, three := "first", "first"
	if point < 2 {
		one = "second"
	}
	if point < 8 {
		three = "second"
	}
	if diff := cmp.Diff([]string{one + " one", one + " two", three + " three"}, texts); diff != "" {
		t.Errorf("point %d: %s", point, diff)
	}
}

// checkSpool checks that the spool is still that of the process which was killed.
func checkSpool(t *testing.T, folder, text string) {
	t.Helper()
	data, err := os.ReadFile(one(t, folder, ".spool.jsonl"))
	if diff := cmp.Diff(string(messages(text)[0])+"\n", string(data)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// flushUntilKilled goes through cycles for ever, and tells on stdout what was acknowledged.
func flushUntilKilled(dir string) {
	l := flush.NewLedger(dir, flush.Settings{}, nil)
	for cycle := 0; ; cycle++ {
		lease, err := l.Begin(context.Background(), "s", cycle, "a", messages(fmt.Sprint("cycle ", cycle), strings.Repeat("x", 50_000)))
		if err == nil && !lease.Done {
			fmt.Println("begun", cycle)
			err = l.Commit(context.Background(), lease.ID, "a")
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("done", cycle)
	}
}

// Hazard F06: a process is killed at any moment of what it does on the disk. What it was told to be on the disk is there, and
// nothing is damaged.
func TestLedgerAfterAKillHasWhatItAcknowledged(t *testing.T) {
	t.Parallel()
	kills := 6
	if testkit.Soak() {
		kills = 100
	}
	dir, random := t.TempDir(), rand.New(rand.NewPCG(6, 6))
	for range kills {
		begun, done := killedLedger(t, dir, time.Duration(1+random.IntN(40))*time.Millisecond)
		if begun < 0 {
			t.Fatal("it acknowledged nothing: the test does not test")
		}
		l := flush.NewLedger(dir, flush.Settings{}, nil)
		if got, err := l.Progress("s", done); err != nil || done >= 0 && !got.Done {
			t.Errorf("cycle %d was done: %+v, %v", done, got, err)
		}
		lease, err := l.Begin(t.Context(), "s", begun, "a", nil)
		if err != nil || !lease.Resumed {
			t.Errorf("cycle %d: %+v, %v", begun, lease, err)
		}
		if !lease.Done && string(lease.Spool[0]) != string(messages(fmt.Sprint("cycle ", begun))[0]) {
			t.Errorf("cycle %d has the spool %s", begun, lease.Spool[0])
		}
	}
	if lost := files(t, dir, ".lost.jsonl"); len(lost) > 0 {
		t.Errorf("spools were set aside: %v", lost)
	}
}

// killedLedger kills a process some time after its first flush, and returns the last cycles that it has acknowledged, -1
// for none.
func killedLedger(t *testing.T, dir string, life time.Duration) (begun, done int) {
	t.Helper()
	cmd := child(t, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	begun, done = -1, -1
	var killer *time.Timer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		word, number, _ := strings.Cut(lines.Text(), " ")
		cycle, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("it said %q", lines.Text())
		}
		if word == "done" {
			done = cycle
		} else if begun = cycle; killer == nil {
			killer = time.AfterFunc(life, func() { cmd.Process.Kill() })
		}
	}
	cmd.Wait()
	return begun, done
}
