package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	councilfolder "kioku/council/folder"

	"kioku/cmd/kioku/internal/render"
	"kioku/internal/testkit"
	"kioku/memory"
)

// newCouncil returns a sandbox with a council of the template soul, which it works in.
func newCouncil(t *testing.T) *sandbox {
	t.Helper()
	s := newSandbox(t, nil)
	s.must("council", "init", filepath.Join(s.workspace, "council"))
	return s
}

// council runs kioku council with the folder of the sandbox's council.
func (s *sandbox) council(args ...string) outcome {
	return s.run(append([]string{"council", "--folder", filepath.Join(s.workspace, "council")}, args...)...)
}

// The four ends of a task, offline and without a key: approved, rejected, by the arbiter, stalled. The exit code tells them apart (J04),
// and with --strict also a decision that had to do without something. That a scripted model plays all members is no such thing, and the line
// by which it plays is nothing that it repeats.
func TestCouncilAskEndsInFourWays(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, script, flag string
		code               int
		shows              []string
	}{
		{"approved", "echo: *=approve", "--strict", exitOK, []string{"APPROVED by the council", "memory/decisions/"}},
		{"without one", "echo: triceratops=silent", "--strict", exitDegraded, []string{"! degraded: triceratops has abstained", "APPROVED by the council"}},
		{"rejected", "echo: *=reject", "--strict", exitRejected, []string{"REJECTED by the council"}},
		{"arbiter", "echo: panda=approve gorilla=reject triceratops=silent arbiter=approve", "--strict=false", exitOK,
			[]string{"! degraded: No majority after round 3", "APPROVED by the arbiter", "Dissent of gorilla", "triceratops: malformed"}},
		{"stalled", "echo: gorilla=silent triceratops=silent", "--strict", exitStalled, []string{"! stalled:", "kioku council round"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newCouncil(t)
			got := s.council("ask", "--echo", tc.flag, "--description", tc.script, "Shall we move the backups?")
			if got.code != tc.code {
				t.Errorf("exit code %d, want %d: %s", got.code, tc.code, got.stderr)
			}
			for _, want := range tc.shows {
				if !strings.Contains(got.stdout, want) {
					t.Errorf("it does not show %q:\n%s", want, got.stdout)
				}
			}
			if strings.Contains(got.stdout, "echo:") || strings.Contains(got.stdout, "family of models.") {
				t.Errorf("it has noise of the scripted model:\n%s", got.stdout)
			}
			if list := s.council("list"); !strings.Contains(list.stdout, "Shall we move the backups?") {
				t.Errorf("the list is %s", list.stdout)
			}
		})
	}
}

// Who looks at a task reads why the arbiter has not decided it.
func TestCouncilShowTellsWhyAMemberFailed(t *testing.T) {
	t.Parallel()
	s := newCouncil(t)
	s.council("ask", "--echo", "--description", "echo: panda=approve gorilla=reject triceratops=silent arbiter=silent", "Shall we move?").wants(t, exitStalled, "stalled")
	_, id, _ := strings.Cut(s.council("list").stdout, "ask_")
	got := s.council("show", "ask_"+strings.Fields(id)[0])
	if _, reason, found := strings.Cut(got.stdout, "No arbitration by "); !found || !strings.Contains(reason, "malformed") {
		t.Errorf("%s%s", got.stdout, got.stderr)
	}
}

// A newcomer without a council asks that of the template, in a folder that is gone afterwards; nothing is written elsewhere.
func TestCouncilAskWithoutACouncil(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, nil)
	got := s.run("council", "ask", "--echo", "Shall we plant a tree?")
	if got.code != exitOK || !strings.Contains(got.stdout, "APPROVED") || !strings.Contains(got.stderr, "temporary folder") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if _, err := os.Stat(s.state); err == nil {
		t.Error("the state folder has something of it")
	}
	if got := s.run("council", "list"); got.code != exitUsage || !strings.Contains(got.stderr, "kioku council init --template soul") {
		t.Errorf("list: exit code %d, %s", got.code, got.stderr)
	}
}

// What is submitted waits in the inbox, and parameters are set, bounded and taken back.
func TestCouncilSubmitAndParams(t *testing.T) {
	t.Parallel()
	s := newCouncil(t)
	id := strings.TrimSpace(s.council("submit", "Buy a ladder").stdout)
	if _, err := os.Stat(filepath.Join(s.workspace, "council", "inbox", id+".json")); err != nil {
		t.Error(err)
	}
	if got := s.council("params", "set", "panda", "risk_tolerance=0.35"); !strings.Contains(got.stdout, "risk_tolerance: 0.35") {
		t.Errorf("%s%s", got.stdout, got.stderr)
	}
	for _, bad := range []string{"risk_tolerance=7", "risk_tolerance=NaN", "risk_tolerance=-Inf", "bravery=0.5", "risk_tolerance"} {
		if got := s.council("params", "set", "panda", bad); got.code != exitUsage {
			t.Errorf("%s: exit code %d, %s", bad, got.code, got.stderr)
		}
	}
	if got := s.council("params", "rollback", "panda"); !strings.Contains(got.stdout, "risk_tolerance: 0.2\n") {
		t.Errorf("%s%s", got.stdout, got.stderr)
	}
}

// A worker gets its place in council.yaml, a key and a token whose rights it can use; a second time nothing is added.
func TestCouncilWorkersAdd(t *testing.T) {
	t.Parallel()
	s := newCouncil(t)
	got := s.council("workers", "add", "buddy", "--key", "--bridge", "discord")
	key := filepath.Join(s.workspace, "council", "keys", "buddy.key")
	if got.code != exitOK || !strings.Contains(got.stdout, key) || !strings.Contains(got.stderr, "worker:buddy, bridge:discord") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if list := s.council("workers"); !strings.Contains(list.stdout, "buddy") {
		t.Errorf("the list is %s%s", list.stdout, list.stderr)
	}
	if got := s.council("suggest", "buddy", "Water the plants"); got.code != exitOK {
		t.Errorf("suggest: %s", got.stderr)
	}
	if got := s.council("workers", "add", "buddy", "--no-token"); got.code != exitOK || strings.Contains(got.stderr, "added") {
		t.Errorf("a second time: %d, %s", got.code, got.stderr)
	}
	if got := s.council("workers", "add", "b2", "--bridge", "discrod"); got.code != exitUsage || strings.Contains(s.council("workers").stdout, "b2") {
		t.Errorf("an unknown platform: %d, %s", got.code, got.stderr)
	}
	if got := s.council("command", "buddy", "adjust_params", "talkativeness=Inf"); got.code != exitUsage {
		t.Errorf("Inf: %d, %s", got.code, got.stderr)
	}
	if got := s.council("workers", "add", "panda"); got.code != exitUsage {
		t.Errorf("a member: %d, %s", got.code, got.stderr)
	}
}

// Two commands that run a council do it one after the other. An interrupt ends the wait.
func TestCouncilCommandsWaitForEachOther(t *testing.T) {
	t.Parallel()
	s := newCouncil(t)
	other, err := councilfolder.Open(filepath.Join(s.workspace, "council"))
	if err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, other.Lock())
	release := time.AfterFunc(2*time.Second, func() { other.Close() })
	defer release.Stop()
	got := s.council("ask", "--echo", "Shall we move?")
	if waits := fmt.Sprintf("process %d", os.Getpid()); got.code != exitOK || !strings.Contains(got.stdout, "APPROVED") || strings.Count(got.stderr, waits) != 1 || !strings.Contains(got.stderr, "waiting for it") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// Who would run a council that another process runs is told which, and what to do.
func TestCouncilServeNamesTheOneThatRuns(t *testing.T) {
	t.Parallel()
	s := newCouncil(t)
	other, err := councilfolder.Open(filepath.Join(s.workspace, "council"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	testkit.Must(t, other.Lock())
	got := s.council("serve", "--listen", "none")
	if got.code == exitOK || !strings.Contains(got.stderr, fmt.Sprint("process ", os.Getpid())) || !strings.Contains(got.stderr, "stop it") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}

// A trial asks each member; a program that is not there, or has its tools, is said with what to do.
func TestCouncilDoctorTriesMembers(t *testing.T) {
	t.Parallel()
	s := newCouncil(t)
	if got := s.council("doctor", "--trial"); got.code != exitOK || strings.Count(got.stdout, "answers with a valid ballot") != 3 || !strings.Contains(got.stdout, "same mistakes") {
		t.Errorf("exit code %d: %s%s", got.code, got.stdout, got.stderr)
	}
	path := filepath.Join(s.workspace, "council", "council.yaml")
	settings, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(settings), "model: echo", "command: [claude, -p, --dangerously-skip-permissions]", 1)
	edited = strings.Replace(edited, "model: echo", "command: [/nowhere/oracle]", 1)
	testkit.Must(t, os.WriteFile(path, []byte(edited), 0o600))
	got := s.council("doctor", "--trial")
	for _, want := range []string{"--dangerously-skip-permissions, so a text", "use preset: claude-think", "trial of gorilla", "install it, or correct the command of the member", "trial of triceratops  answers"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("it does not show %q:\n%s", want, got.stdout)
		}
	}
	if got.code != exitError {
		t.Errorf("exit code %d", got.code)
	}
}

// status, doctor and members tell how busy the council of the settings is; doctor warns of what is stalled and fails for a broken file.
func TestOperatorsSeeTheCouncil(t *testing.T) {
	t.Parallel()
	s := newCouncil(t)
	folder := filepath.Join(s.workspace, "council")
	s.env = append(s.env, "KIOKU_COUNCIL_FOLDER="+folder)
	s.must("init")
	if got := s.council("ask", "--echo", "--description", "echo: gorilla=silent triceratops=silent", "Shall we?"); got.code != exitStalled {
		t.Fatal(got.stderr)
	}
	for command, want := range map[string]string{
		"status": "council    1 open, 1 wait for a person, 1 of them stalled", "council members": "absent     gorilla, triceratops",
		"doctor": "1 tasks are stalled: the council cannot decide them",
	} {
		if got := s.run(strings.Fields(command)...); !strings.Contains(got.stdout, want) {
			t.Errorf("%s does not show %q:\n%s%s", command, want, got.stdout, got.stderr)
		}
	}
	testkit.Must(t, os.WriteFile(filepath.Join(folder, "council.yaml"), []byte("members: []\n"), 0o600))
	if got := s.run("doctor"); got.code != exitError || !strings.Contains(got.stdout, "the council of "+folder+" cannot be read") {
		t.Errorf("exit code %d: %s", got.code, got.stdout)
	}
}

// An execution that fails is an error of the command that has it run, which says what tries it again; a person reports what the program
// could not do.
func TestCouncilApproveTellsOfAFailure(t *testing.T) {
	t.Parallel()
	s := newCouncil(t)
	settings := filepath.Join(s.workspace, "council", "council.yaml")
	data, err := os.ReadFile(settings)
	testkit.Must(t, err)
	mode := strings.Replace(string(data), "mode: report", "mode: command\n  command: [sh, -c, 'cat >/dev/null; sleep 1; echo no water >&2; exit 3']", 1)
	testkit.Must(t, os.WriteFile(settings, []byte(mode), 0o600))
	s.council("ask", "--echo", "--task", "--id", "task_kettle", "Buy a kettle").wants(t, exitOK)
	s.council("approve", "task_kettle").wants(t, exitError, "the task has failed: the program has failed: exit status 3", "executing: the program runs")
	for _, args := range [][]string{{"show", "task_kettle"}, {"report", "task_kettle", "Bought by hand"}} {
		want := map[string]string{"show": "kioku council approve task_kettle tries it again", "report": "completed"}[args[0]]
		if got := s.council(args...); got.code != exitOK || !strings.Contains(got.stdout, want) {
			t.Errorf("%v: exit code %d: %s%s", args, got.code, got.stdout, got.stderr)
		}
	}
}

// An error that comes after a task was stored names the task.
func TestCouncilAskNamesWhatIsStored(t *testing.T) {
	t.Parallel()
	s := newCouncil(t)
	settings := filepath.Join(s.workspace, "council", "council.yaml")
	data, err := os.ReadFile(settings)
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(settings, []byte(strings.ReplaceAll(string(data), "model: echo", "model: remote")), 0o600))
	p := s.start("council", "--folder", filepath.Join(s.workspace, "council"), "ask", "--id", "task_kettle", "Buy a kettle")
	p.waits(p.err, "asked as task_kettle")
	p.waits(p.err, "discussing")
	p.signal(os.Interrupt)
	if code, _ := p.ends(); code != exitInterrupted || !strings.Contains(strings.Join(p.said, "\n"), "kioku council show task_kettle --follow") {
		t.Errorf("interrupted: %d, %s", code, p.said)
	}
	gone := render.Message(render.Stored("task_kettle", memory.ErrUnreachable))
	if !strings.Contains(gone, "kioku council show task_kettle --follow") || strings.Contains(gone, "try again") {
		t.Errorf("%s", gone)
	}
}
