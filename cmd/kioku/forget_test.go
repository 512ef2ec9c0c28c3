package main

import (
	"os"
	"strings"
	"testing"
)

// What is forgotten is derived no more, and is again once it is taken back; without a terminal nothing is forgotten by accident.
func TestForgetReachesWhatIsDerived(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n\n## People\n\n### Dario\n\n- Lives in: Porto\n- Likes: tea\n"})
	s.env = append(s.env, "KIOKU_DERIVE_ENABLED=true")
	lists := func(want bool) {
		t.Helper()
		if got := s.run("derive", "list"); strings.Contains(got.stdout, "Porto") != want {
			t.Errorf("derive list has Porto: %v, want %v: %s%s", !want, want, got.stdout, got.stderr)
		}
	}
	lists(true)
	got := s.run("forget", "--json", "Porto")
	if got.code != exitOK || !strings.Contains(got.stdout, `"kind": "derived"`) {
		t.Errorf("the preview lacks what is derived: %s%s", got.stdout, got.stderr)
	}
	s.run("forget", "Porto").wants(t, exitUsage, "--yes")
	if !strings.Contains(s.read("MEMORY.md"), "Porto") {
		t.Fatal("it was forgotten without a yes")
	}
	got = s.run("forget", "--yes", "Porto")
	got.wants(t, exitOK, "takes this back")
	_, after, _ := strings.Cut(got.stderr, "forget --undo ")
	id, _, _ := strings.Cut(after, " ")
	if text := s.read("MEMORY.md"); strings.Contains(text, "Porto") || !strings.Contains(text, "tea") {
		t.Errorf("%s", text)
	}
	lists(false)
	s.run("derive", "run")
	lists(false)
	s.run("index", "--force")
	lists(false)
	s.must("backup", s.home+"/b.tar.gz")
	elsewhere := s.home + "/elsewhere"
	s.raw("restore", s.home+"/b.tar.gz", "--workspace", elsewhere, "--state", s.home+"/state2").wants(t, exitOK, "")
	if text, err := os.ReadFile(elsewhere + "/.kioku-forgotten.jsonl"); err != nil || len(text) == 0 {
		t.Errorf("a backup forgets what was forgotten: %v", err)
	}
	s.run("forget", "--undo", id).wants(t, exitOK, "was taken back")
	lists(true)
	s.run("forget").wants(t, exitUsage, "must say what to forget")
	s.run("forget", "--undo", "nothing").wants(t, exitUsage, "nothing was forgotten")
}

// A message that has something forgotten tells the agent how.
func TestHookTellsHowToForget(t *testing.T) {
	t.Parallel()
	s := newHookSandbox(t, map[string]string{"MEMORY.md": "# Memory\n\n- Our releases are on Tuesdays.\n"})
	for message, want := range map[string]bool{"No, that is wrong: our releases are on Thursdays.": true, "When are our releases?": false} {
		if _, context := answered(t, s.hook("UserPromptSubmit", map[string]string{"prompt": message})); strings.Contains(context, "memory_update") != want {
			t.Errorf("%q: %s", message, context)
		}
	}
}

// What was forgotten and stands in MEMORY.md again, typed by hand, is hidden and doctor says so; forget --list has the id, and after --undo it is
// found again.
func TestDoctorTellsOfWhatIsHidden(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n\n- The gate code is 4711.\n- Ines drinks tea.\n"})
	s.must("forget", "--yes", "--reason", "a new lock", "the gate code")
	s.write("MEMORY.md", "# Memory\n\n- The gate code is 4711.\n- Ines drinks tea.\n")
	if got := s.run("doctor"); !strings.Contains(got.stdout, "MEMORY.md:3 says what was forgotten") {
		t.Errorf("%s%s", got.stdout, got.stderr)
	}
	list := s.must("forget", "--list")
	id, _, _ := strings.Cut(list, " ")
	if !strings.Contains(list, "1 sentence in MEMORY.md") || !strings.Contains(list, "a new lock") {
		t.Fatalf("%s", list)
	}
	s.run("forget", "--undo", id).wants(t, exitOK, id+" was taken back")
	if got := s.must("search", "what is the gate code?"); !strings.Contains(got, "4711") {
		t.Errorf("%s", got)
	}
	s.run("forget", "--list").wants(t, exitOK, "nothing was forgotten")
}
