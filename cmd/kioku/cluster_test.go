package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kioku/cmd/kioku/internal/render"
	"kioku/pgstore/pgtest"
)

// Two machines and one database: the one without a folder answers for the agent of the other, what is appended there comes into the folder, and
// after the folder's machine is gone the second one adopts it with all that was acknowledged.
func TestClusterOfTwoMachines(t *testing.T) {
	t.Parallel()
	store := "store=" + pgtest.New(t).Database("two")
	first := newSandbox(t, map[string]string{
		"MEMORY.md": "# Memory\n\n- The harbour office closes at six.\n", "memory/2026-01-25.md": "# 2026-01-25\n\n## 16:20 - todo\n\n- todo: paint the buoy at the weir.\n",
	})
	second := newSandbox(t, nil)
	folder, _ := first.serve("--set", store, "--set", "derive.enabled=true")
	other := func(args ...string) outcome { return second.raw(args...) }
	p := second.startCommand(exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--state", second.state, "--set", store))
	_, address, _ := strings.Cut(p.waits(p.err, "listening on tcp:"), "tcp:")
	ask := func(args ...string) outcome { return other(append(args, "--agent", "main", "--target", address)...) }
	untilFound := func(query, want string) {
		t.Helper()
		for {
			if got := ask("search", query); strings.Contains(got.stdout, want) {
				return
			}
			if t.Context().Err() != nil {
				t.Fatalf("%q is never found", want)
			}
			time.Sleep(20 * time.Millisecond) // the owner pushes its folder in the background
		}
	}
	untilFound("when does the office close?", "closes at six")
	ask("derive", "run").wants(t, exitOK)
	if got := ask("derive", "list"); !strings.Contains(got.stdout, "paint the buoy") { // which only the machine with the folder has
		t.Errorf("%s%s", got.stdout, got.stderr)
	}
	ask("append", "--category", "fact", "The ferry leaves from Uno port.").wants(t, exitOK)
	if got := ask("search", "from where does the ferry leave?"); !strings.Contains(got.stdout, "Uno port") {
		t.Errorf("not found at once: %s%s", got.stdout, got.stderr)
	}
	for {
		day, _ := filepath.Glob(filepath.Join(first.workspace, "memory", "*.md"))
		if len(day) == 2 {
			if text, _ := os.ReadFile(day[1]); strings.Count(string(text), "Uno port") == 1 {
				break
			}
		}
		if t.Context().Err() != nil {
			t.Fatal("the note never comes into the folder")
		}
		time.Sleep(20 * time.Millisecond)
	}
	writeTestFile(t, filepath.Join(first.workspace, "memory", "mill.md"), "# Mill\n\nThe miller keeps an otter.\n")
	untilFound("what does the miller keep?", "otter")
	ask("update", "closes at six", "closes at seven").wants(t, exitOK)
	ask("forget", "--yes", "The ferry leaves from Uno port.").wants(t, exitOK)
	if text, _ := os.ReadFile(filepath.Join(first.workspace, "MEMORY.md")); !strings.Contains(string(text), "closes at seven") {
		t.Errorf("the folder says %s", text)
	}
	if got := ask("search", "from where does the ferry leave?"); strings.Contains(got.stdout, "Uno port") {
		t.Errorf("what was forgotten is found: %s", got.stdout)
	}
	ask("append", "--category", "fact", "The ferry leaves from Uno port.").wants(t, exitOK) // a person says it again
	var st clusterStatus
	if err := json.Unmarshal([]byte(other("cluster", "status", "--json", "--set", store).stdout), &st); err != nil || len(st.Agents) != 1 || len(st.Nodes) != 2 || st.Agents[0].Owner == "" {
		t.Errorf("%+v, %v", st, err)
	}
	if got := other("cluster", "doctor", "--set", store); !strings.Contains(got.stdout, "row-level security holds for the role: true") || !strings.Contains(got.stdout, "2 nodes, of version") {
		t.Errorf("%s%s", got.stdout, got.stderr)
	}
	if got := other("cluster", "status", "--set", store); !strings.Contains(got.stdout, "1 agent open") {
		t.Errorf("%s%s", got.stdout, got.stderr)
	}
	other("prompt", "--agent", "main", "--state", second.state).wants(t, exitError, "is on another machine")
	if got := other("doctor", "--agent", "main", "--state", second.state, "--set", store); !strings.Contains(got.stdout, "this machine answers from what the cluster has") {
		t.Errorf("%s%s", got.stdout, got.stderr)
	}
	other("cluster", "status", "--agent", "nobody", "--set", store).wants(t, exitError, "nobody: ")
	other("cluster", "drain", "nobody", "--set", store).wants(t, exitUsage, `none of the name "nobody"`)
	gone := strings.Replace(store, "/two", "/gone", 1)
	other("cluster", "doctor", "--set", gone).wants(t, exitUsage, `refuses: database "gone" does not exist`)
	other("serve", "--state", t.TempDir(), "--set", gone).wants(t, exitUsage, `refuses: database "gone" does not exist`)
	other("serve", "--state", second.state, "--set", store+",").wants(t, exitError, "is this node of the cluster")
	folder.signal(syscall.SIGKILL)
	folder.ends()
	ask("append", "Said while the folder was away.").wants(t, exitOK)
	adopted := filepath.Join(second.home, "adopted")
	other("cluster", "adopt", "main", adopted, "--state", second.state, "--set", store).wants(t, exitError, "belongs to another folder")
	other("cluster", "adopt", "main", adopted, "--force", "--state", second.state, "--set", store).wants(t, exitOK, "this machine its owner")
	if text, err := os.ReadFile(filepath.Join(adopted, "MEMORY.md")); err != nil || !strings.Contains(string(text), "closes at seven") {
		t.Errorf("%s, %v", text, err)
	}
	exported := filepath.Join(second.home, "exported")
	other("cluster", "export", "main", exported, "--state", t.TempDir(), "--set", store).wants(t, exitOK)
	all := ""
	days, _ := filepath.Glob(filepath.Join(exported, "memory", "*.md"))
	for _, name := range days {
		text, _ := os.ReadFile(name)
		all += string(text)
	}
	if strings.Count(all, "Said while the folder was away.") != 1 || strings.Count(all, "Uno port") != 1 {
		t.Errorf("the export says %s", all)
	}
	imported := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n\n- The mill is by the weir.\n"})
	imported.raw("cluster", "import", "mill", imported.workspace, "--state", imported.state, "--set", store).wants(t, exitOK, "the cluster has its notes")
	imported.raw("cluster", "import", "main", imported.workspace, "--state", imported.state, "--set", store).wants(t, exitError, "belongs to another folder")
	if got := other("search", "where is the mill?", "--agent", "mill", "--target", address); !strings.Contains(got.stdout, "by the weir") {
		t.Errorf("what was imported is not found: %s%s", got.stdout, got.stderr)
	}
	other("cluster", "drain", strings.Split(st.Agents[0].Owner, "/")[0], "--set", store).wants(t, exitOK, "0 agents of")
	other("cluster", "status").wants(t, exitUsage, "no cluster is configured")
	p.terminates()
}

// A node that starts while the database stands still answers from its folder, says so, and acknowledges nothing; it goes on when the database is back.
func TestClusterStartsWithoutTheStore(t *testing.T) {
	t.Parallel()
	pg := pgtest.New(t)
	address := pg.Database("late")
	pg.Stop()
	b := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n\n- The harbour office closes at six.\n"})
	b.serve("--set", "store="+address)
	if got := b.run("search", "when does the office close?", "--json"); !strings.Contains(got.stdout, "closes at six") || !strings.Contains(got.stdout, "store_away") {
		t.Errorf("%s%s", got.stdout, got.stderr)
	}
	if got := b.run("append", "The ferry leaves at nine.", "--timeout", "2s"); got.code == exitOK {
		t.Errorf("acknowledged: %s", got.stdout)
	}
	pg.Continue()
	for b.run("append", "The ferry leaves at ten.").code != exitOK {
		if t.Context().Err() != nil {
			t.Fatal("no note is ever taken")
		}
		time.Sleep(20 * time.Millisecond) // until the node looks again
	}
}

// Of very many agents the page shows the first, and before them those that need somebody.
func TestClusterStatusShowsWhatNeedsSomebody(t *testing.T) {
	t.Parallel()
	st := clusterStatus{Agents: make([]clusterAgent, 10_000)}
	st.Agents[4000] = clusterAgent{Agent: "nova", Owner: "a", Away: true}
	st.Agents[7000] = clusterAgent{Agent: "orion", Waiting: 2}
	var out strings.Builder
	o := &render.Output{Stdout: &out}
	if err := o.Write(st, st.tell); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != shownAgents+2 || !strings.Contains(lines[0], "nova") || !strings.Contains(lines[1], "orion") || !strings.HasPrefix(lines[shownAgents], "and 9900 further agents") {
		t.Errorf("%d lines: %q ... %q", len(lines), lines[:2], lines[len(lines)-2:])
	}
}
