package prune_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/agent/prune"
	"kioku/llm"
)

// anyConversation draws turns of a user, calls of tools with results of any length, and answers.
func anyConversation(t *rapid.T) []llm.Message {
	var out []llm.Message
	letter := rapid.SampledFrom([]string{"x", "記", "🙂", "\xff", "e\u0301"})
	long := func(most int) string {
		return strings.Repeat(letter.Draw(t, "letter"), rapid.IntRange(0, most).Draw(t, "length"))
	}
	for turn := range rapid.IntRange(0, 8).Draw(t, "turns") {
		out = append(out, user(long(500)))
		for i := range rapid.IntRange(0, 4).Draw(t, "calls") {
			id := fmt.Sprintf("%d-%d", turn, i)
			r := result(id, long(9000))
			r.ToolName = rapid.SampledFrom([]string{"exec", "read", "browser"}).Draw(t, "tool")
			r.Images = make([]llm.Image, rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "images"))
			out = append(out, call(id), r)
		}
		out = append(out, say(long(500)))
	}
	return out
}

func anySettings(t *rapid.T) prune.Settings {
	s := prune.Defaults()
	s.KeepLastAssistants = rapid.IntRange(0, 4).Draw(t, "keep")
	s.SoftTrimRatio = rapid.Float64Range(0, 1).Draw(t, "soft")
	s.HardClearRatio = rapid.Float64Range(0, 1).Draw(t, "hard")
	s.MinPrunableToolChars = rapid.IntRange(0, 50_000).Draw(t, "min")
	s.SoftTrim.Head = rapid.IntRange(0, 4000).Draw(t, "head")
	s.HardClear.Enabled = rapid.Bool().Draw(t, "clear")
	s.Tools.Deny = rapid.SampledFrom([][]string{nil, {"browser"}, {"*e*"}}).Draw(t, "deny")
	return s
}

// encode shows every byte of messages.
func encode(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%#v\n", m)
	}
	return b.String()
}

// withoutResults blanks what pruning may change.
func withoutResults(messages []llm.Message) []llm.Message {
	out := slices.Clone(messages)
	for i := range out {
		if out[i].Role == llm.RoleTool {
			out[i].Text = ""
		}
	}
	return out
}

// Hazard F07: whatever is pruned, every message keeps its place, every call its result, users and assistants their words,
// and the originals are as they were.
func TestPruneChangesOnlyTheTextOfResults(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages, s := anyConversation(t), anySettings(t)
		original := encode(messages)
		plan := prune.Prune(messages, s, stateOf(rapid.IntRange(0, 20_000).Draw(t, "window")), later)
		sent := prune.Apply(messages, plan.Edits)
		if encode(messages) != original {
			t.Fatal("the originals have changed")
		}
		if diff := cmp.Diff(withoutResults(messages), withoutResults(sent)); diff != "" {
			t.Fatal(diff)
		}
		for i := range sent {
			if len(sent[i].Text) > 0 && len([]rune(sent[i].Text)) > len([]rune(messages[i].Text)) {
				t.Fatalf("message %d became longer", i)
			}
			if len(sent[i].Images) > 0 && sent[i].Text != messages[i].Text {
				t.Fatalf("message %d has an image and was edited", i)
			}
		}
	})
}

func TestApplyIsByteIdenticalWithinTheTTL(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages, s := anyConversation(t), anySettings(t)
		st := stateOf(rapid.IntRange(1, 20_000).Draw(t, "window"))
		first := prune.Prune(messages, s, st, later)
		sent := encode(prune.Apply(messages, first.Edits))

		st.Edits = append(st.Edits, first.New...)
		st.LastTouch = first.LastTouch
		soon := first.LastTouch.Add(time.Duration(rapid.Int64Range(0, int64(s.TTL)-1).Draw(t, "passed")))
		grown := append(slices.Clone(messages), user("more"), say("yes"))
		second := prune.Prune(grown, s, st, soon)
		if len(second.New) > 0 || !second.LastTouch.Equal(st.LastTouch) {
			t.Fatalf("within the ttl there are new edits: %v", second.New)
		}
		if again := encode(prune.Apply(grown, second.Edits)[:len(messages)]); again != sent {
			t.Fatalf("replayed as\n%s\nafter\n%s", again, sent)
		}
	})
}

func TestPruneOfRecordedEditsGivesTheSamePlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages, s := anyConversation(t), anySettings(t)
		st := stateOf(rapid.IntRange(1, 20_000).Draw(t, "window"))
		now := later
		for range 4 {
			plan := prune.Prune(messages, s, st, now)
			st.Edits = append(st.Edits, plan.New...)
			if diff := cmp.Diff(encode(prune.Apply(messages, st.Edits)), encode(prune.Apply(messages, plan.Edits))); diff != "" {
				t.Fatal(diff)
			}
			messages = append(messages, anyConversation(t)...)
			now = now.Add(s.TTL)
		}
	})
}

func TestPruneClearsATrimmedResultLater(t *testing.T) {
	t.Parallel()
	s, messages := prune.Defaults(), conversation(text(6000))
	st := stateOf(5000)
	st.Edits = prune.Prune(messages, s, st, later).New
	if diff := cmp.Diff([]int{2}, trimmed(st.Edits)); diff != "" {
		t.Fatal(diff)
	}
	s.SoftTrim = prune.SoftTrim{MaxChars: 2000, Head: 500, Tail: 500}
	plan := prune.Prune(messages, s, st, later)
	if diff := cmp.Diff(st.Edits, plan.Edits); diff != "" {
		t.Errorf("other sizes changed an edit: %s", diff)
	}
	s.MinPrunableToolChars, st.Window = 0, 100
	plan = prune.Prune(messages, s, st, later)
	if diff := cmp.Diff([]int{2}, cleared(plan.Edits)); diff != "" {
		t.Error(diff)
	}
	st.Edits = append(st.Edits, plan.New...)
	if plan = prune.Prune(messages, s, st, later); len(plan.New) > 0 {
		t.Errorf("cleared once more: %v", plan.New)
	}
}

func TestPruneOffIgnoresRecordedEdits(t *testing.T) {
	t.Parallel()
	s, messages := prune.Defaults(), conversation(text(6000))
	st := stateOf(5000)
	st.Edits = prune.Prune(messages, s, st, later).New
	s.Mode = prune.ModeOff
	if plan := prune.Prune(messages, s, st, later); len(plan.Edits) > 0 {
		t.Errorf("in force: %v", plan.Edits)
	}
}

func TestPruneCountsCodePoints(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		message := user(rapid.String().Draw(t, "text"))
		plan := prune.Prune([]llm.Message{message}, prune.Defaults(), stateOf(1), later)
		if want := utf8.RuneCountInString(message.Text); plan.Before != want {
			t.Fatalf("%q: %d, want %d", message.Text, plan.Before, want)
		}
	})
}

func TestApplyIgnoresEditsThatDoNotFit(t *testing.T) {
	t.Parallel()
	messages := conversation("result")
	edits := []prune.Edit{
		{Index: 0, Text: "not the user"}, {Index: 1, Text: "not the assistant"}, {Index: 2, CallID: "other", Text: "not another call"},
		{Index: -1, Text: "before"}, {Index: 99, Text: "behind"},
	}
	if diff := cmp.Diff(messages, prune.Apply(messages, edits)); diff != "" {
		t.Error(diff)
	}
	if plan := prune.Prune(messages, prune.Defaults(), prune.State{Edits: edits}, later); len(plan.Edits) > 0 {
		t.Errorf("kept %v", plan.Edits)
	}
}
