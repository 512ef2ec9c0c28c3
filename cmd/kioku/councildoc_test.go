package main

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/testkit"
)

// councilRun matches the recorded run in docs/council.md: a command, and what it prints.
var councilRun = regexp.MustCompile("(?s)```console\n\\$ (kioku council ask [^\n]*)\n(.*?)```\n")

// steady replaces what differs from run to run.
var steady = []struct {
	differs *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`ask_\d+_\d{4}`), "ask_1764000000_9905"},
	{regexp.MustCompile(`\d+ tokens in`), "4811 tokens in"}, // 4,811 to 5,163 were seen
	{regexp.MustCompile(`decisions/\d{4}-\d\d-\d\d-`), "decisions/2026-11-23-"},
}

// The run in the documentation is what the command prints; -update writes it.
func TestCouncilDocShowsWhatIsPrinted(t *testing.T) {
	t.Parallel()
	const file = "../../docs/council.md"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := councilRun.FindSubmatchIndex(doc)
	if at == nil {
		t.Fatalf("%s has no run of kioku council ask", file)
	}
	s := newSandbox(t, nil)
	s.must("council", "init", "--template", "soul")
	got := s.run("council", "ask", "--echo", "Shall we move the production database to the new disk on Sunday?")
	if command := string(doc[at[2]:at[3]]); command != `kioku council ask --echo "Shall we move the production database to the new disk on Sunday?"` {
		t.Errorf("the command is %s", command)
	}
	printed := got.stderr + got.stdout
	for _, r := range steady {
		printed = r.differs.ReplaceAllString(printed, r.shown)
	}
	if *update {
		testkit.Must(t, os.WriteFile(file, []byte(string(doc[:at[4]])+printed+string(doc[at[5]:])), 0o600))
		return
	}
	if diff := cmp.Diff(string(doc[at[4]:at[5]]), printed); diff != "" {
		t.Errorf("%s (-doc +printed); -update writes it:\n%s", file, diff)
	}
}
