package sidecar_test

import (
	"strings"
	"testing"

	"kioku/agent/sidecar"
)

func TestAPromptIsMadeOfFilesSkillsAndWhatIsRecalled(t *testing.T) {
	own := remembering("The key is in vault 7.")
	opt := options(t, own)
	write(t, opt.Skills.Workspace, "skills/review/SKILL.md", "---\nname: review\ndescription: reviews a change\n---\nRead it.")
	p := start(t, opt).Assemble(t.Context(), sidecar.Turn{Message: "Where is the key?", Channel: "terminal", Model: "echo"})
	for _, want := range []string{
		"text of IDENTITY.md", "text of SOUL.md", "text of TOOLS.md", "reviews a change", "text of MEMORY.md", "memory/2026-03-01.md#L1",
		"The key is in vault 7.", "memory_search", "text of USER.md", "- Model: echo", "12:05", "in a terminal",
	} {
		if !strings.Contains(p.Prompt, want) {
			t.Errorf("%q is not in\n%s", want, p.Prompt)
		}
	}
	if p.Group || len(p.Files) != 8 || len(p.Skills.Skills) != 1 || len(p.Recalled) != 1 || p.Recall.Query != "Where is the key?" || p.Tokens == 0 {
		t.Errorf("%+v", p)
	}
	if q := own.asked[0]; !q.Now.Equal(noon) || q.MaxResults != 3 {
		t.Errorf("%+v", q)
	}
}
