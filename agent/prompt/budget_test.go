package prompt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/bootstrap"
	"kioku/agent/prompt"
)

// heavy is an input in which each layer that can be cut has about 1,000 tokens.
func heavy() prompt.Input {
	in := everything()
	long := strings.Repeat("one line of words that says a little thing\n", 90)
	for i := range in.Files {
		in.Files[i].Text += "\n" + long
	}
	in.Skills, in.SkillsShort = "## Skills\n\n"+long, "## Skills\n\nnames"
	in.Recalled = memories(3)
	for i := range in.Recalled {
		in.Recalled[i].Text = long[:1300]
	}
	in.Blocks = []prompt.Block{{Name: "first", Text: long}, {Name: "last", Text: long}}
	return in
}

// Hazard F05: if all layers together are far over the budget, they are cut in the documented order, each only when
// nothing before it is left to be cut; the soul is the last, and the bytes are the same every time.
func TestBudgetCutsLayersInTheDocumentedOrder(t *testing.T) {
	t.Parallel()
	order := []string{
		"HEARTBEAT.md", "BOOTSTRAP.md", "skills", "USER.md", "last", "first", "recalled memories",
		"MEMORY.md", "memory tools", "AGENTS.md", "TOOLS.md", "IDENTITY.md", "SOUL.md",
	}
	in := heavy()
	whole := prompt.Assemble(in)
	if len(whole.Cuts) > 0 || whole.Tokens < 10_000 {
		t.Fatalf("%d tokens, cuts %v", whole.Tokens, whole.Cuts)
	}
	for budget := whole.Tokens; budget > 0; budget -= 97 {
		in.Budget = budget
		r := prompt.Assemble(in)
		var cut []string
		for i, c := range r.Cuts {
			cut = append(cut, c.Part)
			if i < len(r.Cuts)-1 && c.To > 60 && c.Part != "skills" {
				t.Errorf("budget %d: %s still has %d tokens when %s is cut", budget, c.Part, c.To, r.Cuts[i+1].Part)
			}
		}
		if diff := cmp.Diff(order[:len(cut)], cut); len(cut) > 0 && diff != "" {
			t.Fatalf("budget %d: %s", budget, diff)
		}
		if r.Tokens > budget && !(r.Over && len(cut) == len(order)) {
			t.Errorf("budget %d: %d tokens, cuts %v", budget, r.Tokens, r.Cuts)
		}
		if soul := "## Personality\n\n" + in.Files[1].Text; len(cut) < len(order) && !strings.Contains(r.Prompt, strings.TrimSpace(soul)) {
			t.Errorf("budget %d: the soul is cut by accident", budget)
		}
		if r.Prompt != prompt.Assemble(in).Prompt {
			t.Errorf("budget %d: other bytes the second time", budget)
		}
	}
}

func TestBudgetNeverCutsWhatIsSmall(t *testing.T) {
	t.Parallel()
	in := heavy()
	in.Budget = 1
	r := prompt.Assemble(in)
	if got := names(r); !r.Over || got != "identity runtime channel" {
		t.Errorf("%s, over %v", got, r.Over)
	}
	inOrder(t, r.Prompt, "You are a helpful assistant.", "- Agent: main", "- Time: ", "## Channel")
}

func TestBudgetMarksCutPartsAndListsSkills(t *testing.T) {
	t.Parallel()
	in := heavy()
	whole := prompt.Assemble(in).Tokens
	in.Budget = whole - 500
	r := prompt.Assemble(in)
	inOrder(t, r.Prompt, "## HEARTBEAT.md\n\ntext of HEARTBEAT.md\n", "[... HEARTBEAT.md is cut here: ", "## BOOTSTRAP.md")
	if len(r.Cuts) != 1 || r.Cuts[0].To < 300 || r.Tokens > in.Budget || r.Tokens < in.Budget-150 {
		t.Errorf("%+v, %d tokens of %d", r.Cuts, r.Tokens, in.Budget)
	}
	in.Budget = whole - 2900
	r = prompt.Assemble(in)
	inOrder(t, r.Prompt, "text of TOOLS.md", "## Skills\n\nnames\n\n## Memory")
	if strings.Contains(r.Prompt, bootstrap.Heartbeat) {
		t.Error("the heartbeat is still there")
	}
}

func TestBudgetLeavesOutHowToUseMemoryAsAWhole(t *testing.T) {
	t.Parallel()
	for _, friendly := range []bool{false, true} {
		in := heavy()
		in.CacheFriendly = friendly
		whole := prompt.Assemble(in)
		left, rules := false, strings.TrimSpace(in.Files[slices.IndexFunc(in.Files, func(f bootstrap.File) bool { return f.Name == bootstrap.Agents })].Text)
		for budget := whole.Tokens; budget > 0; budget -= 53 {
			in.Budget = budget
			r := prompt.Assemble(in)
			with := strings.Contains(r.Prompt, "### Using Memory")
			if with != strings.Contains(r.Prompt, "never store again what was recalled.") {
				t.Errorf("budget %d: a part of it is left", budget)
			}
			if !with && (!friendly && len(r.Recalled) > 0 || strings.Contains(r.Prompt, "### Evergreen")) {
				t.Errorf("budget %d: it is left out before the memories", budget)
			}
			if with && !strings.Contains(r.Prompt, rules) {
				t.Errorf("budget %d: AGENTS.md is cut before it", budget)
			}
			left = left || !with
		}
		if !left {
			t.Error("it always stays")
		}
	}
}

func TestFrameSaysThatThereMayBeMore(t *testing.T) {
	t.Parallel()
	const said = "there may be more"
	for _, friendly := range []bool{false, true} {
		in := heavy()
		in.CacheFriendly = friendly
		if r := prompt.Assemble(in); strings.Count(whole(r), said) != 1 || !strings.Contains(r.Prompt, "### Using Memory") {
			t.Errorf("with memories:\n%s", r.Prompt)
		}
		in.Recalled = nil
		if r := prompt.Assemble(in); strings.Contains(whole(r), said) || strings.Contains(whole(r), "quick search") || !strings.Contains(r.Prompt, "### Using Memory") {
			t.Errorf("without memories:\n%s", r.Prompt)
		}
	}
	in := heavy()
	for in.Budget = prompt.Assemble(in).Tokens; len(prompt.Assemble(in).Recalled) > 0; in.Budget -= 50 {
	}
	if r := prompt.Assemble(in); strings.Contains(r.Prompt, said) || !strings.Contains(r.Prompt, "### Using Memory") {
		t.Errorf("without room for memories:\n%s", r.Prompt)
	}
}
