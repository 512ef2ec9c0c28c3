package prompt_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/bootstrap"
	"kioku/agent/prompt"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/llm/echo"
	"kioku/memory"
)

// noon is a moment in a zone that has a name.
var noon = time.Date(2026, 3, 2, 12, 5, 0, 0, time.FixedZone("JST", 9*3600))

// files returns a short text for each name, or for all.
func files(names ...string) []bootstrap.File {
	if len(names) == 0 {
		names = bootstrap.Names()
	}
	var all []bootstrap.File
	for _, name := range names {
		all = append(all, bootstrap.File{Name: name, Text: "text of " + name})
	}
	return all
}

// memories returns n memories of the agent's own, best first.
func memories(n int) []prompt.Memory {
	var all []prompt.Memory
	for i := range n {
		all = append(all, prompt.Memory{
			Agent: "main", Path: fmt.Sprintf("memory/2026-01-0%d.md", i+1), StartLine: 3, EndLine: 5, Score: 0.9 - float64(i)/10, Text: fmt.Sprintf("The key is in vault %d.", i+1),
		})
	}
	return all
}

// everything is an input that fills all layers.
func everything() prompt.Input {
	return prompt.Input{
		Files: files(), Skills: "## Skills\n\nall of them", Recalled: memories(3), MemoryTools: true,
		Agent: "main", Model: "echo", Channel: "terminal", Now: noon, Key: []byte("secret"),
	}
}

// names returns those of the layers.
func names(r prompt.Result) string {
	var all []string
	for _, l := range r.Layers {
		all = append(all, l.Name)
	}
	return strings.Join(all, " ")
}

// inOrder fails the test unless text holds the strings one after the other.
func inOrder(t *testing.T, text string, want ...string) {
	t.Helper()
	rest := text
	for _, w := range want {
		_, after, found := strings.Cut(rest, w)
		if !found {
			t.Fatalf("%q is missing or in a wrong place in\n%s", w, text)
		}
		rest = after
	}
}

func TestAssembleOrdersTheLayers(t *testing.T) {
	t.Parallel()
	r := prompt.Assemble(everything())
	if got := names(r); got != "identity soul tools skills memory bootstrap runtime channel" {
		t.Errorf("%s", got)
	}
	if !strings.HasPrefix(r.Prompt, "text of IDENTITY.md\n\n## Personality\n\ntext of SOUL.md\n\n## Tool Usage Guidelines\n\ntext of TOOLS.md\n\n## Skills\n\nall of them\n\n"+
		"## Memory\n\n### Evergreen Memory\n\ntext of MEMORY.md\n\n### Recalled Memories (auto-searched)\n\n") {
		t.Errorf("it begins\n%s", r.Prompt)
	}
	inOrder(t, r.Prompt, "memory/2026-01-01.md#L3-L5", "memory/2026-01-02.md#L3-L5", "memory/2026-01-03.md#L3-L5", "### Using Memory\n\n", "memory_search",
		"\n\n## HEARTBEAT.md\n\ntext of HEARTBEAT.md\n\n## BOOTSTRAP.md\n\ntext of BOOTSTRAP.md\n\n## AGENTS.md\n\ntext of AGENTS.md\n\n## USER.md\n\ntext of USER.md\n\n"+
			"## Runtime Context\n\n- Agent: main\n- Model: echo\n- Channel: terminal\n- Mode: full\n- Time: Monday, 2026-03-02 12:05 (JST, UTC+09:00)\n\n## Channel\n\nYou are responding in a terminal.")
}

func TestAssembleLeavesOutEmptyLayers(t *testing.T) {
	t.Parallel()
	r := prompt.Assemble(prompt.Input{})
	if r.Prompt != "You are a helpful assistant.\n\n## Runtime Context\n\n- Mode: full" || names(r) != "identity runtime" {
		t.Errorf("%s\n%s", names(r), r.Prompt)
	}
	r = prompt.Assemble(prompt.Input{Files: files(bootstrap.User)})
	inOrder(t, r.Prompt, "You are a helpful assistant.\n\n## USER.md\n\ntext of USER.md\n\n## Runtime")
}

func TestAssembleTakesTheLayersOfTheMode(t *testing.T) {
	t.Parallel()
	in := everything()
	in.Mode = bootstrap.Minimal
	r := prompt.Assemble(in)
	if got := names(r); got != "identity tools bootstrap runtime channel" || len(r.Recalled) > 0 || len(r.LeftOut) != 3 {
		t.Errorf("%s, recalled %v", got, r.Recalled)
	}
	inOrder(t, r.Prompt, "You are a helpful assistant.", "text of TOOLS.md", "text of AGENTS.md", "- Mode: minimal")
	for _, name := range []string{"SOUL", "USER", "HEARTBEAT", "BOOTSTRAP", "MEMORY", "IDENTITY"} {
		if strings.Contains(r.Prompt, "text of "+name) {
			t.Errorf("%s is in a minimal prompt", name)
		}
	}
	in.Mode = bootstrap.None
	if r := prompt.Assemble(in); names(r) != "identity runtime channel" || strings.Contains(r.Prompt, "text of") {
		t.Errorf("%s\n%s", names(r), r.Prompt)
	}
}

func TestAssembleShowsAGroupNoPrivateMemory(t *testing.T) {
	t.Parallel()
	in := everything()
	in.Group = true
	in.Recalled[1].Shared, in.Recalled[1].Agent = true, "team"
	for _, friendly := range []bool{false, true} {
		in.CacheFriendly = friendly
		r := prompt.Assemble(in)
		for _, private := range []string{"MEMORY.md", "vault 1", "vault 3", "Evergreen"} {
			if strings.Contains(whole(r), private) {
				t.Errorf("%q is in a group's prompt", private)
			}
		}
		inOrder(t, whole(r)+whole(r), `"agent":"team"`, "private memory is not searched", "memory_append")
		if strings.Contains(r.Prompt, "memory_search") || strings.Contains(r.Prompt, "memory_get") {
			t.Errorf("a group is told of tools that it has not:\n%s", r.Prompt)
		}
		if len(r.Recalled) != 1 || r.Recalled[0].Agent != "team" || len(r.LeftOut) != 2 || r.LeftOut[0].Reason != bootstrap.ReasonGroup {
			t.Errorf("%+v, left out %+v", r.Recalled, r.LeftOut)
		}
	}
}

func TestAssembleIsDeterministic(t *testing.T) {
	t.Parallel()
	in := everything()
	in.Budget = 600
	if diff := cmp.Diff(prompt.Assemble(in), prompt.Assemble(in)); diff != "" {
		t.Error(diff)
	}
}

func TestCachedBytesStayTheSame(t *testing.T) {
	t.Parallel()
	for _, friendly := range []bool{false, true} {
		for _, known := range []bool{true, false} {
			in := everything()
			in.CacheFriendly = friendly
			in.Blocks = []prompt.Block{{Name: "Now Playing", Text: "a song", Volatile: true}, {Name: "House", Text: "rules"}}
			if !known {
				in.Files, in.MemoryTools = files(bootstrap.Soul), false
			}
			first := prompt.Assemble(in)
			in.Recalled, in.Now = memories(1), noon.Add(time.Hour)
			in.Blocks[0].Text = "another song"
			second := prompt.Assemble(in)
			in.Recalled, in.Now = nil, time.Time{}
			third := prompt.Assemble(in)
			for _, r := range []prompt.Result{second, third} {
				if r.CachedBytes != first.CachedBytes || r.Prompt[:r.CachedBytes] != first.Prompt[:r.CachedBytes] {
					t.Errorf("friendly %v: %d and %d bytes", friendly, first.CachedBytes, r.CachedBytes)
				}
			}
			stable := first.Prompt[:first.CachedBytes]
			if strings.Contains(stable, "Recalled") || strings.Contains(stable, "Time:") || strings.Contains(stable, "song") {
				t.Errorf("what changes is in\n%s", stable)
			}
			if friendly != strings.HasSuffix(stable, "tables and images.") {
				t.Errorf("friendly %v: the stable part ends %q", friendly, stable[len(stable)-20:])
			}
		}
	}
}

// whole is all that a model is sent.
func whole(r prompt.Result) string { return strings.TrimSpace(r.Prompt + "\n\n" + r.Turn) }

// The system prompt is constant over a session, the eight layers keep their order within what is constant, and what changes is a
// block of its own, which is taken out of everything that is stored.
func TestCacheFriendlyOrderHasWhatChangesInABlock(t *testing.T) {
	t.Parallel()
	in := everything()
	in.CacheFriendly = true
	in.Blocks = []prompt.Block{{Name: "Now Playing", Text: "a song", Volatile: true}}
	r := prompt.Assemble(in)
	if got := names(r); got != "identity soul tools skills memory bootstrap runtime channel block: Now Playing turn" {
		t.Errorf("%s", got)
	}
	inOrder(t, r.Prompt, "### Evergreen Memory", "### Using Memory", "## HEARTBEAT.md", "## Runtime Context", "## Channel")
	inOrder(t, r.Turn, "<this-turn id=", "The user did not write this", "## Now Playing\n\na song", "- Time: Monday, 2026-03-02",
		"### Recalled Memories (auto-searched)", "</recalled-memories", "</this-turn id=")
	if got := memory.StripRecalled("the question\n\n" + r.Turn); got != "the question" {
		t.Errorf("what is stored is %q", got)
	}
	tokens := 0
	for _, l := range r.Layers[8:] {
		tokens += l.Tokens
	}
	if r.CachedBytes != len(r.Prompt) || tokens != r.TurnTokens {
		t.Errorf("%d of %d bytes are constant, %d and %d tokens", r.CachedBytes, len(r.Prompt), r.TurnTokens, tokens)
	}
	in.Recalled, in.Blocks, in.Now = nil, nil, time.Time{}
	if r := prompt.Assemble(in); r.Turn != "" || r.TurnTokens != 0 {
		t.Errorf("a turn without anything has %q", r.Turn)
	}
}

// The system prompt is constant over a session, also within a budget: what is recalled does not change what is cut of it, and the
// block fits too.
func TestBudgetCutsTheSamePromptWhateverIsRecalled(t *testing.T) {
	t.Parallel()
	in := heavy()
	in.CacheFriendly = true
	for budget := prompt.Assemble(in).Tokens + 100; budget > 1500; budget -= 193 {
		in.Budget, in.Recalled = budget, nil
		bare := prompt.Assemble(in)
		for n := range 4 {
			in.Recalled = heavy().Recalled[:n]
			r := prompt.Assemble(in)
			if r.Prompt != bare.Prompt || r.Tokens > budget {
				t.Fatalf("budget %d, %d memories: %d tokens, the prompt differs: %v", budget, n, r.Tokens, r.Prompt != bare.Prompt)
			}
		}
	}
}

func TestAssemblePutsBlocksAfterTheFiles(t *testing.T) {
	t.Parallel()
	in := everything()
	in.Blocks = []prompt.Block{{Name: "House\n## Fake", Text: "rules"}, {Name: "empty", Text: " "}, {Text: "bare"}}
	r := prompt.Assemble(in)
	inOrder(t, r.Prompt, "text of USER.md\n\n## House ## Fake\n\nrules\n\nbare\n\n## Runtime Context")
	if got := names(r); !strings.Contains(got, "bootstrap block: House ## Fake block:  runtime") {
		t.Errorf("%s", got)
	}
}

func TestChannelHints(t *testing.T) {
	t.Parallel()
	for channel, want := range map[string]string{
		"terminal": "in a terminal", "Telegram": "via Telegram. Keep", "discord": "2,000 characters", "slack": "*bold*", "fax\nmachine": "You are responding via fax machine.",
	} {
		_, hint, _ := strings.Cut(prompt.Assemble(prompt.Input{Channel: channel}).Prompt, "## Channel\n\n")
		if !strings.Contains(hint, want) || strings.Contains(hint, "\n") {
			t.Errorf("%q: %q", channel, hint)
		}
	}
}

func TestLayersAreTheWholePrompt(t *testing.T) {
	t.Parallel()
	for _, friendly := range []bool{false, true} {
		in := everything()
		in.CacheFriendly = friendly
		r := prompt.Assemble(in)
		chars, tokens := 2*(len(r.Layers)-1), 0
		// The blank lines within the block are in its frame.
		for _, l := range r.Layers {
			chars, tokens = chars+l.Chars, tokens+l.Tokens
		}
		if chars != len([]rune(whole(r))) || tokens != r.Tokens {
			t.Errorf("%d characters of %d, %d tokens of %d", chars, len([]rune(r.Prompt)), tokens, r.Tokens)
		}
		if n := text.EstimateTokens(whole(r)); r.Tokens < n || r.Tokens > n+60 {
			t.Errorf("%d tokens for %d", r.Tokens, n)
		}
	}
}

func TestRememberCountsATextOnce(t *testing.T) {
	t.Parallel()
	calls := 0
	in := everything()
	in.Count = prompt.Remember(func(text string) int { calls++; return len(text) })
	first := prompt.Assemble(in)
	before := calls
	if second := prompt.Assemble(in); calls != before || second.Tokens != first.Tokens {
		t.Errorf("counted %d times and then %d times", before, calls-before)
	}
	for i := range 40 {
		in.Count(strings.Repeat(fmt.Sprint(i%10), 200_000) + fmt.Sprint(i))
	}
	if prompt.Assemble(in); calls < 2*before {
		t.Error("it remembers without end")
	}
}

func TestFrameIsReadByEcho(t *testing.T) {
	t.Parallel()
	in := everything()
	in.Recalled[0].Path, in.Recalled[0].Text = "my notes/鍵.md", "The <key>\n\nis in \"vault\" 1."
	for _, friendly := range []bool{false, true} {
		in.CacheFriendly = friendly
		r := prompt.Assemble(in)
		resp, err := (&echo.Model{}).Generate(t.Context(), llm.Request{System: r.Prompt, Messages: []llm.Message{{Role: llm.RoleUser, Text: "where is it?", Turn: r.Turn}}}, nil)
		if want := `I recall from my notes/鍵.md#L3-L5: The <key> is in "vault" 1.`; err != nil || resp.Message.Text != want {
			t.Errorf("%q, %v", resp.Message.Text, err)
		}
	}
}
