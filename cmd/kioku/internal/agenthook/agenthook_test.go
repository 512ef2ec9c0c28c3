package agenthook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kioku/cmd/kioku/internal/agenthook"
)

// An event has one name in kebab case, and is understood in the spellings of the programs.
func TestEventTakesAnySpelling(t *testing.T) {
	t.Parallel()
	for i, name := range agenthook.Names() {
		event := agenthook.Events()[i]
		for _, spelled := range []string{name, event, strings.ToUpper(name), strings.ReplaceAll(name, "-", "_"), strings.ToLower(event)} {
			if got := agenthook.Event(spelled); got != event {
				t.Errorf("%s is %q", spelled, got)
			}
		}
	}
	for _, name := range []string{"", "-", "stop", "session-starts"} {
		if got := agenthook.Event(name); got != "" {
			t.Errorf("%q is %q", name, got)
		}
	}
}

// A record belongs to one session of one program, contains parts of what was given, and is for nobody else's eyes. Records of
// sessions that never ended go after a month.
func TestGivenIsWhatStandsInTheConversation(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "hooks")
	g := agenthook.GivenTo(dir, "codex", "../../s")
	whole := agenthook.Passage{Path: "memory/a.md", Text: "one\n茶\nthree"}
	if g.Has(whole) {
		t.Error("a new session was given something")
	}
	if err := g.Add([]agenthook.Passage{whole}); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[agenthook.Passage]bool{
		whole: true, {Path: whole.Path, Text: " 茶\n"}: true, {Path: whole.Path, Text: "four"}: false, {Path: "memory/b.md", Text: "茶"}: false,
	} {
		if g.Has(p) != want {
			t.Errorf("%+v: %v", p, !want)
		}
	}
	if agenthook.GivenTo(dir, "claude-code", "../../s").Has(whole) || agenthook.GivenTo(dir, "codex", "t").Has(whole) {
		t.Error("another session was given it")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 1 {
		t.Fatalf("the folder has %q", files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	other := agenthook.GivenTo(dir, "codex", "t")
	if err := other.Forget(time.Now()); err != nil || !g.Has(whole) {
		t.Errorf("the end of another session forgets it: %v", err)
	}
	if err := other.Forget(time.Now().Add(31 * 24 * time.Hour)); err != nil || g.Has(whole) {
		t.Errorf("it is kept for ever: %v", err)
	}
}
