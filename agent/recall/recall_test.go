package recall_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kioku/agent"
	"kioku/agent/prompt"
	"kioku/agent/recall"
)

// fake is a memory that answers after some time.
type fake struct {
	answer agent.Answer
	err    error
	after  time.Duration
	deaf   bool // to its context

	mu    sync.Mutex
	asked []agent.Query
}

func (f *fake) Search(ctx context.Context, q agent.Query) (agent.Answer, error) {
	f.mu.Lock()
	f.asked = append(f.asked, q)
	f.mu.Unlock()
	if f.deaf {
		time.Sleep(f.after)
		return f.answer, f.err
	}
	select {
	case <-time.After(f.after):
		return f.answer, f.err
	case <-ctx.Done():
		return agent.Answer{}, ctx.Err()
	}
}

// hit is a passage with that text.
func hit(text string, score float64) agent.Hit {
	return agent.Hit{Path: "memory/2026-01-02.md", StartLine: 1, EndLine: 9, SnippetStart: 3, SnippetEnd: 4, Score: score, Snippet: text, Date: "2026-01-02"}
}

func answer(hits ...agent.Hit) agent.Answer { return agent.Answer{Hits: hits, Mode: "hybrid"} }

// texts returns those of the memories.
func texts(o recall.Outcome) string {
	var all []string
	for _, m := range o.Memories {
		all = append(all, m.Agent+": "+m.Text)
	}
	return strings.Join(all, "; ")
}

func TestTheMessageIsSearchedAndTheBestOfAllMemoriesComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := &fake{answer: answer(hit("a", 0.9), hit("b", 0.5), hit("c", 0.4))}
		team := &fake{answer: answer(hit("b ", 0.7), hit("d", 0.6)), after: time.Second}
		min := 0.3
		r := recall.New(recall.Options{MinScore: &min}, recall.Source{Agent: "main", Memory: own}, recall.Source{Agent: "team", Memory: team, Shared: true})
		now := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
		o := r.Recall(t.Context(), "where is a? ", false, now)
		if got := texts(o); got != "main: a; team: b ; team: d" || o.Took != time.Second {
			t.Errorf("%s after %v", got, o.Took)
		}
		want := []agent.Query{{Text: "where is a?", MaxResults: 3, MinScore: &min, Now: now}}
		if diff := cmp.Diff([][]agent.Query{want, want}, [][]agent.Query{own.asked, team.asked}); diff != "" {
			t.Error(diff)
		}
		m := prompt.Memory{Agent: "team", Shared: true, Path: "memory/2026-01-02.md", StartLine: 3, EndLine: 4, Score: 0.6, Date: "2026-01-02", Text: "d"}
		if diff := cmp.Diff(m, o.Memories[2]); diff != "" {
			t.Error(diff)
		}
		searches := []recall.Search{{Agent: "main", Hits: 3, Mode: "hybrid"}, {Agent: "team", Hits: 2, Mode: "hybrid", Took: time.Second}}
		if diff := cmp.Diff(searches, o.Searches); diff != "" {
			t.Error(diff)
		}
	})
}

func TestNothingIsRecalledWhereNothingIsGoodEnough(t *testing.T) {
	degraded := []agent.Degradation{{Code: "no_embedder", Text: "by keywords alone"}}
	own := &fake{answer: agent.Answer{Mode: "keyword", Degraded: degraded}}
	o := recall.New(recall.Options{TopK: 5}, recall.Source{Agent: "main", Memory: own}).Recall(t.Context(), "x", false, time.Time{})
	if len(o.Memories) > 0 || own.asked[0].MaxResults != 5 || own.asked[0].MinScore != nil {
		t.Errorf("%+v asked %+v", o, own.asked)
	}
	if s := o.Searches[0]; s.Err != nil || s.Mode != "keyword" || !cmp.Equal(s.Degraded, degraded) {
		t.Errorf("%+v", s)
	}
}

func TestASlowOrFailingMemoryNeverHoldsUpTheTurn(t *testing.T) {
	down := errors.New("down")
	for name, c := range map[string]struct {
		slow *fake
		want error
		took time.Duration
	}{
		"slow":    {&fake{after: time.Hour}, context.DeadlineExceeded, 1500 * time.Millisecond},
		"deaf":    {&fake{after: time.Hour, deaf: true}, context.DeadlineExceeded, 1500 * time.Millisecond},
		"failing": {&fake{err: down}, down, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.slow.answer = answer(hit("late", 1))
			r := recall.New(recall.Options{}, recall.Source{Agent: "main", Memory: c.slow}, recall.Source{Agent: "team", Memory: &fake{answer: answer(hit("quick", 0.5))}})
			o := r.Recall(t.Context(), "x", false, time.Time{})
			if texts(o) != "team: quick" || o.Took != c.took {
				t.Errorf("%s: %s after %v", name, texts(o), o.Took)
			}
			if s := o.Searches[0]; !errors.Is(s.Err, c.want) || s.Hits != 0 || s.Took != c.took {
				t.Errorf("%s: %+v", name, s)
			}
			if s := o.Searches[1]; s.Err != nil || s.Hits != 1 {
				t.Errorf("%s: %+v", name, s)
			}
			time.Sleep(2 * time.Hour) // until the deaf one has ended
		})
	}
}

func TestAMemoryThatHangsIsNotSearchedASecondTimeMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := &fake{after: time.Minute, deaf: true, answer: answer(hit("a", 1))}
		r := recall.New(recall.Options{Deadline: time.Second}, recall.Source{Agent: "main", Memory: deaf})
		r.Recall(t.Context(), "x", false, time.Time{})
		synctest.Wait()
		if o := r.Recall(t.Context(), "x", false, time.Time{}); !errors.Is(o.Searches[0].Err, recall.ErrBusy) || o.Took != 0 || len(deaf.asked) != 1 {
			t.Errorf("%+v, asked %d times", o, len(deaf.asked))
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		deaf.after = 0
		if o := r.Recall(t.Context(), "x", false, time.Time{}); texts(o) != "main: a" {
			t.Errorf("%+v", o)
		}
	})
}

func TestTheEndOfTheTurnEndsTheSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		o := recall.New(recall.Options{}, recall.Source{Agent: "main", Memory: &fake{after: time.Hour}}).Recall(ctx, "x", false, time.Time{})
		if o.Took != time.Millisecond || o.Searches[0].Err == nil {
			t.Errorf("%+v", o)
		}
	})
}

func TestAGroupSearchesOnlyWhatIsShared(t *testing.T) {
	own, team := &fake{answer: answer(hit("private", 1))}, &fake{answer: answer(hit("common", 0.5))}
	r := recall.New(recall.Options{}, recall.Source{Agent: "main", Memory: own}, recall.Source{Agent: "team", Memory: team, Shared: true})
	if o := r.Recall(t.Context(), "x", true, time.Time{}); texts(o) != "team: common" || len(own.asked) > 0 || len(o.Searches) != 1 {
		t.Errorf("%+v", o)
	}
	if o := recall.New(recall.Options{}, recall.Source{Memory: own}).Recall(t.Context(), "x", true, time.Time{}); o.Skipped != recall.SkippedPrivate || len(own.asked) > 0 {
		t.Errorf("%+v", o)
	}
	if o := recall.New(recall.Options{}).Recall(t.Context(), "x", false, time.Time{}); o.Skipped != recall.SkippedNone {
		t.Errorf("%+v", o)
	}
}

// Hazard F08: neither is a message searched for what was recalled into it, nor is a recalled block that has got into a
// memory recalled once more.
func TestWhatWasRecalledIsNeitherSearchedNorRecalledAgain(t *testing.T) {
	full := prompt.Assemble(prompt.Input{Recalled: []prompt.Memory{{Path: "a.md", StartLine: 1, Text: "old"}}}).Prompt
	block := full[strings.Index(full, "<recalled"):]
	block = block[:strings.LastIndex(block, `">`)+2]
	own := &fake{answer: answer(hit(block, 1), hit("new "+block, 0.5))}
	r := recall.New(recall.Options{}, recall.Source{Agent: "main", Memory: own})
	if o := r.Recall(t.Context(), block+"\nand now?", false, time.Time{}); own.asked[0].Text != "and now?" || texts(o) != "main: new" {
		t.Errorf("%q, %s", own.asked[0].Text, texts(o))
	}
	if o := r.Recall(t.Context(), block, false, time.Time{}); o.Skipped != recall.SkippedBlank || len(own.asked) != 1 {
		t.Errorf("%+v", o)
	}
}

func TestALongMessageIsSearchedByItsBeginningAndItsEnd(t *testing.T) {
	for _, filler := range []string{"filling words ", "長い文章。", "x"} {
		q := recall.Query("First things. " + strings.Repeat(filler, 5000) + " What is the key?")
		if !strings.HasPrefix(q, "First things.") || !strings.HasSuffix(q, "What is the key?") || len(q) > 4096 || len(q) < 2048 {
			t.Errorf("%d bytes: %.30q", len(q), q)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.StringN(0, 40, 100).Draw(t, "text"), rapid.IntRange(0, 200).Draw(t, "n"))
		q := recall.Query(text)
		if len(q) > 4096 || !utf8.ValidString(q) || len(text) > 0 && strings.TrimSpace(text) != "" && q == "" {
			t.Fatalf("%q from %q", q, text)
		}
	})
}
