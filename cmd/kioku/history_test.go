package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"kioku/internal/testkit"
)

// commit commits the workspace, which becomes a repository of git, at noon of a day. It skips the test if there is no git.
func (s *sandbox) commit(day, subject string) {
	s.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		s.t.Skip("the program git is not installed")
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", subject}} {
		cmd := exec.CommandContext(s.t.Context(), "git", args...)
		cmd.Dir = s.workspace
		date := day + "T12:00:00Z"
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ana", "GIT_AUTHOR_EMAIL=ana@example.org",
			"GIT_COMMITTER_NAME=Ana", "GIT_COMMITTER_EMAIL=ana@example.org", "GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}
		if out, err := cmd.CombinedOutput(); err != nil {
			s.t.Fatalf("git %s: %v\n%s", args[0], err, out)
		}
	}
}

// kioku history log, show, diff and search --as-of tell what notes said before.
func TestHistoryCommandsReadGit(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "- Ines lives in Porto.\n"})
	s.commit("2026-10-01", "first")
	s.write("MEMORY.md", "- Ines lives in Lisbon.\n")
	s.commit("2026-10-20", "she has moved")
	s.write("MEMORY.md", "- Ines lives in Faro.\n")
	s.says("changed  MEMORY.md  she has moved", "history", "log")
	s.says("Porto", "history", "show", "MEMORY.md", "--at", "2026-10-01")
	s.run("history", "show", "MEMORY.md", "--at", "HEAD").wants(t, exitOK, "commit", "she has moved")
	s.says("-- Ines lives in Lisbon.\n+- Ines lives in Faro.", "history", "diff")
	s.says("-- Ines lives in Porto.\n+- Ines lives in Lisbon.", "history", "diff", "MEMORY.md", "--from", "2026-10-01", "--to", "2026-10-31")
	s.says("Porto", "search", "--as-of", "2026-10-01", "where does Ines live")
	s.run("search", "--as-of", "2026-10-01", "where does Ines live").wants(t, exitOK, "as of", "commit", "first")
	if got := s.run("search", "--as-of", "2026-10-01", "Faro"); strings.Contains(got.stdout, "Faro") {
		t.Errorf("what is written now is found: %s", got.stdout)
	}
	var answer struct {
		Version struct{ Subject, History string }
		Results []struct{ Snippet string }
	}
	testkit.Must(t, json.Unmarshal([]byte(s.must("search", "--json", "--as-of", "2026-10-01", "where does Ines live")), &answer))
	if answer.Version.Subject != "first" || answer.Version.History != "git" || len(answer.Results) != 1 {
		t.Errorf("answer: %+v", answer)
	}
	for _, line := range []string{"history log", "history show MEMORY.md", "history diff", "history purge", "undo --since 1h --dry-run"} {
		if got := s.must(append(strings.Fields(line), "--json")...); !strings.HasPrefix(got, "{") && line != "history log" { // which is compared with its schema
			t.Errorf("kioku %s --json: %s", line, got)
		}
	}
	s.run("search", "--as-of", "2026-09-01", "Ines").wants(t, exitError, "the folder had none", "its first commit is of 2026-10-01")
	s.run("history", "log", "--since", "when").wants(t, exitUsage, "--since must be a day")
	s.run("history", "show", "MEMORY.md", "--at", "--output=x").wants(t, exitUsage, "name a commit")
}

// Without git, the journal that history.journal keeps is the history, and kioku history purge removes it.
func TestHistoryCommandsReadTheJournal(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "- Ines lives in Porto.\n"})
	s.run("history", "log").wants(t, exitError, "no history", "kioku config set history.journal true")
	s.must("index", "--set", "history.journal=true")
	s.says("added    MEMORY.md", "history", "log")
	s.write("MEMORY.md", "- Ines lives in Lisbon.\n")
	s.must("index", "--set", "history.journal=true")
	s.says("Porto", "history", "show", "MEMORY.md", "--at", "HEAD~1")
	s.says("Porto", "search", "--as-of", "HEAD~1", "where does Ines live")
	s.says("removed 2 versions of notes, 0 changes that undo knew and 1 indexes of the past", "history", "purge", "MEMORY.md")
	s.run("history", "show", "MEMORY.md", "--at", "HEAD").wants(t, exitError, "no history")
}

// kioku undo --session takes the notes of a conversation back as a unit, and can be undone.
func TestUndoTakesBackWhatAnAgentHasWritten(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n"})
	s.must("append", "Ines lives in Porto.")
	s.run("undo", "--since", "1h", "--dry-run").wants(t, exitOK, "nothing was changed")
	s.says("would go", "undo", "--since", "1h", "--from", "user", "--dry-run")
	s.says("nothing was written", "undo", "--since", "1h")
	day := "memory/" + time.Now().Format(time.DateOnly) + ".md"
	got := s.run("undo", "--since", "1h", "--from", "user")
	got.wants(t, exitOK, "brings back what was removed")
	if text := s.read(day); strings.Contains(text, "Porto") {
		t.Errorf("the day is now %q", text)
	}
	s.says("gone", "undo", "--since", "1h", "--from", "user")
	s.must("undo")
	if text := s.read(day); !strings.Contains(text, "Porto") {
		t.Errorf("the day is now %q", text)
	}
	s.run("undo", "--from", "tool").wants(t, exitUsage, "--session NAME")
	s.run("undo", "--since", "1h", "--list").wants(t, exitUsage, "not two of them")
	s.run("undo", "--since", "1h", "--from", "me").wants(t, exitUsage, "sources")
}

// A note that a person has edited since stays, and so does one that no record knows; kioku undo and its help say so. (H04)
func TestUndoTellsWhatItDoesNotTakeBack(t *testing.T) {
	t.Parallel()
	day := "memory/" + time.Now().Format(time.DateOnly) + ".md"
	s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n", day: "# Day\n\n## 08:00 - trips <!-- kioku text=0123456789abcdef from=flush -->\nMia swims.\n"})
	s.says("nothing was written that this state folder has a record of", "undo", "--since", "1h")
	s.must("append", "Ines lives in Porto.")
	s.write(day, strings.Replace(s.read(day), "Porto", "Lisbon", 1))
	s.run("undo", "--since", "1h", "--from", "user,flush").wants(t, exitOK, "1 of them were edited since and stay; edit them by hand")
	if text := s.read(day); !strings.Contains(text, "Lisbon") || !strings.Contains(text, "Mia swims") {
		t.Errorf("the day is now %q", text)
	}
	s.says("that a person has edited since, are not taken back", "undo", "--help")
}

func TestTimeOfAFlagThatLooksBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	for text, want := range map[string]struct{ first, last string }{
		"2026-10-01":           {"2026-10-01T00:00:00Z", "2026-10-01T23:59:59Z"},
		"2026-10":              {"2026-10-01T00:00:00Z", "2026-10-31T23:59:59Z"},
		"yesterday":            {"2026-11-19T00:00:00Z", "2026-11-19T23:59:59Z"},
		"2h":                   {"2026-11-20T13:00:00Z", "2026-11-20T13:00:00Z"},
		"7d":                   {"2026-11-13T15:00:00Z", "2026-11-13T15:00:00Z"},
		"2026-10-01T08:00:00Z": {"2026-10-01T08:00:00Z", "2026-10-01T08:00:00Z"},
	} {
		first, ok := timeOf(text, now, false)
		last, okToo := timeOf(text, now, true)
		if !ok || !okToo || first.Format(time.RFC3339) != want.first || last.Format(time.RFC3339) != want.last {
			t.Errorf("%s: %s and %s", text, first, last)
		}
	}
	for _, text := range []string{"", "abc123", "-2h", "7days", "HEAD", "2026-13-01", "0d"} {
		if got, ok := timeOf(text, now, false); ok {
			t.Errorf("%q is %s", text, got)
		}
	}
}
