package folder_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/folder"
	"kioku/internal/files"
	"kioku/internal/records"
	"kioku/internal/testkit"
)

// raceEnv names the folder in which copies of the test binary race for ballots.
const raceEnv = "KIOKU_COUNCIL_RACE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(raceEnv); dir != "" {
		os.Exit(race(dir))
	}
	goleak.VerifyTestMain(m)
}

// race publishes all ballots that nobody has published yet and prints those that it has.
func race(dir string) int {
	f, err := folder.Open(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer f.Close()
	for n := range 500 {
		rel := fmt.Sprintf("%s/ballot_%d.json", folder.RoundDir(folder.TaskDir("task_1"), 1, 1), n)
		switch err := f.Publish(rel, os.Getpid()); {
		case err == nil:
			fmt.Println(n, os.Getpid())
		case !errors.Is(err, fs.ErrExist):
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

// Check 7: 8 processes race for 500 ballots. Each ballot has one winner, and contains what that one has written.
func TestPublishHasOneWinnerAmongProcesses(t *testing.T) {
	t.Parallel()
	dir := counciltest.Dir(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	outs := make([]string, 8)
	for i := range outs {
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), raceEnv+"="+dir)
			out, err := cmd.Output()
			if err != nil {
				t.Error(err)
			}
			outs[i] = string(out)
		})
	}
	all.Wait()
	winners := map[string]string{}
	for line := range strings.Lines(strings.Join(outs, "")) {
		ballot, pid, _ := strings.Cut(strings.TrimSpace(line), " ")
		if winners[ballot] != "" {
			t.Errorf("ballot %s has two winners", ballot)
		}
		winners[ballot] = pid
	}
	if len(winners) != 500 {
		t.Fatalf("%d winners", len(winners))
	}
	for ballot, pid := range winners {
		data, err := os.ReadFile(filepath.Join(dir, folder.RoundDir(folder.TaskDir("task_1"), 1, 1), "ballot_"+ballot+".json"))
		if err != nil || strings.TrimSpace(string(data)) != pid {
			t.Errorf("ballot %s of %s: %q, %v", ballot, pid, data, err)
		}
	}
}

// Check 8: the second engine is told who runs the council.
func TestLockNamesTheHolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := folder.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Lock(); err != nil {
		t.Fatal(err)
	}
	second, err := folder.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	var held *records.HeldError
	if err := second.Lock(); !errors.As(err, &held) || !errors.Is(err, files.ErrHeld) || !strings.Contains(held.Holder, fmt.Sprint("process ", os.Getpid())) {
		t.Errorf("%v", err)
	}
	if err := second.Probe(); !errors.As(err, &held) {
		t.Errorf("probe: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Probe(); err != nil {
		t.Errorf("after the end: %v", err)
	}
	if err := second.Lock(); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

func TestPublishedFilesNeverChange(t *testing.T) {
	t.Parallel()
	f := open(t)
	var winners atomic.Int32
	var all sync.WaitGroup
	for n := range 16 {
		all.Go(func() {
			if f.Publish("discussions/task_1/claim.json", n) == nil {
				winners.Add(1)
			}
		})
	}
	all.Wait()
	if winners.Load() != 1 {
		t.Errorf("%d winners", winners.Load())
	}
	if err := f.Publish("discussions/task_1/claim.json", 99); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: %v", err)
	}
}

func open(t *testing.T) *folder.Folder {
	t.Helper()
	f, err := folder.Open(counciltest.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Invariant I12: no name and no link leads out of the folder.
func TestNothingLeavesTheFolder(t *testing.T) {
	t.Parallel()
	f := open(t)
	outside := t.TempDir()
	writeFiles(t, outside, map[string]string{"secret.json": `{"id":"secret"}`})
	for name, rel := range map[string]string{"up": "../x.json", "absolute": outside + "/x.json", "up again": "inbox/../../x.json"} {
		if err := f.Publish(rel, 1); err == nil {
			t.Errorf("%s: published", name)
		}
		if err := f.Write(rel, 1); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	for _, link := range [][2]string{{outside, "discussions/task_1"}, {outside + "/secret.json", "inbox/task_2.json"}} {
		if err := os.Symlink(link[0], filepath.Join(f.Path(), link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Publish("discussions/task_1/claim.json", 1); err == nil {
		t.Error("published through a link")
	}
	var v any
	if err := f.Read("inbox/task_2.json", &v); err == nil {
		t.Errorf("read through a link: %v", v)
	}
	if _, err := f.Task("task_1"); err == nil {
		t.Error("a task through a link")
	}
}

// What a crash leaves is swept, and nothing else.
func TestSweepRemovesOnlyTemporaryFiles(t *testing.T) {
	t.Parallel()
	f := open(t)
	writeFiles(t, f.Path(), map[string]string{"inbox/.kioku-ABC.tmp": "x", "inbox/task_1.json": "{}", "discussions/task_1/.kioku-DEF.tmp": "y"})
	if err := f.Sweep(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(f.Path() + "/*/*/.kioku-*")
	if names, _ := f.Names("inbox"); err != nil || len(left) > 0 || len(names) != 2 {
		t.Errorf("%v, %v, %v", err, left, names)
	}
}

// A ballot counts only if it is one of this member in this round.
func TestTaskReadsBallotsStrictly(t *testing.T) {
	t.Parallel()
	good := council.Ballot{Node: "ant", Round: 1, Vote: council.VoteApprove}
	for name, c := range map[string]struct {
		text func() string
		ok   bool
	}{
		"good":          {func() string { return marshal(t, good) }, true},
		"another node":  {func() string { b := good; b.Node = "bee"; return marshal(t, b) }, false},
		"another round": {func() string { b := good; b.Round = 2; return marshal(t, b) }, false},
		"another word":  {func() string { b := good; b.Vote = "APPROVE"; return marshal(t, b) }, false},
		"no vote":       {func() string { b := good; b.Vote = ""; return marshal(t, b) }, false},
		"prose":         {func() string { return "I reject it" }, false},
		"empty":         {func() string { return "" }, false},
		"huge":          {func() string { b := good; b.Opinion = strings.Repeat("x", 5<<20); return marshal(t, b) }, false},
		"NaN":           {func() string { return `{"node":"ant","round":1,"vote":"approve","confidence":NaN}` }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			writeFiles(t, f.Path(), map[string]string{"discussions/task_1/task.json": `{"id":"task_1"}`, "discussions/task_1/round_1/ant.json": c.text()})
			s, err := f.Task("task_1")
			if err != nil || len(s.Rounds) != 1 {
				t.Fatalf("%v: %+v", err, s)
			}
			if b := s.Rounds[0].Ballots["ant"]; (b.Problem == "") != c.ok {
				t.Errorf("%q", b.Problem)
			}
		})
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		testkit.WriteFile(t, dir, name, text)
	}
}

// A link is not followed, also not to a file of the same council.
func TestReadBytesFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir := counciltest.Dir(t)
	f, err := folder.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Publish("decisions/task_1.json", "approved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("task_1.json", filepath.Join(dir, "decisions/task_2.json")); err != nil {
		t.Fatal(err)
	}
	if data, err := f.ReadBytes("decisions/task_2.json", records.MaxFile); err == nil {
		t.Errorf("read %s", data)
	}
}

// A folder that is a link leads to files of another name, so that a member could have the parameters of another: nothing is opened.
func TestOpenRefusesFoldersThatAreLinks(t *testing.T) {
	t.Parallel()
	for _, link := range []string{"decisions", "nodes/panda", "commands/buddy", "suggestions/buddy", "evaluations/eval_1", "schedules", "schedules/backups"} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "nodes/gorilla"), 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, "nodes/gorilla"), path); err != nil {
			t.Fatal(err)
		}
		if f, err := folder.Open(dir); err == nil || !strings.Contains(err.Error(), link+" is a link") {
			t.Errorf("%s: %v", link, err)
			if err == nil {
				f.Close()
			}
		}
	}
}
