package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
	"kioku/pgstore/pgtest"
)

// machine is one node of a cluster, with a home of its own.
type machine struct {
	*sandbox
	name, address string
	p             *process // nil if it does not run
}

// newMachines makes machines that share a database. None runs.
func newMachines(t testing.TB, store string, n int) (all []*machine) {
	for i := range n {
		s := newSandbox(t, nil)
		s.env = append(s.env, "KIOKU_STORE="+store)
		all = append(all, &machine{sandbox: s, name: fmt.Sprintf("node%d", i+1), address: "127.0.0.1:0"})
	}
	return all
}

// runs starts kioku serve, with the folder of agent main or without, and waits until it listens. Its address stays the same from then on.
func (m *machine) runs(folder string) {
	m.t.Helper()
	args := []string{"serve", "--listen", m.address, "--state", m.state}
	if folder != "" {
		args = append(args, "--workspace", folder)
	}
	m.p = m.startCommand(exec.Command(program, args...))
	_, m.address, _ = strings.Cut(m.p.waits(m.p.err, "listening on tcp:"), "tcp:")
	go func() { // what it says later, so that it is never kept waiting
		for range m.p.err {
		}
	}()
}

// dies kills the machine's kioku serve.
func (m *machine) dies() {
	m.t.Helper()
	m.p.signal(syscall.SIGKILL)
	m.p.ends()
	m.p = nil
}

// ask runs a command about agent main at the machine.
func (m *machine) ask(args ...string) outcome {
	m.t.Helper()
	return m.raw(append(args, "--agent", "main", "--target", m.address)...)
}

// markdown returns the text of all notes in a folder.
func markdown(t testing.TB, folder string) string {
	t.Helper()
	var all strings.Builder
	testkit.Must(t, filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(name)
		all.Write(text)
		return err
	}))
	return all.String()
}

// The demonstration of make cluster: three databases, three nodes, and what is left when two of the six are lost.
func TestDemoOfSixMachines(t *testing.T) {
	start := time.Now()
	tell := func(format string, args ...any) {
		fmt.Printf("\n%3.0f s  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
	var machines []*machine
	run := func(m *machine, want string, args ...string) {
		t.Helper()
		quoted := ""
		for _, a := range args {
			if strings.ContainsAny(a, " ?") {
				a = `"` + a + `"`
			}
			quoted += " " + strings.Replace(a, m.home, "~", 1)
		}
		var got outcome
		shown := "kioku" + quoted
		if args[0] == "cluster" {
			got = m.raw(append(args, "--state", m.state)...)
		} else {
			got, shown = m.ask(args...), strings.Replace(shown, args[0], args[0]+" --target "+m.name, 1)
		}
		said := got.stdout + got.stderr
		for _, other := range machines {
			said = strings.ReplaceAll(said, other.address, fmt.Sprintf("%-*s", len(other.address), other.name))
		}
		said = strings.ReplaceAll(said, m.home, "~")
		fmt.Printf("       $ %s\n", shown)
		for line := range strings.Lines(said) {
			if strings.TrimSpace(line) != "" {
				fmt.Printf("         %s", line)
			}
		}
		if !strings.Contains(said, want) {
			t.Fatalf("%q is missing", want)
		}
	}
	const ledger, ferry = "which database holds the booking ledger now?", "from where does the night ferry leave?"

	tell("Three PostgreSQL nodes start, and Patroni makes one the primary and two its synchronous standbys.")
	databases := pgtest.Patroni(t)
	machines = newMachines(t, databases.Database("demo"), 3)
	one, two, three := machines[0], machines[1], machines[2]
	testkit.Must(t, os.CopyFS(one.workspace, os.DirFS("../../examples/workspace")))

	tell("Three nodes of Kioku start. Only node1 has the folder, which it indexes and shares.")
	one.runs(one.workspace)
	two.runs("")
	three.runs("")
	found := func(want, question string) { // the folder is shared in the background, and a store that was away is asked again after seconds
		for !strings.Contains(two.ask("search", question).stdout, want) {
			if t.Context().Err() != nil {
				t.Fatalf("%q is never found", question)
			}
		}
	}
	found("memory/", ledger)
	run(two, "owned by", "cluster", "status")
	run(two, "ok", "cluster", "doctor")

	tell("node2 has no folder, and answers as node1 does.")
	run(two, "ledger", "search", "-n", "1", ledger)
	results := func(m *machine) any {
		var answer struct{ Results any }
		testkit.Must(t, json.Unmarshal([]byte(m.ask("search", "--json", "--now", "2026-01-26", ledger).stdout), &answer))
		return answer.Results
	}
	if diff := cmp.Diff(results(one), results(two)); diff != "" {
		t.Fatalf("node1 and node2 answer differently: %s", diff)
	}

	tell("A note comes through node3, and node2 finds it at once.")
	run(three, "memory/", "append", "--category", "fact", "The night ferry leaves from pier nine.")
	run(two, "pier nine", "search", "-n", "1", ferry)

	primary := databases.Primary()
	tell("kill -9: PostgreSQL of the primary, with all its processes. Patroni makes a standby the primary, and meanwhile node2 says what it has.")
	databases.Kill(primary, false)
	run(two, "pier nine", "search", "-n", "1", ferry)
	killed := time.Now()
	for three.ask("append", "--category", "fact", "The day ferry leaves from pier two.").code != exitOK {
		if t.Context().Err() != nil {
			t.Fatal("nobody takes a note any more")
		}
	}
	tell("%.0f s after the kill, node3 takes a note again.", time.Since(killed).Seconds())
	found("pier two", "from where does the day ferry leave?")
	run(two, "pier two", "search", "-n", "1", "from where does the day ferry leave?")

	tell("kill -9: node1, which has the folder. Notes are taken all the same.")
	one.dies()
	run(three, "memory/", "append", "--category", "fact", "The last ferry leaves from pier seven.")
	run(two, "pier seven", "search", "-n", "1", "from where does the last ferry leave?")

	tell("node3 adopts the folder, from a machine that may still be there; so it asks twice.")
	folder := filepath.Join(three.home, "main")
	run(three, "another folder", "cluster", "adopt", "main", folder)
	run(three, "owner", "cluster", "adopt", "main", folder, "--force")
	three.p.terminates()
	three.runs(folder)
	for strings.Count(markdown(t, folder), "from pier") != 3 {
		if t.Context().Err() != nil {
			t.Fatalf("the folder says %s", markdown(t, folder))
		}
		time.Sleep(20 * time.Millisecond)
	}
	run(two, "pier seven", "search", "-n", "1", "from where does the last ferry leave?")

	tell("The notes of all three nodes are Markdown in the folder of node3.")
	days, _ := filepath.Glob(filepath.Join(folder, "memory", time.Now().UTC().Format(time.DateOnly)+"*.md"))
	for _, day := range days {
		text, err := os.ReadFile(day)
		testkit.Must(t, err)
		fmt.Printf("       $ cat ~/%s\n", strings.TrimPrefix(day, three.home+"/"))
		for line := range strings.Lines(string(text)) {
			fmt.Printf("         %s", line)
		}
	}
	databases.WaitHealthy()
	tell("Patroni has the killed PostgreSQL back as a standby.")
	run(three, "owned by", "cluster", "status")
	fmt.Println()
}
