package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
)

// people is a memory in which facts change, boxes are ticked, and something is private.
func people() map[string]string {
	return map[string]string{
		"USER.md":   "# User\n\n- Name: Mia\n- City: Kobe\n",
		"MEMORY.md": "# Memory\n\n## People\n- Jun: Birthday: 18 February\n\n## Open\n- [ ] Renew the passport\n- [ ] 写感谢信\n",
		"memory/2026-02-02.md": "# 2026-02-02\n\n## 09:00 - people\n- Dario: City: Trieste\n- 折戸さん: City: 神戸\n- 鹿小满: City: 厦门\n" +
			"- [ ] Send the parcel\n",
		"memory/2026-02-16.md": "# 2026-02-16\n\n## 09:00 - people\n- Dario: City: Porto\n- Jun: Birthday: 19 February\n- [x] Send the parcel\n",
		"memory/2026-02-20.md": "# 2026-02-20\n\n## 09:00 - people\n<private>\n- Dario: Interests: fencing\n</private>\n",
	}
}

// derived returns a sandbox with these people, in which derivation is on.
func derived(t *testing.T) *sandbox {
	t.Helper()
	s := newSandbox(t, people())
	s.must("config", "set", "derive.enabled", "true")
	return s
}

// unit returns the line of the list with a text, and its id.
func (s *sandbox) unit(text string, more ...string) (line, id string) {
	s.t.Helper()
	list := s.must(append([]string{"derive", "list"}, more...)...)
	for line := range strings.Lines(list) {
		if strings.Contains(line, text) {
			return line, strings.Fields(line)[0]
		}
	}
	s.t.Fatalf("%q is not in the list:\n%s", text, list)
	return "", ""
}

// lacks fails if a command writes a text to standard output.
func (s *sandbox) lacks(text string, args ...string) {
	s.t.Helper()
	if out := s.must(args...); strings.Contains(out, text) {
		s.t.Errorf("%q says %q:\n%s", args, text, out)
	}
}

// Hazard I01: While derivation is off, every command says how to turn it on; the status does not fail.
func TestDeriveSaysHowToTurnItOn(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, people())
	s.run("derive", "status").wants(t, exitOK, "kioku config set derive.enabled true")
	s.lacks("deriv", "status")
	s.lacks("deriv", "doctor")
	for _, line := range []string{"list", "show 9f3c21ab", "history 9f3c21ab", "entities", "estimate", "export", "run", "retry", "forget 9f3c21ab", "merge a b"} {
		s.run(append([]string{"derive"}, strings.Fields(line)...)...).wants(t, exitError, "kioku config set derive.enabled true")
	}
	if _, err := os.Stat(filepath.Join(s.workspace, "derived")); err == nil {
		t.Error("a folder was made")
	}
	p, _ := s.serve()
	s.run("derive", "list").wants(t, exitError, "kioku config set derive.enabled true")
	s.run("derive", "status").wants(t, exitOK, "kioku config set derive.enabled true")
	p.terminates()
}

// Facts are listed with where they are from; what is past is listed on demand, and so is what held on a day.
func TestDeriveListsFactsThatChange(t *testing.T) {
	t.Parallel()
	s := derived(t)
	s.says("Dario lives in Porto (since 2026-02-16)", "derive", "list", "--about", "dario")
	line, _ := s.unit("Dario lives in Porto")
	if !strings.Contains(line, "memory/2026-02-16.md#L4") {
		t.Errorf("the fact does not say where it is from: %s", line)
	}
	s.lacks("Trieste", "derive", "list", "--kind", "fact")
	s.says("Dario lives in Trieste (until 2026-02-15) [superseded]", "derive", "list", "--all")
	s.says("Dario lives in Trieste", "derive", "list", "--predicate", "lives_in", "--as-of", "2026-02-10")
	s.lacks("Porto", "derive", "list", "--predicate", "lives_in", "--as-of", "2026-02-10")
	s.says("鹿小满 lives in 厦门", "derive", "list", "厦门")
	s.says("折戸 lives in 神戸", "derive", "list", "--kind", "fact")
	s.says("Open: Renew the passport", "derive", "list", "--kind", "loop")
	s.says("Done: Send the parcel [archived]", "derive", "list", "--kind", "loop", "--all")
	s.run("derive", "list", "--as-of", "someday").wants(t, exitUsage, "--as-of must be a day")
	s.run("derive", "list", "--kind", "chunk").wants(t, exitUsage, "kinds: must be fact, loop or summary")
	s.run("derive", "list", "--about", "nobody").wants(t, exitUsage, "kioku derive entities")
}

// Hazards I02, I03: What a newer note says against MEMORY.md is a conflict, which is listed first, and a person settles it.
func TestDeriveConflictIsSettledByAPerson(t *testing.T) {
	t.Parallel()
	s := derived(t)
	line, id := s.unit("19 February")
	if !strings.Contains(line, "[in conflict]") {
		t.Fatalf("no conflict: %s", line)
	}
	s.says("1 to settle", "derive", "status")
	s.says("1 conflict; kioku derive status", "status")
	s.says("1 conflict between facts", "doctor")
	s.says("18 February [holds, in conflict]", "derive", "list")
	got := s.run("derive", "forget", id, "--note", "the form was wrong")
	got.wants(t, exitOK, "1 place may still say it, and nothing is changed there", "derived/decisions.md: - ", "the form was wrong")
	if got.stdout != "memory/2026-02-16.md#L5\n" {
		t.Errorf("the remaining lines are %q", got.stdout)
	}
	s.lacks("in conflict", "derive", "list")
	s.must("index", "--force")
	s.lacks("19 February", "derive", "list", "--all", "--max-sensitivity", "secret")
	if text := s.read("derived/decisions.md"); strings.Contains(text, "19 February") {
		t.Errorf("decisions.md has the forgotten text:\n%s", text)
	}
}

// Hazard I05: Each decision changes its unit, is a line of decisions.md, and can be taken back.
func TestDeriveDecisionsAreKeptAndTakenBack(t *testing.T) {
	t.Parallel()
	s := derived(t)
	_, id := s.unit("Dario lives in Porto")
	s.says("[pinned]", "derive", "pin", id)
	s.says("pinned", "derive", "show", id)
	s.lacks("[pinned]", "derive", "unpin", id)
	s.says("Dario lives in Lisbon (since 2026-01)", "derive", "correct", id, "Lisbon", "--from", "2026-01", "--note", "he wrote it himself")
	s.says("Dario lives in Porto", "derive", "undo", id)
	s.says("[secret]", "derive", "correct", id, "--sensitivity", "secret")
	s.lacks("Porto", "derive", "list", "--kind", "fact")
	s.says("Porto", "derive", "list", "--max-sensitivity", "secret")
	if n := strings.Count(s.must("derive", "history", id, "--max-sensitivity", "secret"), "\n"); n < 5 {
		t.Errorf("%d versions", n)
	}
	_, loop := s.unit("Renew the passport")
	s.says("Done: Renew the passport", "derive", "close", loop)
	s.lacks("passport", "derive", "list")
	s.says("Open: Renew the passport", "derive", "reopen", loop)
	s.run("derive", "close", id).wants(t, exitUsage, "only loops are closed")
	s.run("derive", "correct", loop).wants(t, exitUsage, "text: is empty")
	want := []string{"pin", "unpin", "correct", "undo", "correct", "close", "reopen"}
	var verbs []string
	for line := range strings.Lines(s.read("derived/decisions.md")) {
		if strings.HasPrefix(line, "- ") {
			verbs = append(verbs, strings.Fields(line)[2])
		}
	}
	if !slices.Equal(verbs, want) {
		t.Errorf("decisions.md has %v, want %v", verbs, want)
	}
}

// Without a daemon, what was derived from a file is there after the file has changed, for whoever reads first, and the status says what waits.
func TestDeriveCatchesUpWithoutADaemon(t *testing.T) {
	t.Parallel()
	s := derived(t)
	s.must("derive", "run")
	const asked = "where does Dario live?"
	recalls := func(args ...string) bool {
		return strings.Contains(s.promptOf(append(args, asked)...).TurnBlock, `"kind":"fact"`) ||
			strings.Contains(s.must("search", "--kinds", "fact", asked), "Dario lives in Porto")
	}
	before := s.must("derive", "status")
	s.write("memory/2026-02-16.md", s.read("memory/2026-02-16.md")+"- The weather is nice.\n")
	s.must("index")
	s.says(", 1 wait for the rules", "derive", "status")
	s.says(", 1 wait for the rules", "status", "--read-only")
	if !recalls() {
		t.Error("the fact is not found after an edit")
	}
	if diff := cmp.Diff(before, s.must("derive", "status")); diff != "" {
		t.Errorf("after the edit (-before +after):\n%s", diff)
	}
	s.write("memory/2026-02-16.md", s.read("memory/2026-02-16.md")+"- It rains.\n")
	s.lacks("wait for the rules", "status")
	s.says("derived    ", "status", "--read-only")
	s.lacks("derived    0 units", "status", "--read-only")
	lost, err := filepath.Glob(filepath.Join(s.own(), "memory", "*.derived.sqlite*"))
	if err != nil || len(lost) == 0 {
		t.Fatalf("no file of what is derived: %v", err)
	}
	for _, path := range lost {
		testkit.Must(t, os.Remove(path))
	}
	s.says("5 wait for the rules", "status", "--read-only")
	if !recalls() {
		t.Error("the fact is not found after the file was lost")
	}
}

// The pages are no source, although a person asks for all Markdown.
func TestDeriveIsNotIndexedFromItsPages(t *testing.T) {
	t.Parallel()
	s := derived(t)
	s.must("config", "set", "derive.export.dir", "known/pages")
	_, id := s.unit("Dario lives in Porto")
	s.must("derive", "run")
	s.must("derive", "pin", id)
	for _, page := range []string{"known/pages/facts.md", "derived/decisions.md"} {
		if _, err := os.Stat(filepath.Join(s.workspace, page)); err != nil {
			t.Fatal(err)
		}
	}
	s.lacks("--all", "status")
	s.write("README.md", "# Read\n\nSomething else.\n")
	s.must("index", "--all")
	paths := s.must("ls")
	if strings.Contains(paths, "derived/") || strings.Contains(paths, "known/") || !strings.Contains(paths, "README.md") {
		t.Errorf("indexed:\n%s", paths)
	}
}

// Entities are merged by name or id, so that their facts meet, and split again.
func TestDeriveMergesEntitiesByName(t *testing.T) {
	t.Parallel()
	s := derived(t)
	s.says("PERSON    Dario", "derive", "entities", "--type", "person")
	s.says("merged into", "derive", "merge", "折戸", "Dario")
	s.says("lives in 神戸", "derive", "list", "--about", "Dario", "--all")
	s.lacks("merged into", "derive", "split", "折戸")
	s.lacks("神戸", "derive", "list", "--about", "Dario", "--all")
	s.run("derive", "merge", "Dario", "Dario").wants(t, exitUsage, "into:")
	s.run("derive", "merge", "Dario", "Nobody Else").wants(t, exitUsage, "nobody and nothing is called")
	s.run("derive", "split", "Dario").wants(t, exitUsage, "no merged entity")
}

// An id may be shortened; one that is unknown, too short or none is refused with what helps.
func TestDeriveIDsMayBeShortened(t *testing.T) {
	t.Parallel()
	s := derived(t)
	_, id := s.unit("Dario lives in Porto")
	s.says("version 1", "derive", "show", id[:6])
	s.run("derive", "show", id[:5]).wants(t, exitUsage, "at least 6")
	s.run("derive", "show", "not-an-id").wants(t, exitUsage, "hexadecimal")
	s.run("derive", "show", "000000000000").wants(t, exitError, "kioku derive list --all")
}

// Hazard I04: A private unit is shown to the owner, and is not exported unless asked for.
func TestDeriveExportLeavesPrivateUnitsOut(t *testing.T) {
	t.Parallel()
	s := derived(t)
	s.says("fencing", "derive", "list", "--about", "Dario")
	s.lacks("fencing", "derive", "list", "--max-sensitivity", "normal")
	got := s.run("derive", "export")
	got.wants(t, exitOK, "2 units above the ceiling not exported")
	n := 0
	for line := range strings.Lines(got.stdout) {
		var u struct{ ID, Sensitivity string }
		if err := json.Unmarshal([]byte(line), &u); err != nil || u.ID == "" || u.Sensitivity != "normal" {
			t.Errorf("%v: %s", err, line)
		}
		n++
	}
	if n < 6 || !strings.Contains(s.must("derive", "export", "--max-sensitivity", "private"), "fencing") {
		t.Errorf("%d units:\n%s", n, got.stdout)
	}
}

// With a daemon the same commands ask it, and it derives from what is written meanwhile.
func TestDeriveAsksTheDaemon(t *testing.T) {
	t.Parallel()
	s := derived(t)
	p, _ := s.serve()
	s.must("derive", "run")
	_, id := s.unit("Dario lives in Porto")
	s.says("[pinned]", "derive", "pin", id)
	s.run("derive", "show", "000000000000").wants(t, exitError, "kioku derive list --all")
	s.run("derive", "forget", id[:4]).wants(t, exitUsage, "at least 6")
	s.write("memory/2026-02-27.md", "# 2026-02-27\n\n## 09:00 - people\n- Tobi: Likes: oat milk\n")
	s.must("index")
	s.must("derive", "run")
	s.says("Tobi likes oat milk", "derive", "list")
	s.must("derive", "forget", id)
	s.lacks("Porto", "derive", "list", "--all")
	p.terminates()
}

// What commands write as JSON has the schema of docs/schema, which checkJSON compares.
func TestDeriveJSON(t *testing.T) {
	t.Parallel()
	s := derived(t)
	_, fact := s.unit("Dario lives in Porto")
	_, loop := s.unit("Renew the passport")
	for _, line := range []string{
		"status", "estimate", "estimate --all", "run", "retry", "list", "list --all", "show " + fact, "history " + fact, "entities", "export",
		"pin " + fact, "unpin " + fact, "correct " + fact + " Lisbon", "undo " + fact, "close " + loop, "reopen " + loop,
		"merge 折戸 Dario", "split 折戸", "forget " + fact,
	} {
		if got := s.must(append(append([]string{"derive"}, strings.Fields(line)...), "--json")...); got == "" {
			t.Errorf("kioku derive %s --json writes nothing", line)
		}
	}
}
