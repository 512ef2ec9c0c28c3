package sidecar_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/bootstrap"
	"kioku/agent/recall"
	"kioku/agent/sidecar"
	"kioku/internal/testkit"
	"kioku/memory"
)

// question is a turn of one person.
var question = sidecar.Turn{Message: "Where is the key?", Channel: "terminal", Model: "echo"}

func TestAssembleJoinsFilesSkillsAndMemories(t *testing.T) {
	t.Parallel()
	own := remembering("The key is in vault 7.")
	opt := options(t, own)
	testkit.WriteFile(t, opt.Skills.Workspace, "skills/review/SKILL.md", "---\nname: review\ndescription: reviews a change\n---\nRead it.")
	p := start(t, opt).Assemble(t.Context(), question)
	for _, want := range []string{
		"text of IDENTITY.md", "text of SOUL.md", "text of TOOLS.md", "reviews a change", "text of MEMORY.md", "memory/2026-03-01.md#L1",
		"The key is in vault 7.", "memory_search", "text of USER.md", "- Agent: main", "- Model: echo", "12:05", "in a terminal",
	} {
		if !strings.Contains(p.Whole(), want) {
			t.Errorf("%q is not in\n%s", want, p.Whole())
		}
	}
	if p.Group || len(p.Files) != 8 || len(p.Skills.Skills) != 1 || len(p.Recalled) != 1 || p.Recall.Query != "Where is the key?" || p.Tokens == 0 {
		t.Errorf("%+v", p)
	}
	if q := own.asked[0]; !q.Now.Equal(noon) || q.MaxResults != 2*3+2*8 {
		t.Errorf("%+v", q)
	}
}

func TestAssembleSearchesOnlyForFullPrompts(t *testing.T) {
	t.Parallel()
	own := remembering("The key is in vault 7.")
	opt := options(t, own)
	testkit.WriteFile(t, opt.Skills.Workspace, "skills/review/SKILL.md", "---\nname: review\ndescription: reviews a change\n---\nRead it.")
	s := start(t, opt)
	for mode, want := range map[bootstrap.Mode]string{bootstrap.Minimal: "minimal", bootstrap.None: "none", "everything": "none"} {
		turn := question
		turn.Mode = mode
		p := s.Assemble(t.Context(), turn)
		for _, absent := range []string{"MEMORY.md", "SOUL.md", "vault", "reviews", "memory_search"} {
			if strings.Contains(p.Whole(), absent) {
				t.Errorf("%s: %q is in the prompt", mode, absent)
			}
		}
		if !strings.Contains(p.Whole(), "- Mode: "+want) || strings.Contains(p.Prompt, "AGENTS.md") != (mode == bootstrap.Minimal) || p.Recall.Skipped != recall.SkippedMode {
			t.Errorf("%s: %s\n%s", mode, p.Recall.Skipped, p.Whole())
		}
	}
	turn := question
	turn.NoRecall, turn.NoTools = true, true
	p := s.Assemble(t.Context(), turn)
	if p.Recall.Skipped != recall.SkippedOff || strings.Contains(p.Whole(), "vault") || strings.Contains(p.Prompt, "memory_search") || !strings.Contains(p.Prompt, "MEMORY.md") {
		t.Errorf("%s\n%s", p.Recall.Skipped, p.Whole())
	}
	if len(own.asked) > 0 {
		t.Errorf("asked %v", own.asked)
	}
}

func TestAssemblePrefersTheTurnToTheSettings(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering("mine"))
	own := opt.Memories("main").(*notes)
	opt.Memories = among(map[string]*notes{"main": own, "team": remembering("ours"), "others": remembering("theirs")})
	opt.Shared = []string{"team"}
	s := start(t, opt)
	yes, no := true, false
	for name, c := range map[string]struct {
		change func(*sidecar.Turn)
		want   string
	}{
		"nothing":    {func(*sidecar.Turn) {}, "mine ours, turn, group false"},
		"none":       {func(u *sidecar.Turn) { u.Shared = []string{} }, "mine, turn, group false"},
		"another":    {func(u *sidecar.Turn) { u.Shared = []string{"others", "main"} }, "mine theirs, turn, group false"},
		"the order":  {func(u *sidecar.Turn) { u.CacheFriendly = &no }, "mine ours, channel, group false"},
		"a group":    {func(u *sidecar.Turn) { u.Group = &yes }, "ours, turn, group true"},
		"a channel":  {func(u *sidecar.Turn) { u.Channel = "slack" }, "ours, turn, group true"},
		"no group":   {func(u *sidecar.Turn) { u.Channel, u.Group = "slack", &no }, "mine ours, turn, group false"},
		"its own id": {func(u *sidecar.Turn) { u.Channel, u.Shared = "slack", []string{"main"} }, ", nothing is recalled, but turn, group true"},
	} {
		turn := question
		turn.Now = noon.AddDate(1, 0, 0)
		c.change(&turn)
		p := s.Assemble(t.Context(), turn)
		var found []string
		for _, m := range p.Recalled {
			found = append(found, m.Text)
		}
		last := p.Layers[len(p.Layers)-1].Name
		if name == "its own id" {
			last = "nothing is recalled, but " + last // because the time changes
		}
		if got := fmt.Sprintf("%s, %s, group %v", strings.Join(found, " "), last, p.Group); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if !strings.Contains(p.Prompt+p.Turn, "2027-03-02") || strings.Contains(p.Prompt, "Others read this conversation") != p.Group {
			t.Errorf("%s: it is %s", name, p.Prompt)
		}
	}
}

func TestAssembleIsDeterministic(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering("The key is in vault 7."))
	first := start(t, opt).Assemble(t.Context(), question)
	if diff := cmp.Diff(first.Result, start(t, opt).Assemble(t.Context(), question).Result); diff != "" {
		t.Error(diff)
	}
	opt.Key = nil
	one, two := start(t, opt), start(t, opt)
	random := one.Assemble(t.Context(), question).Whole()
	if random != one.Assemble(t.Context(), question).Whole() {
		t.Error("a second prompt of one sidecar is another one")
	}
	if random == two.Assemble(t.Context(), question).Whole() || random == first.Whole() {
		t.Error("without a key the frame can be guessed")
	}
}

func TestAssembleSeesAChangedFile(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering())
	s := start(t, opt)
	if p := s.Assemble(t.Context(), question); !strings.Contains(p.Prompt, "text of SOUL.md") {
		t.Fatal(p.Prompt)
	}
	testkit.WriteFile(t, opt.Bootstrap.Workspace, bootstrap.Soul, "TEXT OF SOUL.md")
	testkit.WriteFile(t, opt.Skills.Workspace, "skills/review/SKILL.md", "---\nname: review\ndescription: reviews a change\n---\nRead it.")
	if p := s.Assemble(t.Context(), question); !strings.Contains(p.Prompt, "TEXT OF SOUL.md") || !strings.Contains(p.Prompt, "reviews a change") {
		t.Error(p.Prompt)
	}
}

func TestAssembleManyTurnsAtOnce(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering("The key is in vault 7."))
	s := start(t, opt)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 5 {
				testkit.WriteFile(t, opt.Bootstrap.Workspace, fmt.Sprintf("skills/s%d/SKILL.md", i), fmt.Sprintf("---\nname: s%d\ndescription: d\n---\n", i))
				turn := question
				turn.Channel, turn.Message = fmt.Sprintf("dm:%d", i), fmt.Sprintf("Where is key %d?", i)
				p := s.Assemble(t.Context(), turn)
				if !strings.Contains(p.Whole(), "- Channel: "+turn.Channel+"\n") || !strings.Contains(p.Whole(), "vault 7") || p.Recall.Query != turn.Message || p.Recall.Searches[0].Err != nil {
					t.Errorf("%+v\n%s", p.Recall, p.Whole())
				}
			}
		})
	}
	all.Wait()
}

// The texts of passages that earlier messages are still sent with are not sent again; the block points to them.
func TestAssemblePointsToPassagesThatAreShown(t *testing.T) {
	t.Parallel()
	opt := options(t, remembering("The key is in vault 7.", "The spare key is in vault 9."))
	s := start(t, opt)
	first := s.Assemble(t.Context(), question)
	turn := question
	turn.Shown = []string{first.Recalled[0].Key()}
	second := s.Assemble(t.Context(), turn)
	if strings.Count(second.Turn, "vault") != 1 || !strings.Contains(second.Turn, memory.ShownAbove) || len(second.Recalled) != 2 {
		t.Errorf("%s", second.Turn)
	}
	turn.Shown = append(turn.Shown, first.Recalled[1].Key())
	third := s.Assemble(t.Context(), turn)
	if strings.Contains(third.Turn, "vault") || !strings.Contains(third.Turn, `texts above: ["memory/2026-03-01.md#L2","memory/2026-03-01.md#L1"]`) {
		t.Errorf("%s", third.Turn)
	}
	if first.Prompt != second.Prompt || first.Prompt != third.Prompt {
		t.Error("the prompt is another one")
	}
	no := false
	if turn.CacheFriendly = &no; strings.Count(s.Assemble(t.Context(), turn).Prompt, "vault") != 2 {
		t.Error("the other order sends no blocks, and lacks the texts")
	}
}
