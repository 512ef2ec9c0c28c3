package derive_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"kioku/derive/unit"
	"kioku/internal/testkit"
	"kioku/memory"
)

// TestHelperProcess derives in a process of its own, which tells each step, for TestAcceptance08KilledAtAnyPoint.
func TestHelperProcess(t *testing.T) {
	folder := os.Getenv("KIOKU_DERIVE_FOLDER")
	if folder == "" {
		t.Skip("it is the process of another test")
	}
	var now time.Time
	if err := now.UnmarshalText([]byte(os.Getenv("KIOKU_DERIVE_NOW"))); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, folder: folder, state: os.Getenv("KIOKU_DERIVE_STATE"), now: now}
	w.open()
	w.withModel(&fakeModel{})
	err := w.Run(t.Context(), false, func(p unit.DeriveProgress) { fmt.Println("step", p.Step) })
	if err != nil {
		t.Fatal(err)
	}
}

// Acceptance check 8: whenever the process is killed, each job is applied once in the end, and none is stuck.
func TestAcceptance08KilledAtAnyPoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.memory.Close(); err != nil {
		t.Fatal(err)
	}
	names := []string{"Ana", "Bea", "Cid", "Dan", "Eva", "Fay"}
	for i, name := range names {
		w.write(fmt.Sprintf("memory/2026-11-%02d.md", i+10), day("Well, "+name+" lives in Porto."))
	}
	points := rand.New(rand.NewPCG(20261123, 8))
	for round := range testkit.Rounds(50, 6) {
		w.pass(10 * time.Minute)
		if round%5 == 4 { // there is something to do again
			names = append(names, fmt.Sprint("Name", round))
			w.write(fmt.Sprintf("memory/n%d.md", round), day("Well, "+names[len(names)-1]+" lives in Porto."))
		}
		now := w.clock().Format(time.RFC3339Nano)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperProcess$")
		cmd.Env = append(os.Environ(), "KIOKU_DERIVE_FOLDER="+w.folder, "KIOKU_DERIVE_STATE="+w.state, "KIOKU_DERIVE_NOW="+now)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + points.IntN(12) {
			if !lines.Scan() {
				break
			}
		}
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
	w.pass(time.Hour)
	w.open()
	w.withModel(&fakeModel{})
	w.derive()
	facts := map[string]int{}
	for _, u := range w.units(memory.KindFact) {
		facts[u.Fact.Subject.Name]++
		if u.Version != 1 {
			t.Errorf("%s has %d versions", u.Fact.Subject.Name, u.Version)
		}
	}
	for _, name := range names {
		if facts[name] != 1 {
			t.Errorf("%d facts about %s", facts[name], name)
		}
	}
	if st := w.status(); st.Unextracted > 0 || len(st.Parked) > 0 {
		t.Errorf("%+v", st)
	}
}
