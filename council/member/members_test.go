package member_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kioku/agent/prompt"
	"kioku/council"
	"kioku/council/member"
	"kioku/llm"
	"kioku/llm/llmtest"
	"kioku/memory"
)

var roster = []string{"panda", "gorilla", "triceratops"}

// noon is the time of all questions.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// question returns the first round of a task for panda.
func question() member.Question {
	return member.Question{Member: "panda", Phase: member.PhaseOpinion, Cycle: 1, Round: 1, MaxRounds: 3, Attempt: 1, Roster: roster, Now: noon, Anonymise: true,
		Task: council.Task{ID: "task_1", Type: council.TypeTask, Title: "Move the archive", Description: "Move the archive to the new disk.", Author: council.Author{Kind: "owner"}}}
}

// ballot is a reply that keeps the contract.
const ballot = `{"node":"panda","round":1,"vote":"approve","opinion":"It is safe.","proposed_approach":"Copy, compare, switch.","concerns":["It takes a night."],"confidence":0.8,"evidence":[]}`

// scripted returns the members of a council whose panda is a script.
func scripted(t *testing.T, o member.Options, steps ...llmtest.Step) (*member.Members, *llmtest.Script) {
	t.Helper()
	script := &llmtest.Script{Steps: steps}
	o.Settings.Members = []council.Member{{Name: "panda", Model: "script"}}
	o.Model = func(string) (llm.Model, error) { return script, nil }
	o.Key = []byte("key")
	m, err := member.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m, script
}

// openRoot returns a folder for a council.
func openRoot(t *testing.T) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func TestAskReturnsABallot(t *testing.T) {
	t.Parallel()
	step := llmtest.Say("My vote:\n```json\n" + ballot + "\n```")
	step.Response.Usage = llm.Usage{Input: 900, Output: 100, CacheRead: 50}
	m, script := scripted(t, member.Options{}, step)
	q := question()
	q.RecallDegraded = true
	got, err := m.Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	sure := 0.8
	usage := council.Usage{Calls: 1, TokensIn: 950, TokensOut: 100}
	want := &council.Ballot{Node: "panda", Round: 1, Attempt: 1, Vote: council.VoteApprove, Opinion: "It is safe.", ProposedApproach: "Copy, compare, switch.",
		Concerns: []string{"It takes a night."}, Timestamp: noon, Confidence: &sure, Recall: "degraded", Model: "script", Usage: usage}
	if diff := cmp.Diff(want, got.Ballot, cmpopts.IgnoreFields(council.Ballot{}, "PromptSHA256")); diff != "" {
		t.Errorf("%s", diff)
	}
	if got.Calls != 1 || got.Usage != usage || len(got.Ballot.PromptSHA256) != 64 {
		t.Errorf("calls %d, usage %+v, hash %q", got.Calls, got.Usage, got.Ballot.PromptSHA256)
	}
	req := script.Requests()[0]
	if req.CachedBytes != len(req.System) || !json.Valid(req.Schema) || !req.Unchecked || req.MaxTokens == 0 {
		t.Errorf("request %+v", req)
	}
}

func TestAskKeepsOnlyEvidenceThatWasShown(t *testing.T) {
	t.Parallel()
	reply := strings.Replace(ballot, `"evidence":[]`, `"evidence":["MEMORY.md#L3","memory/decisions/x.md#L1","secret.md#L9"]`, 1)
	m, _ := scripted(t, member.Options{}, llmtest.Say(reply))
	q := question()
	q.Recalled = []prompt.Memory{{Path: "MEMORY.md", StartLine: 3, EndLine: 3, Text: "the disk is new"}}
	got, err := m.Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"MEMORY.md#L3"}, got.Ballot.Evidence); diff != "" {
		t.Errorf("%s", diff)
	}
}

// The second request quotes what was wrong with the first reply.
func TestAskCorrectsOnce(t *testing.T) {
	t.Parallel()
	m, script := scripted(t, member.Options{}, llmtest.Say(strings.Replace(ballot, `"approve"`, `"yes"`, 1)), llmtest.Say(ballot))
	counted := 0
	q := question()
	q.Counting = func() error { counted++; return nil }
	got, err := m.Ask(t.Context(), q)
	if err != nil || got.Ballot.Vote != council.VoteApprove || got.Calls != 2 || counted != 2 {
		t.Fatalf("%+v, %d counted, %v", got, counted, err)
	}
	messages := script.Requests()[1].Messages
	if last := messages[len(messages)-1]; len(messages) != 3 || !strings.Contains(last.Text, `"vote" must be "approve" or`) {
		t.Errorf("messages %+v", messages)
	}
}

func TestAskAbstainsByKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps []llmtest.Step
		q     func(*member.Question)
		kind  string
		calls int
	}{
		"twice malformed": {steps: []llmtest.Step{llmtest.Say("I reject it"), llmtest.Say("I still reject it")}, kind: council.AbstainMalformed, calls: 2},
		"empty":           {steps: []llmtest.Step{llmtest.Say(""), llmtest.Say("")}, kind: council.AbstainMalformed, calls: 2},
		"cut off": {steps: []llmtest.Step{{Response: llm.Response{Message: llm.Message{Text: ballot}, Stop: llm.StopLength}},
			{Response: llm.Response{Message: llm.Message{Text: ballot}, Stop: llm.StopLength}}}, kind: council.AbstainMalformed, calls: 2},
		"refusal":     {steps: []llmtest.Step{{Response: llm.Response{Message: llm.Message{Text: ballot}, Stop: llm.StopRefusal}}}, kind: council.AbstainRecused, calls: 1},
		"unavailable": {steps: []llmtest.Step{llmtest.Fail(llm.KindUnavailable)}, kind: council.AbstainError, calls: 1},
		"no key":      {steps: []llmtest.Step{llmtest.Fail(llm.KindAuth)}, kind: council.AbstainError, calls: 1},
		"limit":       {steps: []llmtest.Step{llmtest.Fail(llm.KindBudget)}, kind: council.AbstainBudget, calls: 1},
		"panic":       {steps: []llmtest.Step{{Check: func(llm.Request) error { panic("boom") }}}, kind: council.AbstainError, calls: 1},
		"not counted": {q: func(q *member.Question) { q.Counting = func() error { return errors.New("disk full") } }, kind: council.AbstainError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, script := scripted(t, member.Options{}, c.steps...)
			q := question()
			if c.q != nil {
				c.q(&q)
			}
			got, err := m.Ask(t.Context(), q)
			if member.KindOf(err) != c.kind || got.Ballot != nil || got.Calls != c.calls || len(script.Requests()) != c.calls {
				t.Errorf("kind %q, reply %+v, %v", member.KindOf(err), got, err)
			}
		})
	}
}

// A member whose time is up abstains; one whose council is stopped does not.
func TestAskTellsATimeoutFromAStop(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	m, _ := scripted(t, member.Options{}, llmtest.Step{Wait: never}, llmtest.Step{Wait: never})
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := m.Ask(late, question()); member.KindOf(err) != council.AbstainTimeout {
		t.Errorf("after the deadline: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := m.Ask(stopped, question()); member.KindOf(err) != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("after a stop: %v", err)
	}
}

func TestAskRefusesQuestionsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	m, script := scripted(t, member.Options{})
	for name, change := range map[string]func(*member.Question){
		"phase":           func(q *member.Question) { q.Phase = "vote" },
		"stranger":        func(q *member.Question) { q.Member = "lion" },
		"no decision":     func(q *member.Question) { q.Phase = member.PhaseAnnouncement },
		"itself":          func(q *member.Question) { q.Phase, q.Target = member.PhaseEvaluation, "panda" },
		"no action":       func(q *member.Question) { q.Phase, q.Decision = member.PhaseAction, &council.Decision{} },
		"no suggestion":   func(q *member.Question) { q.Phase = member.PhaseSuggestion },
		"nothing to test": func(q *member.Question) { q.Phase, q.Decision = member.PhaseReview, &council.Decision{} },
	} {
		t.Run(name, func(t *testing.T) {
			q := question()
			change(&q)
			_, err := m.Ask(t.Context(), q)
			if _, ok := errors.AsType[*memory.InputError](err); !ok {
				t.Errorf("%v", err)
			}
		})
	}
	if n := len(script.Requests()); n > 0 {
		t.Errorf("%d requests", n)
	}
}

// A member reads with its tools, at most six times, and has no others.
func TestAskLetsAMemberRead(t *testing.T) {
	t.Parallel()
	var steps []llmtest.Step
	for range 7 {
		steps = append(steps, llmtest.Call("1", "memory_search", map[string]string{"query": "disk"}))
	}
	steps[1] = llmtest.Call("2", "memory_append", map[string]string{"text": "I was here"})
	steps[6] = llmtest.Say(ballot)
	m, script := scripted(t, member.Options{}, steps...)
	q := question()
	q.Tools = []llm.Tool{{Name: "memory_search"}, {Name: "memory_append"}}
	var called []string
	q.Call = func(_ context.Context, call llm.ToolCall) (string, bool) {
		called = append(called, call.Name)
		return "the disk\u202e is new", false
	}
	got, err := m.Ask(t.Context(), q)
	if err != nil || got.Ballot == nil || got.Calls != 7 {
		t.Fatalf("%+v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"memory_search", "memory_search", "memory_search", "memory_search", "memory_search"}, called); diff != "" {
		t.Errorf("%s", diff)
	}
	requests := script.Requests()
	if first, last := requests[0], requests[6]; len(first.Tools) != 1 || first.Schema != nil || last.Tools != nil || last.Schema == nil {
		t.Errorf("tools %v and %v", first.Tools, last.Tools)
	}
	if result := requests[1].Messages[2].Text; !strings.Contains(result, `the disk\u{202e} is new`) || !strings.HasPrefix(result, "<council-data ") {
		t.Errorf("result %q", result)
	}
	if text := requests[6].Messages[0].Text; len(requests[6].Messages) != 1 || strings.Count(text, `the disk\u{202e} is new`) != 5 {
		t.Errorf("the last request does not have what was looked up: %s", text)
	}
}

// A reply that breaks the contract is asked for again without more calls than the turn has left.
func TestAskCountsLookupsOfBothTries(t *testing.T) {
	t.Parallel()
	look := llmtest.Call("1", "memory_get", map[string]string{"path": "MEMORY.md"})
	steps := []llmtest.Step{look, look, look, look, llmtest.Say("I reject it"), look, look, llmtest.Say(ballot)}
	m, script := scripted(t, member.Options{}, steps...)
	q := question()
	q.Tools = []llm.Tool{{Name: "memory_get"}}
	calls := 0
	q.Call = func(context.Context, llm.ToolCall) (string, bool) { calls++; return "nothing", true }
	got, err := m.Ask(t.Context(), q)
	if err != nil || got.Ballot == nil || calls != 6 || len(script.Requests()) != 8 {
		t.Errorf("%d lookups, %d requests, %+v, %v", calls, len(script.Requests()), got.Ballot, err)
	}
	if !strings.Contains(script.Requests()[0].Messages[0].Text, "at most 6 calls of tools") {
		t.Error("the prompt does not tell of the tools")
	}
}

// Those who have tools of their own, or none, are asked without: their prompt does not speak of tools, and their schema is there.
func TestAskGivesToolsOnlyToModels(t *testing.T) {
	t.Parallel()
	set := council.Settings{Members: []council.Member{{Name: "panda", Model: council.ModelEcho}}}
	m, err := member.New(member.Options{Settings: set})
	if err != nil {
		t.Fatal(err)
	}
	q := question()
	q.Tools = []llm.Tool{{Name: "memory_search"}}
	q.Call = func(context.Context, llm.ToolCall) (string, bool) { t.Error("a call"); return "", true }
	if got, err := m.Ask(t.Context(), q); err != nil || got.Ballot == nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFamily(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{"claude-sonnet-4-5": "anthropic", "anthropic/claude-x": "anthropic", "gpt-5": "openai", "qwen3:8b": "alibaba",
		"meta-llama/Llama-3.3-70B": "meta", "hf.co/google/gemma-3": "google", "/usr/local/bin/claude": "anthropic", "anthropic:claude-x": "anthropic",
		"ollama:qwen3:8b": "alibaba", "remote:gpt-5": "openai", "my-model": council.UnknownFamily, "": council.UnknownFamily} {
		if got := council.FamilyOf(model); got != want {
			t.Errorf("%q is of %q, want %q", model, got, want)
		}
	}
}

func TestNewNamesTheMemberThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	_, err := member.New(member.Options{Settings: council.Settings{Members: []council.Member{{Name: "panda", Model: "claude-x"}}}})
	if input, ok := errors.AsType[*memory.InputError](err); !ok || input.Field != "members.panda" {
		t.Errorf("%v", err)
	}
}

// The article's ballots have a time: what the contract does not name does not count, and is logged.
func TestAskLeavesFurtherFieldsOut(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	m, script := scripted(t, member.Options{Logs: member.OpenLogs(root, func() time.Time { return noon })},
		llmtest.Say(strings.Replace(ballot, `"round":1`, `"round":1,"timestamp":"2026-02-10T12:01:30Z","status":"decided"`, 1)))
	got, err := m.Ask(t.Context(), question())
	if err != nil || got.Ballot.Timestamp != noon || len(script.Requests()) != 1 {
		t.Fatalf("%+v, %v", got.Ballot, err)
	}
	log, err := root.ReadFile("logs/panda/" + noon.Format(time.DateOnly) + ".jsonl")
	if err != nil || !strings.Contains(string(log), "further fields, which do not count: status, timestamp") {
		t.Errorf("%v: %s", err, log)
	}
}

func TestLogsContainBrokenRepliesForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	key := "ghp_" + "R7xQ2mVb9Kd4LzT1wYc8Nf5HsJ3pGu6AeXo0"
	root := openRoot(t)
	logs := member.OpenLogs(root, func() time.Time { return noon })
	m, _ := scripted(t, member.Options{Logs: logs}, llmtest.Say("I reject it, with "+key), llmtest.Say(ballot))
	if _, err := m.Ask(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root.Name(), "logs/panda/2026-11-20.jsonl")
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(name)
	if text := string(raw); info.Mode().Perm() != 0o600 || !strings.Contains(text, "I reject it") || strings.Contains(text, key) || strings.Count(text, "\n") != 2 {
		t.Errorf("%v\n%s", info.Mode(), text)
	}
	later := member.OpenLogs(root, func() time.Time { return noon.AddDate(0, 0, 31) })
	if err := later.Sweep(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log is still there after 31 days: %v", err)
	}
}
