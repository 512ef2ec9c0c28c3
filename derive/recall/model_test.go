package recall_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/recall"
	"kioku/memory"
)

// hangs waits for the end of ctx, whatever the question.
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// Acceptance 15: a language model that hangs costs 700 ms, and the answer is that of the rules.
func TestSearchAcceptance15DoesNotWaitForAModelThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &engine{notes: brothers(), least: 0.2, slow: 10 * time.Millisecond}
		r := recall.New(e, &derived{}, recall.Options{
			Expand: func(ctx context.Context, _ string, _ []memory.Turn, _ time.Time) ([]string, error) {
				return nil, hangs(ctx)
			},
			Rerank: func(ctx context.Context, _ string, _ []memory.Turn, _ []memory.Hit) ([]int, error) {
				return nil, hangs(ctx)
			},
		})
		begin := time.Now()
		a := search(t, r, memory.Query{Text: "And her brother?", Context: turns("Did Marta call?"), MaxResults: 8})
		if took := time.Since(begin); took > 1600*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if len(a.Hits) == 0 || !strings.HasPrefix(a.Hits[0].Snippet, "Paulo") {
			t.Errorf("found %q", texts(a))
		}
		if diff := cmp.Diff([]string{memory.ExpandTimeout, memory.RerankTimeout}, codes(a)); diff != "" {
			t.Error(diff)
		}
	})
}

// A model that does not end when it is told to costs no more.
func TestSearchGivesUpAModelThatIsDeaf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := recall.New(&engine{notes: brothers(), least: 0.2}, &derived{}, recall.Options{
			Expand: func(context.Context, string, []memory.Turn, time.Time) ([]string, error) {
				time.Sleep(time.Hour)
				return []string{"late"}, nil
			},
		})
		begin := time.Now()
		a := search(t, r, memory.Query{Text: "And her brother?", Context: turns("Did Marta call?")})
		if took := time.Since(begin); took > time.Second || !slices.Contains(codes(a), memory.ExpandTimeout) {
			t.Errorf("took %v, degraded %q", took, codes(a))
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestSearchUsesTheWordingsOfTheModelOnce(t *testing.T) {
	t.Parallel()
	e, asked := &engine{notes: brothers(), least: 0.2}, 0
	r := recall.New(e, &derived{}, recall.Options{Expand: func(context.Context, string, []memory.Turn, time.Time) ([]string, error) {
		asked++
		return []string{"Paulo accordions", strings.Repeat("x", 300)}, nil
	}})
	for range 2 {
		a := search(t, r, memory.Query{Text: "And the musical one?", Context: turns("Let us talk about families.")})
		if len(a.Hits) == 0 || !strings.HasPrefix(a.Hits[0].Snippet, "Paulo") {
			t.Errorf("found %q", texts(a))
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times; the answer is to be cached", asked)
	}
	if slices.ContainsFunc(e.asked, func(q memory.Query) bool { return strings.HasPrefix(q.Text, "xxx") }) {
		t.Error("a wording of 300 characters was searched for")
	}
}

func TestSearchAsksTheModelAgainInAnotherContext(t *testing.T) {
	t.Parallel()
	asked := 0
	r := recall.New(&engine{notes: brothers(), least: 0.2}, &derived{}, recall.Options{Expand: func(context.Context, string, []memory.Turn, time.Time) ([]string, error) {
		asked++
		return nil, nil
	}})
	for _, said := range []string{"Let us talk about families.", "Let us talk about boats.", "Let us talk about families."} {
		search(t, r, memory.Query{Text: "And the musical one?", Context: turns(said)})
	}
	if asked != 2 {
		t.Errorf("asked %d times in two contexts", asked)
	}
}

func TestSearchSaysThatAModelFailed(t *testing.T) {
	t.Parallel()
	for name, expand := range map[string]func(context.Context, string, []memory.Turn, time.Time) ([]string, error){
		"an error": func(context.Context, string, []memory.Turn, time.Time) ([]string, error) {
			return nil, errors.New("not JSON")
		},
		"a panic": func(context.Context, string, []memory.Turn, time.Time) ([]string, error) { panic("a bug") },
	} {
		a := search(t, recall.New(&engine{notes: brothers(), least: 0.2}, &derived{}, recall.Options{Expand: expand}),
			memory.Query{Text: "And her brother?", Context: turns("Did Marta call?")})
		if len(a.Hits) == 0 || !slices.Contains(codes(a), memory.ExpandInvalid) {
			t.Errorf("%s: %d hits, degraded %q", name, len(a.Hits), codes(a))
		}
	}
}

// boats are eight passages that all answer.
func boats() (notes []memory.Hit) {
	for i := range 8 {
		notes = append(notes, note(fmt.Sprintf("%d.md", i), fmt.Sprintf("boat number %d %s", i, strings.Repeat(string(rune('a'+i)), 40))))
	}
	return notes
}

func TestSearchLetsTheModelChoose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		chosen    []int
		want      string // numbers of the confident passages
		code      string
		abstained bool
	}{
		{"an order", []int{5, 2}, "52", "", false},
		{"nothing", []int{}, "", "", true},
		{"a place twice", []int{1, 1}, "01234567", memory.RerankInvalid, false},
		{"a foreign place", []int{8}, "01234567", memory.RerankInvalid, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := recall.New(&engine{notes: boats()}, &derived{}, recall.Options{Rerank: func(context.Context, string, []memory.Turn, []memory.Hit) ([]int, error) {
				return c.chosen, nil
			}})
			a := search(t, r, memory.Query{Text: "boat", Kinds: []string{memory.KindChunk}, MaxResults: 8})
			got := ""
			for _, h := range a.Hits {
				if !h.Weak {
					got += h.Path[:1]
				}
			}
			if got != c.want || (a.Abstained != "") != c.abstained || (c.code != "") != slices.Contains(codes(a), c.code) {
				t.Errorf("confident %q, want %q; abstained %q, degraded %q", got, c.want, a.Abstained, codes(a))
			}
		})
	}
}

// What is above the ceiling of the model is not sent to it, and it is not asked about less than six passages.
func TestSearchShowsTheModelOnlyWhatItMaySee(t *testing.T) {
	t.Parallel()
	var seen []string
	opt := recall.Options{Rerank: func(_ context.Context, _ string, _ []memory.Turn, passages []memory.Hit) ([]int, error) {
		for _, h := range passages {
			seen = append(seen, h.Path)
		}
		return []int{0}, nil
	}}
	d := &derived{episodes: []memory.Episode{episode("3.md", 1, 9, memory.Private)}}
	q := memory.Query{Text: "boat", Kinds: []string{memory.KindChunk}, MaxResults: 8}
	search(t, recall.New(&engine{notes: boats()}, d, opt), q)
	if len(seen) != 7 || slices.Contains(seen, "3.md") {
		t.Errorf("the model saw %q", seen)
	}
	seen = nil
	search(t, recall.New(&engine{notes: boats()[:5]}, d, opt), q)
	if len(seen) != 0 {
		t.Errorf("the model was asked about %q", seen)
	}
}

// The model has the time of the settings, and no more than the caller has.
func TestTheModelHasTheTimeOfTheSettingsAndOfTheCaller(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		budget, caller time.Duration
		finds          bool
	}{
		{"a slow model", 5 * time.Second, time.Minute, true},
		{"little time by the settings", time.Second, time.Minute, false},
		{"a caller in a hurry", 5 * time.Second, 2 * time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := recall.New(&engine{notes: brothers(), least: 0.2}, &derived{}, recall.Options{ModelBudget: c.budget,
					Expand: func(ctx context.Context, _ string, _ []memory.Turn, _ time.Time) ([]string, error) {
						select {
						case <-time.After(3 * time.Second):
							return []string{"Paulo accordions"}, nil
						case <-ctx.Done():
							return nil, ctx.Err()
						}
					}})
				ctx, cancel := context.WithTimeout(t.Context(), c.caller)
				defer cancel()
				a, err := r.Search(ctx, memory.Query{Text: "And the musical one?", Context: turns("Let us talk about families.")})
				if err != nil || ctx.Err() != nil {
					t.Fatalf("no answer in time: %v, %v", err, ctx.Err())
				}
				found := len(a.Hits) > 0 && strings.HasPrefix(a.Hits[0].Snippet, "Paulo")
				if late := slices.Contains(codes(a), memory.ExpandTimeout); found != c.finds || late == c.finds {
					t.Errorf("found %q, degraded %q", texts(a), codes(a))
				}
			})
		})
	}
}
