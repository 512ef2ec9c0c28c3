package derive_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"kioku/llm"
)

// robbed is a model during whose first call another worker takes the job.
type robbed struct {
	*fakeModel
	rob   func()
	ended bool // the call was ended before its answer
}

// Generate implements llm.Model.
func (m *robbed) Generate(ctx context.Context, req llm.Request, tell func(llm.Event)) (llm.Response, error) {
	if m.calls() == 0 {
		m.rob()
	}
	select {
	case <-ctx.Done():
		m.ended = true
		return llm.Response{}, ctx.Err()
	case <-time.After(10 * time.Minute):
		return m.fakeModel.Generate(ctx, req, tell)
	}
}

// A worker that has lost its lease ends its call, and leaves the job to the other one.
func TestALostLeaseEndsTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := openWorld(&world{t: t, folder: t.TempDir(), state: t.TempDir(), bubbled: true}, "memory/2026-11-20.md", day("Well, Ana lives in Porto."))
		m := &robbed{fakeModel: &fakeModel{}}
		m.rob = func() {
			job, err := w.memory.Derived().Claim(t.Context(), "another", time.Now().Add(time.Hour), time.Hour, false)
			if err != nil || job == nil {
				t.Errorf("the job cannot be taken: %v, %v", job, err)
			}
		}
		w.opt.Model = m
		w.serve()
		w.derive()
		if st := w.status(); !m.ended || st.Problem != "" || len(st.Parked) > 0 {
			t.Errorf("ended %v: %+v", m.ended, st)
		}
		jobs, err := w.memory.Derived().Jobs(t.Context(), "running", 10)
		if err != nil || len(jobs) != 1 || jobs[0].Owner != "another" {
			t.Errorf("jobs %+v, %v", jobs, err)
		}
	})
}
