package derive_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kioku/derive"
	"kioku/llm"
	"kioku/memory"
)

// Acceptance check 4: what is away for hours, whatever it says meanwhile, parks nothing, and is asked again by itself.
func TestAcceptance04ComesBackWithTheServer(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{
		"refused":      &llm.Error{Kind: llm.KindUnavailable, Message: "connection refused"},
		"overloaded":   &llm.Error{Kind: llm.KindRateLimit, Message: "429"},
		"wrong key":    &llm.Error{Kind: llm.KindAuth, Message: "401"},
		"without kind": errors.New("no route to host"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var away atomic.Bool
				away.Store(true)
				m := &fakeModel{}
				m.answer = func(_ int, req llm.Request) (llm.Response, error) {
					if away.Load() {
						return llm.Response{}, failure
					}
					return say(reading(req)), nil
				}
				w := openWorld(&world{t: t, folder: t.TempDir(), state: t.TempDir(), bubbled: true}, "memory/1999-12-31.md", day("Now Ana lives in Porto."))
				w.withModel(m, func(o *derive.Options) { o.Settle = -1 })
				worker(t, w, 5*time.Hour+30*time.Minute)
				if st := w.status(); len(st.Parked) > 0 || st.Problem == "" || st.TokensToday > 0 || m.calls() < 5 || m.calls() > 60 {
					t.Errorf("after hours without a server: %d calls, problem %q, parked %+v", m.calls(), st.Problem, st.Parked)
				}
				away.Store(false)
				worker(t, w, 2*time.Hour)
				if st := w.status(); !w.hasFact("lives_in", "Porto") || len(st.Parked) > 0 || st.Problem != "" {
					t.Errorf("with the server back: facts %q, problem %q", w.sentences(memory.KindFact), st.Problem)
				}
				w.memory.Close()
			})
		})
	}
}

// What always fails on the way holds nothing else up, and is tried again less and less often.
func TestAcceptance04WhatFailsGoesBehindTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{}
		var poisoned atomic.Int64
		m.answer = func(_ int, req llm.Request) (llm.Response, error) {
			if strings.Contains(bodyOf(req), "Zed") {
				poisoned.Add(1)
				return llm.Response{}, &llm.Error{Kind: llm.KindUnavailable, Message: "500"}
			}
			return say(reading(req)), nil
		}
		w := openWorld(&world{t: t, folder: t.TempDir(), state: t.TempDir(), bubbled: true},
			"memory/1999-12-30.md", day("So Zed lives in Rome."), "memory/1999-12-31.md", day("Now Ana lives in Porto."))
		w.withModel(m, func(o *derive.Options) { o.Settle = -1 })
		worker(t, w, 10*time.Minute)
		if !w.hasFact("lives_in", "Porto") {
			t.Errorf("the episode behind it was not read: %q", w.sentences(memory.KindFact))
		}
		worker(t, w, 8*time.Hour)
		if n := poisoned.Load(); n < 5 || n > 60 {
			t.Errorf("it was tried %d times in eight hours", n)
		}
		w.memory.Close()
	})
}

// A request that the server refuses is parked, with what the server said.
func TestAcceptance04ParksWhatIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{answer: func(int, llm.Request) (llm.Response, error) {
			return llm.Response{}, &llm.Error{Kind: llm.KindInput, Message: "400: not that"}
		}}
		w := openWorld(&world{t: t, folder: t.TempDir(), state: t.TempDir(), bubbled: true}, "memory/1999-12-31.md", day("Now Ana lives in Porto."))
		w.withModel(m, func(o *derive.Options) { o.Settle = -1 })
		worker(t, w, 2*time.Hour)
		st := w.status()
		if len(st.Parked) == 0 || st.Parked[0].ErrorClass != "refused" || !strings.Contains(st.Parked[0].Message, "not that") {
			t.Errorf("parked: %+v", st.Parked)
		}
		w.memory.Close()
	})
}

// Who has mended what was wrong need not wait: a run tries at once.
func TestRunTriesAtOnceWhatHasFailed(t *testing.T) {
	t.Parallel()
	m := &fakeModel{answer: func(int, llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Kind: llm.KindAuth, Message: "the key is wrong"}
	}}
	w := newWorld(t, "memory/2026-11-21.md", day("Now Ana lives in Porto.")).withModel(m)
	w.derive()
	m.answer = nil
	w.derive()
	if !w.hasFact("lives_in", "Porto") {
		t.Errorf("facts after the key was mended: %q", w.sentences(memory.KindFact))
	}
}

// Another process is told that the model is away and when it is asked again, until it was reached.
func TestStatusTellsThatTheModelIsAway(t *testing.T) {
	t.Parallel()
	away := true
	m := &fakeModel{}
	m.answer = func(_ int, req llm.Request) (llm.Response, error) {
		if away {
			return llm.Response{}, &llm.Error{Kind: llm.KindUnavailable, Message: "connection refused"}
		}
		return say(reading(req)), nil
	}
	w := newWorld(t, "memory/2026-11-21.md", day("Now Ana lives in Porto.")).withModel(m)
	w.derive()
	w.reopen(false)
	w.withModel(m)
	if st := w.status(); !strings.Contains(st.Problem, "connection refused") || !st.NextTry.After(monday) {
		t.Errorf("problem %q, next try %v", st.Problem, st.NextTry)
	}
	away = false
	w.derive()
	w.reopen(false)
	w.withModel(m)
	if st := w.status(); st.Problem != "" || !st.NextTry.IsZero() {
		t.Errorf("with the server back: problem %q, next try %v", st.Problem, st.NextTry)
	}
}
