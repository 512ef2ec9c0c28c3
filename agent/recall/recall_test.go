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

	"kioku/agent/prompt"
	"kioku/agent/recall"
	"kioku/memory"
)

// fake is a memory that answers after some time.
type fake struct {
	memory.Service
	answer memory.Answer
	err    error
	after  time.Duration
	deaf   bool // to its context

	mu    sync.Mutex
	asked []memory.Query
}

func (f *fake) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
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
		return memory.Answer{}, ctx.Err()
	}
}

// among opens memories by the ids of agents.
func among(memories map[string]*fake) func(string) memory.Service {
	return func(id string) memory.Service { return memories[id] }
}

// hit is a passage with that text.
func hit(text string, score float64) memory.Hit {
	return memory.Hit{Path: "memory/2026-01-02.md", StartLine: 1, EndLine: 9, SnippetStart: 3, SnippetEnd: 4, Score: score, Snippet: text, Date: "2026-01-02"}
}

func answer(hits ...memory.Hit) memory.Answer { return memory.Answer{Hits: hits, Mode: "hybrid"} }

// x is a request for the own memory.
var x = recall.Request{Message: "x", Agent: "main"}

// texts returns those of the memories.
func texts(o recall.Outcome) string {
	var all []string
	for _, m := range o.Memories {
		all = append(all, m.Agent+": "+m.Text)
	}
	return strings.Join(all, "; ")
}

func TestRecallReturnsTheBestOfAllMemories(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		own := &fake{answer: answer(hit("a", 0.9), hit("b", 0.5), hit("c", 0.4))}
		team := &fake{answer: answer(hit("b ", 0.7), hit("d", 0.6)), after: time.Second}
		min := 0.3
		r := recall.New(recall.Options{MinScore: &min}, among(map[string]*fake{"main": own, "team": team}))
		now := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
		o := r.Recall(t.Context(), recall.Request{Message: "where is a? ", Agent: "main", Shared: []string{"team", "main", "team"}, Now: now})
		if got := texts(o); got != "main: a; team: b ; team: d" || o.Took != time.Second {
			t.Errorf("%s after %v", got, o.Took)
		}
		want := []memory.Query{{Text: "where is a?", MaxResults: 6, MinScore: &min, Now: now, Kinds: memory.QueryKinds(), Clauses: true, MaxSensitivity: new(memory.Private)}}
		if diff := cmp.Diff(want, own.asked); diff != "" {
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

// A memory may put a hit first that has a lower score, because of the messages before; nothing of other memories changes that.
func TestRecallKeepsTheOrderOfEachMemory(t *testing.T) {
	t.Parallel()
	own := &fake{answer: answer(hit("meant", 0.5), hit("a", 0.9), hit("b", 0.8), hit("c", 0.7))}
	team := &fake{answer: answer(hit("d", 0.6), hit("e", 0.4))}
	r := recall.New(recall.Options{TopK: 3}, among(map[string]*fake{"main": own, "team": team}))
	said := []memory.Turn{{Speaker: memory.SpeakerUser, Text: "Marta called."}}
	if got := texts(r.Recall(t.Context(), recall.Request{Message: "And her brother?", Agent: "main", Context: said})); got != "main: meant; main: a; main: b" {
		t.Errorf("alone: %s", got)
	}
	if got := texts(r.Recall(t.Context(), recall.Request{Message: "And her brother?", Agent: "main", Shared: []string{"team"}, Context: said})); got != "team: d; main: meant; main: a" {
		t.Errorf("with another: %s", got)
	}
}

func TestRecallOfNothingGoodEnough(t *testing.T) {
	t.Parallel()
	degraded := []memory.Degradation{{Code: "no_embedder", Text: "by keywords only"}}
	own := &fake{answer: memory.Answer{Mode: "keyword", Degraded: degraded}}
	o := recall.New(recall.Options{TopK: 5}, among(map[string]*fake{"main": own})).Recall(t.Context(), x)
	if len(o.Memories) > 0 || own.asked[0].MaxResults != 10 || own.asked[0].MinScore != nil {
		t.Errorf("%+v asked %+v", o, own.asked)
	}
	if s := o.Searches[0]; s.Err != nil || s.Mode != "keyword" || !cmp.Equal(s.Degraded, degraded) {
		t.Errorf("%+v", s)
	}
}

func TestRecallReturnsAtItsDeadline(t *testing.T) {
	t.Parallel()
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
			r := recall.New(recall.Options{}, among(map[string]*fake{"main": c.slow, "team": {answer: answer(hit("quick", 0.5))}}))
			o := r.Recall(t.Context(), recall.Request{Message: "x", Agent: "main", Shared: []string{"team"}})
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

func TestRecallSkipsAMemoryThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		deaf := &fake{after: time.Minute, deaf: true, answer: answer(hit("a", 1))}
		r := recall.New(recall.Options{Deadline: time.Second}, among(map[string]*fake{"main": deaf}))
		r.Recall(t.Context(), x)
		synctest.Wait()
		if o := r.Recall(t.Context(), x); !errors.Is(o.Searches[0].Err, recall.ErrBusy) || o.Took != 0 || len(deaf.asked) != 1 {
			t.Errorf("%+v, asked %d times", o, len(deaf.asked))
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		deaf.after = 0
		if o := r.Recall(t.Context(), x); texts(o) != "main: a" {
			t.Errorf("%+v", o)
		}
	})
}

func TestRecallOfTwoSessionsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := recall.New(recall.Options{}, among(map[string]*fake{"main": {after: time.Second, answer: answer(hit("a", 1))}}))
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if o := r.Recall(t.Context(), x); texts(o) != "main: a" || o.Took != time.Second {
					t.Errorf("%+v", o)
				}
			})
		}
		both.Wait()
	})
}

func TestRecallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		o := recall.New(recall.Options{}, among(map[string]*fake{"main": {after: time.Hour}})).Recall(ctx, x)
		if o.Took != time.Millisecond || o.Searches[0].Err == nil {
			t.Errorf("%+v", o)
		}
	})
}

func TestRecallForAGroupSearchesOnlyWhatIsShared(t *testing.T) {
	t.Parallel()
	own, team := &fake{answer: answer(hit("private", 1))}, &fake{answer: answer(hit("common", 0.5))}
	r := recall.New(recall.Options{}, among(map[string]*fake{"main": own, "team": team}))
	// Whoever names the own memory among the shared ones does not make it one.
	o := r.Recall(t.Context(), recall.Request{Message: "x", Agent: "main", Shared: []string{"main", "team"}, Group: true})
	if texts(o) != "team: common" || len(own.asked) > 0 || len(o.Searches) != 1 {
		t.Errorf("%+v", o)
	}
	if o := r.Recall(t.Context(), recall.Request{Message: "x", Agent: "main", Shared: []string{"main"}, Group: true}); o.Skipped != recall.SkippedPrivate || o.Query != "" || len(own.asked) > 0 {
		t.Errorf("%+v", o)
	}
}

// Hazard F08: neither is a message searched for what was recalled into it, nor is a recalled block that has got into a
// memory recalled once more.
func TestRecallIgnoresWhatWasRecalled(t *testing.T) {
	t.Parallel()
	full := prompt.Assemble(prompt.Input{Recalled: []prompt.Memory{{Path: "a.md", StartLine: 1, Text: "old"}}}).Prompt
	block := full[strings.Index(full, "<recalled"):]
	block = block[:strings.LastIndex(block, `">`)+2]
	own := &fake{answer: answer(hit(block, 1), hit("new "+block, 0.5))}
	r := recall.New(recall.Options{}, among(map[string]*fake{"main": own}))
	if o := r.Recall(t.Context(), recall.Request{Message: block + "\nand now?", Agent: "main"}); own.asked[0].Text != "and now?" || texts(o) != "main: new" {
		t.Errorf("%q, %s", own.asked[0].Text, texts(o))
	}
	if o := r.Recall(t.Context(), recall.Request{Message: block, Agent: "main"}); o.Skipped != recall.SkippedBlank || len(own.asked) != 1 {
		t.Errorf("%+v", o)
	}
}

func TestQueryOfALongMessage(t *testing.T) {
	t.Parallel()
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

// Hazard C05: the transcripts of an agent whose notes are shared stay its own.
func TestRecallSearchesNoTranscriptsOfSharedAgents(t *testing.T) {
	t.Parallel()
	own, team := &fake{}, &fake{}
	r := recall.New(recall.Options{}, among(map[string]*fake{"main": own, "team": team}))
	r.Recall(t.Context(), recall.Request{Message: "x", Agent: "main", Shared: []string{"team"}})
	if diff := cmp.Diff([]string(nil), own.asked[0].Filter.Sources); diff != "" {
		t.Errorf("sources of the own memory (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"memory", "extra"}, team.asked[0].Filter.Sources); diff != "" {
		t.Errorf("sources of the shared memory (-want +got):\n%s", diff)
	}
}

// Hazard D14: a search runs in the process of all agents, on a goroutine of its own.
func TestRecallTurnsAPanicIntoAnError(t *testing.T) {
	t.Parallel()
	r := recall.New(recall.Options{}, func(string) memory.Service { return nil })
	o := r.Recall(t.Context(), x)
	if len(o.Searches) != 1 || o.Searches[0].Err == nil || !strings.Contains(o.Searches[0].Err.Error(), "panic") {
		t.Errorf("searches %+v", o.Searches)
	}
}

// Weak hits are never recalled into a prompt.
func TestRecallLeavesOutWeakHits(t *testing.T) {
	t.Parallel()
	weak := hit("a guess", 0.17)
	weak.Weak = true
	own := &fake{answer: answer(hit("a fact", 0.2), weak)}
	o := recall.New(recall.Options{}, among(map[string]*fake{"main": own})).Recall(t.Context(), x)
	if got := texts(o); got != "main: a fact" || o.Searches[0].Hits != 1 {
		t.Errorf("recalled %q, %+v", got, o.Searches)
	}
}

// Recall uses the same limit of results a file as a search: the one of the memory, which it does not replace.
func TestRecallTakesAsManyHitsOfAFileAsASearch(t *testing.T) {
	t.Parallel()
	own := &fake{answer: answer(hit("a", 0.9))}
	recall.New(recall.Options{}, among(map[string]*fake{"main": own})).Recall(t.Context(), x)
	if len(own.asked) != 1 || own.asked[0].MaxPerFile != 0 || own.asked[0].Granularity != "" {
		t.Errorf("asked %+v, want the defaults of the memory", own.asked)
	}
}
