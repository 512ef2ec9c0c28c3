package member_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"kioku/council"
	"kioku/council/member"
)

// The table of the documentation has the presets, and each of them passes its own check.
func TestPresetsAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/council-members.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(doc)) {
		if strings.Contains(line, "| `[") {
			rows++
		}
	}
	if rows != len(member.Presets) {
		t.Errorf("the table has %d programs, there are %d", rows, len(member.Presets))
	}
	for _, p := range member.Presets {
		output := ""
		if p.Output != "" {
			output = "`" + p.Output + "`"
		}
		row := fmt.Sprintf("| %s | `%s` | %s |", p.Name, strings.TrimPrefix(p.YAML(), "command: "), output)
		if !strings.Contains(string(doc), strings.ReplaceAll(row, "|  |", "| |")) {
			t.Errorf("docs/council-members.md has no row %s", row)
		}
		if dangerous, unwise := member.CheckCommand(council.Member{Command: p.Command, Output: p.Output}); dangerous+unwise != "" {
			t.Errorf("%s: %s%s", p.Name, dangerous, unwise)
		}
	}
}

func TestCheckCommandFindsToolsThatAreOn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		command           string
		dangerous, unwise string
	}{
		{"/opt/bin/claude -p --dangerously-skip-permissions --permission-mode plan", "--dangerously-skip-permissions", ""},
		{"claude -p --permission-mode=bypassPermissions", "bypassPermissions", ""},
		{"claude -p --permission-mode=plan", "", ""},
		{"claude -p --output-format json --permission-mode plan --max-turns 1", "", "output: result"},
		{"claude -p", "", "without --permission-mode plan"},
		{"codex exec --sandbox=danger-full-access -", "danger-full-access", ""},
		{"codex exec -", "", "without --sandbox read-only"},
		{"gemini --approval-mode yolo", "yolo", ""},
		{"gemini -p", "", "without --approval-mode=plan"},
		{"my-own-script --yolo", "", ""},
	} {
		dangerous, unwise := member.CheckCommand(council.Member{Command: strings.Fields(tc.command)})
		for _, c := range []struct{ got, want string }{{dangerous, tc.dangerous}, {unwise, tc.unwise}} {
			if (c.got == "") != (c.want == "") || !strings.Contains(c.got, c.want) {
				t.Errorf("%s: %q, want %q", tc.command, c.got, c.want)
			}
		}
	}
}

func TestRemedySaysWhatToDo(t *testing.T) {
	t.Parallel()
	script := council.Member{Name: "panda", Command: []string{"claude"}}
	for _, tc := range []struct {
		kind string
		of   council.Member
		want string
	}{
		{council.AbstainTimeout, council.Member{}, "timeouts.turn"},
		{council.AbstainMalformed, script, "output"},
		{council.AbstainMalformed, council.Member{Name: "panda"}, "logs/panda"},
		{council.AbstainError, script, "logged in"},
		{council.AbstainError, council.Member{}, "key"},
	} {
		err := fmt.Errorf("the member: %w", &member.Abstention{Kind: tc.kind, Err: errors.New("x")})
		if got := member.Remedy(tc.of, err); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q", tc.kind, got)
		}
	}
}
