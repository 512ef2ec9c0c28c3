package member

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kioku/council"
)

// Preset is how a known program is asked without its tools, by the documentation of the program.
type Preset struct {
	// Program is the name of the file; Name is what people call it.
	Program, Name string
	// Command and Output are those of council.Member.
	Command []string
	Output  string // path of the answer in what it prints
	// TurnsOff are arguments of Command without which the program has its tools.
	TurnsOff []string
	// Never are words in arguments that let the program do anything.
	Never []string
}

// Presets of known programs. A table in docs/council-members.md has them.
var Presets = []Preset{
	{Program: "claude", Name: "Claude Code", Command: []string{"claude", "-p", "--output-format", "json", "--permission-mode", "plan", "--max-turns", "1"},
		Output: "result", TurnsOff: []string{"--permission-mode plan"}, Never: []string{"--dangerously-skip-permissions", "bypassPermissions", "acceptEdits"}},
	{Program: "codex", Name: "Codex", Command: []string{"codex", "exec", "--sandbox", "read-only", "--skip-git-repo-check", "--ephemeral", "-"},
		TurnsOff: []string{"--sandbox read-only"}, Never: []string{"--dangerously-bypass-approvals-and-sandbox", "--yolo", "danger-full-access", "--full-auto", "workspace-write"}},
	{Program: "gemini", Name: "Gemini CLI", Command: []string{"gemini", "--approval-mode=plan", "--output-format", "json"},
		Output: "response", TurnsOff: []string{"--approval-mode=plan"}, Never: []string{"--yolo", "-y", "yolo", "auto_edit"}},
}

// YAML returns the preset as settings of a member.
func (p Preset) YAML() string {
	var args []string
	for _, a := range p.Command {
		if a == "-" || a == "1" {
			a = `"` + a + `"`
		}
		args = append(args, a)
	}
	return "command: [" + strings.Join(args, ", ") + "]"
}

// CheckCommand says what is dangerous in how a member's program is started, and what is merely unwise; both are empty if nothing is,
// and for a program without a preset.
func CheckCommand(m council.Member) (dangerous, unwise string) {
	if len(m.Command) == 0 {
		return "", ""
	}
	i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Program == filepath.Base(m.Command[0]) })
	if i < 0 {
		return "", ""
	}
	p, line := Presets[i], strings.ReplaceAll(strings.Join(m.Command, " "), "=", " ")
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' })
	for _, never := range p.Never {
		if slices.Contains(words, never) {
			return fmt.Sprintf("%s runs with %s, so a text in a task can have it do anything that its user may; use %s", p.Name, never, p.YAML()), ""
		}
	}
	for _, off := range p.TurnsOff {
		if !strings.Contains(line, strings.ReplaceAll(off, "=", " ")) {
			return "", fmt.Sprintf("%s runs without %s, so it has its tools; use %s", p.Name, off, p.YAML())
		}
	}
	if m.Output != p.Output && slices.Equal(m.Command, p.Command) {
		return "", fmt.Sprintf("%s prints its reply in the field %q; set output: %s", p.Name, p.Output, p.Output)
	}
	return "", ""
}

// Remedy says what a person can do about an error of Ask; empty if the error says it itself.
func Remedy(m council.Member, err error) string {
	program := len(m.Command) > 0
	switch KindOf(err) {
	case council.AbstainTimeout:
		return "raise timeouts.turn of council.yaml, or give the member a faster model"
	case council.AbstainMalformed:
		if program {
			return "run it by hand on a short text and set output to the field of its JSON that has the reply; its replies are in logs/" + m.Name
		}
		return "a larger model keeps the contract better; its replies are in logs/" + m.Name
	case council.AbstainRecused:
		return "read logs/" + m.Name + "; the persona or the mission may read like something that the provider refuses"
	case council.AbstainBudget:
		return ""
	}
	if program {
		return "run " + m.Command[0] + " by hand as the user of the daemon: is it logged in, and does env name the variables that it needs?"
	}
	return "kioku doctor says whether the model of the settings answers; check the name of the model, its key and its base URL"
}
