package prune_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kioku/agent/prune"
	"kioku/llm"
)

// start is when the model was last asked in these tests, and later is when its cache has just gone.
var (
	start = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	later = start.Add(5 * time.Minute)
)

// user, say, call and result are messages; the call with an id has no input, so that it counts for nothing.
func user(text string) llm.Message { return llm.Message{Role: llm.RoleUser, Text: text} }
func say(text string) llm.Message  { return llm.Message{Role: llm.RoleAssistant, Text: text} }
func call(id string) llm.Message {
	return llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: id, Name: "exec"}}}
}
func result(id, text string) llm.Message {
	return llm.Message{Role: llm.RoleTool, ToolCallID: id, ToolName: "exec", Text: text}
}

// conversation is a question, a call with each result, and three short answers that are out of reach.
func conversation(results ...string) []llm.Message {
	out := []llm.Message{user("?")}
	for i, text := range results {
		id := fmt.Sprint("c", i)
		out = append(out, call(id), result(id, text))
	}
	return append(out, say(""), say(""), say(""))
}

func text(chars int) string { return strings.Repeat("x", chars) }

// stateOf is the state before the first pruning.
func stateOf(window int) prune.State { return prune.State{LastTouch: start, Window: window} }

// cleared and trimmed return the places of the edits of a kind.
func cleared(edits []prune.Edit) (at []int) {
	for _, e := range edits {
		if e.Cleared {
			at = append(at, e.Index)
		}
	}
	return at
}

func trimmed(edits []prune.Edit) (at []int) {
	for _, e := range edits {
		if !e.Cleared {
			at = append(at, e.Index)
		}
	}
	return at
}

// step is a case of one of the eleven steps. What it leaves open is the full conversation, later and the defaults.
type step struct {
	name     string
	messages []llm.Message
	change   func(*prune.Settings, *prune.State)
	now      time.Time
	want     string
	trimmed  []int
	cleared  []int
}

// plan returns what is planned, and when the model was asked before and is asked now.
func (c step) plan(full []llm.Message) (plan prune.Plan, touched, now time.Time) {
	messages, s, st, now := full, prune.Defaults(), stateOf(50_000), later
	if c.messages != nil {
		messages = c.messages
	}
	if !c.now.IsZero() {
		now = c.now
	}
	if c.change != nil {
		c.change(&s, &st)
	}
	return prune.Prune(messages, s, st, now), st.LastTouch, now
}

func TestPruneTellsTheReason(t *testing.T) {
	t.Parallel()
	full := conversation(text(60_000), text(60_000))
	off := func(s *prune.Settings, _ *prune.State) { s.Mode = prune.ModeOff }
	tests := []step{
		{name: "1 mode off", change: off, want: prune.ReasonOff},
		{name: "1 comes before 2", change: off, now: start, want: prune.ReasonOff},
		{name: "1 an unset mode is off", change: func(s *prune.Settings, _ *prune.State) { *s = prune.Settings{} }, want: prune.ReasonOff},
		{name: "2 no last touch", change: func(_ *prune.Settings, st *prune.State) { st.LastTouch = time.Time{} }, want: prune.ReasonCacheFresh},
		{name: "2 no ttl", change: func(s *prune.Settings, _ *prune.State) { s.TTL = 0 }, want: prune.ReasonCacheFresh},
		{name: "2 a negative ttl", change: func(s *prune.Settings, _ *prune.State) { s.TTL = -1 }, want: prune.ReasonCacheFresh},
		{name: "2 a nanosecond before the ttl is over", now: later.Add(-1), want: prune.ReasonCacheFresh},
		{name: "2 comes before 3", now: start, change: func(_ *prune.Settings, st *prune.State) { st.Window = 0 }, want: prune.ReasonCacheFresh},
		{name: "3 window unknown", change: func(_ *prune.Settings, st *prune.State) { st.Window = 0 }, want: prune.ReasonNoWindow},
		{name: "3 comes before 4", messages: []llm.Message{}, change: func(_ *prune.Settings, st *prune.State) { st.Window = 0 }, want: prune.ReasonNoWindow},
		{name: "4 two assistant messages", messages: []llm.Message{user(text(400)), say(""), say("")}, want: prune.ReasonFewAssistants},
		{name: "4 comes before 6", messages: []llm.Message{user("?")}, want: prune.ReasonFewAssistants},
		{name: "6 room", change: func(_ *prune.Settings, st *prune.State) { st.Window = 1_000_000 }, want: prune.ReasonRoom},
		{name: "8 room after trimming", change: func(_ *prune.Settings, st *prune.State) { st.Window = 60_000 }, want: prune.ReasonTrimmed, trimmed: []int{2, 4}},
		{name: "8 clearing is not enabled", change: func(s *prune.Settings, st *prune.State) { s.HardClear.Enabled = false; st.Window = 1000 },
			want: prune.ReasonTrimmed, trimmed: []int{2, 4}},
		{name: "9 little to clear", change: func(_ *prune.Settings, st *prune.State) { st.Window = 1000 }, want: prune.ReasonLittleToClear, trimmed: []int{2, 4}},
		{name: "10 cleared", change: func(s *prune.Settings, st *prune.State) { s.MinPrunableToolChars = 0; st.Window = 1000 },
			want: prune.ReasonCleared, cleared: []int{2, 4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, touched, now := tt.plan(full)
			if plan.Reason != tt.want {
				t.Errorf("reason %q, want %q", plan.Reason, tt.want)
			}
			if diff := cmp.Diff([][]int{tt.trimmed, tt.cleared}, [][]int{trimmed(plan.New), cleared(plan.New)}); diff != "" {
				t.Error(diff)
			}
			want := touched
			if len(tt.trimmed)+len(tt.cleared) > 0 {
				want = now // step 11
			}
			if !plan.LastTouch.Equal(want) {
				t.Errorf("last touch %v, want %v", plan.LastTouch, want)
			}
		})
	}
}

func TestPruneLeavesTheLastAssistants(t *testing.T) {
	t.Parallel()
	// The third assistant message from the end is the second call, so only the first result is in reach.
	messages := []llm.Message{user("?"), call("a"), result("a", text(5000)), call("b"), result("b", text(5000)), say(""), result("c", text(5000)), say("")}
	s := prune.Defaults()
	for k, want := range [][]int{{2, 4, 6}, {2, 4, 6}, {2, 4}, {2}, nil} {
		s.KeepLastAssistants = k
		plan := prune.Prune(messages, s, stateOf(8000), later)
		if diff := cmp.Diff(want, trimmed(plan.New)); diff != "" {
			t.Errorf("keep %d: %s", k, diff)
		}
	}
}

func TestPruneLeavesResultsBeforeTheFirstUserMessage(t *testing.T) {
	t.Parallel()
	before := []llm.Message{call("boot"), result("boot", text(5000))}
	plan := prune.Prune(append(before, conversation(text(5000))...), prune.Defaults(), stateOf(4000), later)
	if diff := cmp.Diff([]int{4}, trimmed(plan.New)); diff != "" {
		t.Error(diff)
	}
	plan = prune.Prune(append(before, say(""), say(""), say("")), prune.Defaults(), stateOf(2000), later)
	if len(plan.New) > 0 {
		t.Errorf("without a user message there are edits: %v", plan.New)
	}
}

func TestSoftTrimRatioIsExact(t *testing.T) {
	t.Parallel()
	// 12,000 characters of 10,000 tokens of 4 characters are 0.3.
	for chars, want := range map[int]string{11_999: prune.ReasonRoom, 12_000: prune.ReasonTrimmed} {
		plan := prune.Prune(conversation(text(chars-1)), prune.Defaults(), stateOf(10_000), later)
		if plan.Reason != want || plan.Before != chars {
			t.Errorf("%d characters, counted as %d: %q, want %q", chars, plan.Before, plan.Reason, want)
		}
	}
}

func TestHardClearRatioIsExact(t *testing.T) {
	t.Parallel()
	s := prune.Defaults()
	s.MinPrunableToolChars = 0
	for chars, want := range map[int]string{3999: prune.ReasonTrimmed, 4000: prune.ReasonCleared} {
		plan := prune.Prune(conversation(text(chars-1)), s, stateOf(2000), later)
		if plan.Reason != want {
			t.Errorf("%d characters: %q, want %q", chars, plan.Reason, want)
		}
	}
}

func TestSoftTrimLeavesMaxChars(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"x", "記", "\xff"} {
		messages := conversation(strings.Repeat(letter, 4000), strings.Repeat(letter, 4001))
		plan := prune.Prune(messages, prune.Defaults(), stateOf(5000), later)
		if diff := cmp.Diff([]int{4}, trimmed(plan.New)); diff != "" {
			t.Errorf("%q: %s", letter, diff)
		}
	}
}

func TestSoftTrimKeepsBothEnds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("頭", 1500) + strings.Repeat("中", 2000) + strings.Repeat("尾", 1500)
	plan := prune.Prune(conversation(long), prune.Defaults(), stateOf(4000), later)
	if len(plan.New) != 1 {
		t.Fatalf("%d edits", len(plan.New))
	}
	want := strings.Repeat("頭", 1500) + "\n[...]\n" + strings.Repeat("尾", 1500) +
		"\n\n[Trimmed: the first 1500 and the last 1500 of 5000 characters are shown.]"
	if diff := cmp.Diff(want, plan.New[0].Text); diff != "" {
		t.Error(diff)
	}
	if want := utf8.RuneCountInString(want) + 1; plan.After != want {
		t.Errorf("After is %d, want %d", plan.After, want)
	}
}

func TestMinPrunableToolCharsIsExact(t *testing.T) {
	t.Parallel()
	// Ten results of 4,000 characters, and one more that makes 50,000 or not.
	for last, want := range map[int]string{1999: prune.ReasonLittleToClear, 2000: prune.ReasonCleared} {
		results := []string{text(last)}
		for range 12 {
			results = append(results, text(4000))
		}
		if plan := prune.Prune(conversation(results...), prune.Defaults(), stateOf(10_000), later); plan.Reason != want {
			t.Errorf("48,000 and %d characters: %q, want %q", last, plan.Reason, want)
		}
	}
}

func TestHardClearStartsWithTheOldest(t *testing.T) {
	t.Parallel()
	var results []string
	for range 20 {
		results = append(results, text(4000))
	}
	s := prune.Defaults()
	s.HardClear.Placeholder = "gone"
	// 80,001 characters of 140,000; each that is cleared takes 3,996 away: below 70,000 after three.
	plan := prune.Prune(conversation(results...), s, stateOf(35_000), later)
	if diff := cmp.Diff([]int{2, 4, 6}, cleared(plan.New)); diff != "" {
		t.Error(diff)
	}
	if want := 80_001 - 3*3996; plan.After != want {
		t.Errorf("After is %d, want %d", plan.After, want)
	}
	if plan.New[0].Text != "gone" {
		t.Errorf("placeholder %q", plan.New[0].Text)
	}
}

func TestHardClearNeverMakesAResultLonger(t *testing.T) {
	t.Parallel()
	s := prune.Defaults()
	s.MinPrunableToolChars = 0
	plan := prune.Prune(conversation("ok", s.HardClear.Placeholder, text(4000)), s, stateOf(10), later)
	if diff := cmp.Diff([]int{6}, cleared(plan.New)); diff != "" {
		t.Error(diff)
	}
	s.SoftTrim = prune.SoftTrim{MaxChars: 10, Head: 5, Tail: 5}
	s.HardClear.Enabled = false
	if plan := prune.Prune(conversation(text(60)), s, stateOf(10), later); len(plan.New) > 0 {
		t.Errorf("60 characters became %d", utf8.RuneCountInString(plan.New[0].Text))
	}
}

func TestPruneCountsImagesAndInputs(t *testing.T) {
	t.Parallel()
	messages := conversation(text(5000), text(5000))
	messages[0].Images = make([]llm.Image, 2)
	messages[2].Images = make([]llm.Image, 1)
	messages[3].ToolCalls[0].Input = json.RawMessage(`{"q":"日本"}`)
	plan := prune.Prune(messages, prune.Defaults(), stateOf(10_000), later)
	if want := 1 + 10_000 + 3*8000 + 10; plan.Before != want {
		t.Errorf("Before is %d, want %d", plan.Before, want)
	}
	if diff := cmp.Diff([]int{4}, trimmed(plan.New)); diff != "" {
		t.Error(diff)
	}
}

func TestCheckNamesSettingsOutOfRange(t *testing.T) {
	t.Parallel()
	if err := prune.Defaults().Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*prune.Settings){
		"mode":                  func(s *prune.Settings) { s.Mode = "always" },
		"keepLastAssistants":    func(s *prune.Settings) { s.KeepLastAssistants = -1 },
		"softTrimRatio":         func(s *prune.Settings) { s.SoftTrimRatio = 30 },
		"hardClearRatio":        func(s *prune.Settings) { s.HardClearRatio = -0.5 },
		"minPrunableToolChars":  func(s *prune.Settings) { s.MinPrunableToolChars = -1 },
		"softTrim: sizes":       func(s *prune.Settings) { s.SoftTrim.Tail = -1 },
		"softTrim: head":        func(s *prune.Settings) { s.SoftTrim.Head = 4000 },
		"hardClear.placeholder": func(s *prune.Settings) { s.HardClear.Placeholder = "" },
	} {
		s := prune.Defaults()
		change(&s)
		if err := s.Check(); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
