package member_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/council"
	"kioku/council/member"
	"kioku/llm"
	"kioku/llm/llmtest"
)

// openBudget returns the budget of a council.
func openBudget(t *testing.T, root *os.Root, s council.Settings, now func() time.Time) *member.Budget {
	t.Helper()
	b, err := member.OpenBudget(root, s, now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tokensToday returns the tokens of the day.
func tokensToday(b *member.Budget) int {
	u := b.Today()
	return u.TokensIn + u.TokensOut
}

// used returns a step that has cost tokens.
func used(input, output int) llmtest.Step {
	step := llmtest.Say(ballot)
	step.Response.Usage = llm.Usage{Input: input, Output: output}
	return step
}

func TestBudgetOfATaskRefusesTheCallBeforeItIsMade(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return noon }
	budget := openBudget(t, openRoot(t), council.Settings{MaxTokensPerTask: 20_000}, now)
	m, script := scripted(t, member.Options{Budget: budget}, used(15_000, 100), used(1, 1))
	if _, err := m.Ask(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	_, err := m.Ask(t.Context(), question())
	if member.KindOf(err) != council.AbstainBudget || !errors.Is(err, member.ErrBudget) || !strings.Contains(err.Error(), "maxTokensPerTask") {
		t.Errorf("%v", err)
	}
	if n := len(script.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	other := question()
	other.Task.ID = "task_2"
	if _, err := m.Ask(t.Context(), other); err != nil {
		t.Errorf("another task has no budget: %v", err)
	}
}

func TestBudgetOfADaySurvivesARestartAndEndsAtMidnight(t *testing.T) {
	t.Parallel()
	root, clock := openRoot(t), noon
	now := func() time.Time { return clock }
	s := council.Settings{MaxTokensPerDay: 30_000}
	m, _ := scripted(t, member.Options{Budget: openBudget(t, root, s, now)}, used(25_000, 1_000))
	if _, err := m.Ask(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	again := openBudget(t, root, s, now)
	if spent := tokensToday(again); spent != 26_000 {
		t.Errorf("after a restart %d", spent)
	}
	m, _ = scripted(t, member.Options{Budget: openBudget(t, root, council.Settings{MaxTokensPerTask: 30_000}, now)}, used(1, 1))
	if _, err := m.Ask(t.Context(), question()); member.KindOf(err) != council.AbstainBudget {
		t.Errorf("the task goes on, though it has cost 26,000 of 30,000 tokens: %v", err)
	}
	m, _ = scripted(t, member.Options{Budget: again}, used(1, 1))
	if _, err := m.Ask(t.Context(), question()); member.KindOf(err) != council.AbstainBudget {
		t.Errorf("%v", err)
	}
	clock = clock.Add(12 * time.Hour)
	if _, err := m.Ask(t.Context(), question()); err != nil {
		t.Errorf("the next day: %v", err)
	}
}

// What a call costs by the price table is in its line and in the ballot, and is known after a restart.
func TestBudgetCountsMoney(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	now := func() time.Time { return noon }
	s := council.Settings{Prices: map[string]council.Price{"script": {Input: 3, Output: 15, CacheRead: 0.3}}}
	step := used(1_000_000, 100_000)
	step.Response.Usage.CacheRead = 1_000_000
	s.MaxTokensPerTask, s.MaxTokensPerDay = 9_000_000, 9_000_000
	m, _ := scripted(t, member.Options{Budget: openBudget(t, root, s, now)}, step)
	reply, err := m.Ask(t.Context(), question())
	if err != nil {
		t.Fatal(err)
	}
	for who, got := range map[string]float64{"the ballot": reply.Ballot.Usage.Cost, "the day after a restart": openBudget(t, root, s, now).Today().Cost} {
		if want := 3 + 1.5 + 0.3; got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%s has cost %v dollars, want %v", who, got, want)
		}
	}
}

// Members that are asked at the same time cannot spend more than there is together.
func TestBudgetHoldsForParallelMembers(t *testing.T) {
	t.Parallel()
	const limit = 40_000
	for _, set := range []council.Settings{{MaxTokensPerTask: limit}, {MaxTokensPerDay: limit}} {
		askInParallel(t, openBudget(t, openRoot(t), set, func() time.Time { return noon }), limit)
	}
}

// askInParallel asks twenty times at once, for more than the limit.
func askInParallel(t *testing.T, budget *member.Budget, limit int) {
	t.Helper()
	var steps []llmtest.Step
	for range 20 {
		steps = append(steps, used(9_000, 200))
	}
	m, script := scripted(t, member.Options{Budget: budget}, steps...)
	var group sync.WaitGroup
	for range len(steps) {
		group.Go(func() { _, _ = m.Ask(t.Context(), question()) })
	}
	group.Wait()
	if u := budget.Today(); u.TokensIn+u.TokensOut > limit || u.Calls != len(script.Requests()) || u.Calls < 2 {
		t.Errorf("%+v of %d tokens, %d requests", u, limit, len(script.Requests()))
	}
}

// A process that is killed in a call has paid for it: the reservation is on the disk before the call.
func TestBudgetCountsACallThatNobodyFinished(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	now := func() time.Time { return noon }
	var during int
	step := used(10, 10)
	step.Check = func(llm.Request) error {
		during = tokensToday(openBudget(t, root, council.Settings{}, now))
		return nil
	}
	budget := openBudget(t, root, council.Settings{}, now)
	m, _ := scripted(t, member.Options{Budget: budget}, step)
	if _, err := m.Ask(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	if after := tokensToday(openBudget(t, root, council.Settings{}, now)); during < 8192 || after != 20 {
		t.Errorf("%d tokens during the call and %d after it", during, after)
	}
}

// A provider that refuses a request has not answered it; one that breaks off may have.
func TestBudgetChargesNothingForARefusal(t *testing.T) {
	t.Parallel()
	for kind, free := range map[string]bool{llm.KindRateLimit: true, llm.KindAuth: true, llm.KindUnavailable: false} {
		budget := openBudget(t, openRoot(t), council.Settings{}, func() time.Time { return noon })
		m, _ := scripted(t, member.Options{Budget: budget}, llmtest.Fail(kind))
		if _, err := m.Ask(t.Context(), question()); member.KindOf(err) != council.AbstainError {
			t.Fatal(err)
		}
		if spent := tokensToday(budget); (spent == 0) != free || spent >= 8192 {
			t.Errorf("%s: %d tokens", kind, spent)
		}
	}
}

func TestBudgetSkipsATornLine(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	now := func() time.Time { return noon }
	m, _ := scripted(t, member.Options{Budget: openBudget(t, root, council.Settings{}, now)}, used(10, 10), used(5, 5))
	if _, err := m.Ask(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(root.Name(), "host_metrics/token_usage.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"call_id":"x","input_tok`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := m.Ask(t.Context(), question()); err != nil {
		t.Fatal(err)
	}
	if spent := tokensToday(openBudget(t, root, council.Settings{}, now)); spent != 30 {
		t.Errorf("%d tokens", spent)
	}
}

func TestEstimateTaskGrowsWithMembersRoundsAndText(t *testing.T) {
	t.Parallel()
	s := council.Settings{Members: []council.Member{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	short := member.EstimateTask(s, council.Task{Description: "Move it."})
	if short.CallsLow != 4 || short.CallsHigh != 10 || short.TokensLow < 4*3000 || short.TokensHigh <= 2*short.TokensLow || short.CostHigh != 0 {
		t.Errorf("%+v", short)
	}
	if long := member.EstimateTask(s, council.Task{Description: strings.Repeat("Move it. ", 2000)}); long.TokensLow < short.TokensLow+4*3000 {
		t.Errorf("%+v for a long task, %+v for a short one", long, short)
	}
	s.Members[0].Model, s.Members[1].Model, s.Members[2].Model = "anthropic:big", "openai:small", "remote:small"
	s.Prices = map[string]council.Price{"big": {Input: 3, Output: 15}}
	if e := member.EstimateTask(s, council.Task{}); e.CostLow != 0 || e.CostHigh != 0 {
		t.Errorf("a model has no price, and the estimate is %+v", e)
	}
	s.Prices["small"] = council.Price{Input: 0.3, Output: 1}
	if e := member.EstimateTask(s, council.Task{}); e.CostLow < 0.01 || e.CostHigh <= 2*e.CostLow || e.CostHigh > 1 {
		t.Errorf("with prices %+v", e)
	}
}
