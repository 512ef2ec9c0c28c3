package member_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"kioku/council"
	"kioku/council/member"
)

func TestProgramOfAPreset(t *testing.T) {
	t.Parallel()
	a, err := member.Program(council.Member{Preset: "claude-look", Model: "opus", Reads: "/src/app", Args: []string{"--effort", "high"}, Env: []string{"ANTHROPIC_API_KEY"}})
	line := strings.Join(a.Command, " ")
	if err != nil || !strings.HasPrefix(line, "claude -p ") || !strings.HasSuffix(line, "--model opus --effort high") || !strings.Contains(strings.Join(a.Env, " "), "ANTHROPIC_API_KEY") {
		t.Errorf("%q, %v", line, err)
	}
	for says, m := range map[string]council.Member{"there are claude-think": {Preset: "cursor"}, "name the folder": {Preset: "codex-look"}, "use gemini-look": {Preset: "gemini-think", Reads: "/src"}} {
		if _, err := member.New(member.Options{Settings: council.Settings{Members: []council.Member{m}}}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

// A preset tells the family of models whose names say nothing.
func TestFamilyOfAPreset(t *testing.T) {
	t.Parallel()
	for family, m := range map[string]council.Member{"anthropic": {Preset: "claude-think", Model: "opus"}, "openai": {Preset: "codex-think"}, "google": {Preset: "gemini-look", Model: "auto"}} {
		if m.Family() != family || m.Remote() {
			t.Errorf("%+v: %s", m, m.Family())
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
		{council.AbstainError, council.Member{Preset: "codex-think"}, "run codex by hand"},
		{council.AbstainError, council.Member{}, "key"},
	} {
		err := fmt.Errorf("the member: %w", &member.Abstention{Kind: tc.kind, Err: errors.New("x")})
		if got := member.Remedy(tc.of, err); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q", tc.kind, got)
		}
	}
}
