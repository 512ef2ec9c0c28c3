package llm_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kioku/llm"
	"kioku/llm/llmtest"
)

// spending returns a model whose calls use 1,000 tokens each.
func spending(calls int) *llmtest.Script {
	step := llmtest.Say("ok")
	step.Response.Usage = llm.Usage{Input: 400, CacheRead: 500, Output: 100}
	s := &llmtest.Script{}
	for range calls {
		s.Steps = append(s.Steps, step)
	}
	return s
}

// limit returns m with limits.
func limit(t *testing.T, m llm.Model, l llm.Limits, now func() time.Time) llm.Model {
	t.Helper()
	limited, err := llm.Limit(m, l, now)
	if err != nil {
		t.Fatal(err)
	}
	return limited
}

func TestLimitOfTokens(t *testing.T) {
	t.Parallel()
	s := spending(10)
	m := limit(t, s, llm.Limits{TokensPerDay: 2500}, time.Now)
	for range 3 {
		if _, err := m.Generate(t.Context(), hi(), nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err := m.Generate(t.Context(), hi(), nil)
	if llm.KindOf(err) != llm.KindBudget || !strings.Contains(err.Error(), "llm.limits.tokensPerDay") || len(s.Requests()) != 3 {
		t.Errorf("%v after %d requests", err, len(s.Requests()))
	}
	if today := llm.Spent(m); today != 3000 {
		t.Errorf("spent %d", today)
	}
}

func TestLimitOfADayEndsAtMidnight(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 23, 0, 0, 0, time.UTC)
	at := now
	m := limit(t, spending(9), llm.Limits{TokensPerDay: 1000}, func() time.Time { return at })
	if _, err := m.Generate(t.Context(), hi(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), hi(), nil); llm.KindOf(err) != llm.KindBudget {
		t.Errorf("%v", err)
	}
	at = at.Add(2 * time.Hour)
	if _, err := m.Generate(t.Context(), hi(), nil); err != nil {
		t.Errorf("next day: %v", err)
	}
	if today := llm.Spent(m); today != 1000 {
		t.Errorf("spent %d", today)
	}
}

func TestLimitEstimatesACallWithoutUsage(t *testing.T) {
	t.Parallel()
	m := limit(t, &llmtest.Script{Steps: []llmtest.Step{llmtest.Say(strings.Repeat("word ", 80))}}, llm.Limits{TokensPerDay: 1 << 20}, time.Now)
	req := hi()
	req.System = strings.Repeat("記", 1000)
	if _, err := m.Generate(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if got := llm.Spent(m); got < 1050 || got > 1200 {
		t.Errorf("counted %d", got)
	}
}

func TestLimitCountsABrokenCallAndNotARefusedOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply  reply
		counts bool
	}{
		"broken":  {reply{header: eventStream, body: completionSSE(completions[:3]...)}, true},
		"refused": {reply{status: 503, body: "{}"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, stream := range []func(llm.Event){nil, func(llm.Event) {}} {
				_, m := serve(t, llm.Config{Provider: "openai", Limits: llm.Limits{TokensPerDay: 1 << 20}}, c.reply)
				if _, err := m.Generate(t.Context(), hi(), stream); err == nil {
					t.Fatal("no error")
				}
				if got := llm.Spent(m); (got > 0) != c.counts {
					t.Errorf("%d tokens", got)
				}
			}
		})
	}
}

func TestLimitWithManyCallers(t *testing.T) {
	t.Parallel()
	s := spending(1000)
	m := limit(t, s, llm.Limits{TokensPerDay: 10_000}, time.Now)
	var group sync.WaitGroup
	var refused atomic.Int32
	for range 100 {
		group.Go(func() {
			if _, err := m.Generate(t.Context(), hi(), nil); llm.KindOf(err) == llm.KindBudget {
				refused.Add(1)
			}
		})
	}
	group.Wait()
	if got := llm.Spent(m); got != 1000*len(s.Requests()) || got < 10_000 || int(refused.Load())+len(s.Requests()) != 100 {
		t.Errorf("%d tokens, %d requests, %d refused", got, len(s.Requests()), refused.Load())
	}
}

func TestLimitCountsACallUnderWay(t *testing.T) {
	t.Parallel()
	wait := make(chan struct{})
	entered := make(chan struct{})
	step := llmtest.Say("ok")
	step.Wait = wait
	m := limit(t, signalling{&llmtest.Script{Steps: []llmtest.Step{step}}, entered}, llm.Limits{TokensPerDay: 500}, time.Now)
	done := make(chan error)
	go func() {
		req := hi()
		req.System = strings.Repeat("x", 4000) // about 1,000 tokens
		_, err := m.Generate(t.Context(), req, nil)
		done <- err
	}()
	<-entered
	if _, err := m.Generate(t.Context(), hi(), nil); llm.KindOf(err) != llm.KindBudget {
		t.Errorf("%v", err)
	}
	close(wait)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// signalling closes entered when its model is asked.
type signalling struct {
	llm.Model
	entered chan struct{}
}

func (s signalling) Generate(ctx context.Context, req llm.Request, stream func(llm.Event)) (llm.Response, error) {
	close(s.entered)
	return s.Model.Generate(ctx, req, stream)
}
