package bench

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku"
	"kioku/embed"
	"kioku/memory"
)

// open opens a set for the length of a test.
func open(t *testing.T, set Set, opt Options) *Session {
	t.Helper()
	s, err := Open(t.Context(), set, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSessionAsksEachWorkspaceItsOwnQuestions(t *testing.T) {
	t.Parallel()
	for _, granularity := range []string{memory.GranularityChunk, memory.GranularityPassage} {
		asked, err := open(t, trio(t), Options{Granularity: granularity}).Ask(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range asked {
			if len(a.Results) == 0 {
				continue
			}
			first := a.Results[0]
			if home := first.Path != "memory/2026-02-05.md" && first.Path != "memory/2026-02-06.md"; home != (a.Question.WS == "home") {
				t.Errorf("%s: %s of another workspace", a.Question.ID, first.Path)
			}
			if first.Chars == 0 || first.ShownChars == 0 || first.ShownChars > 700 || a.Took <= 0 || first.Score <= 0 {
				t.Errorf("%s: %+v in %s", a.Question.ID, first, a.Took)
			}
		}
		if f := Summarize(Fair(asked)); f.R5 < 0.6 || f.V5 < 0.6 || f.N != 10 {
			t.Errorf("%s: %+v", granularity, f)
		}
	}
}

func TestSessionCloseLeavesNothingBehind(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := Open(t.Context(), trio(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) != 1 {
		t.Errorf("%d folders while it is open", len(left))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, trio(t), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(os.TempDir()); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

func TestSessionAskOfABlankQuestion(t *testing.T) {
	t.Parallel()
	set := trio(t)
	set.Questions = set.Questions[:2]
	set.Questions[0].Query = " "
	asked, err := open(t, set, Options{}).Ask(t.Context())
	if err != nil || asked[0].Scores != (Scores{Empty: 1}) || asked[1].Scores.R5 == 0 {
		t.Errorf("%+v, %v", asked, err)
	}
}

func TestOpenRefusesAProviderThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	embedder, err := embed.New(embed.Config{Provider: "openai", Model: "m", BaseURL: "http://127.0.0.1:1/v1", MaxTries: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), trio(t), Options{Engine: kioku.Options{Embedder: embedder}}); err == nil || !strings.Contains(err.Error(), "home of trio") {
		t.Errorf("got %v", err)
	}
	down := memory.Answer{Degraded: []memory.Degradation{{Code: memory.NoMatch}, {Code: memory.ProviderDown, Text: "down"}}}
	if err := incomplete(down); err == nil || err.Error() != "down" {
		t.Errorf("got %v", err)
	}
}

func TestMeasureFollowsThePlan(t *testing.T) {
	t.Parallel()
	set := trio(t)
	var phases []string
	plan := Plan{By: []string{"lang"}, Granularities: []string{"chunk", "passage"}}
	reports, err := Measure(t.Context(), set, plan, Options{Step: func(p Progress) {
		if p.Set != "trio" || p.Done >= p.Total {
			t.Errorf("%+v", p)
		}
		phases = append(phases, p.Phase)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(reports) != 2 || reports[0].Groups[0].Figures.Scores == reports[1].Groups[0].Figures.Scores {
		t.Errorf("two granularities: %+v", reports)
	}
	r := reports[0]
	var groups []string
	for _, g := range r.Groups {
		groups = append(groups, g.By+" "+g.Name)
	}
	if diff := cmp.Diff([]string{" all", " all but adversarial", "lang en", "lang ja", "lang zh"}, groups); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{PhaseIndex, PhaseAsk}, slices.Compact(phases)); diff != "" {
		t.Error(diff)
	}
	if r.Headline().N != 10 {
		t.Errorf("%+v", r)
	}
}

func TestSummarizeAndMacro(t *testing.T) {
	t.Parallel()
	var asked []Asked
	for i := range 20 {
		asked = append(asked, Asked{Took: time.Duration(20-i) * time.Millisecond, Scores: Scores{R5: float64(i % 2), Empty: 1}})
	}
	f := Summarize(asked)
	if f.N != 20 || f.R5 != 0.5 || f.Empty != 1 || f.P50 != 10 || f.P95 != 19 {
		t.Errorf("%+v", f)
	}
	m := Macro([]Figures{f, {N: 2, Scores: Scores{R5: 1}, P50: 20}})
	if m.N != 22 || m.R5 != 0.75 || m.P50 != 15 {
		t.Errorf("%+v", m)
	}
	if Summarize(nil) != (Figures{}) || Macro(nil) != (Figures{}) {
		t.Error("nothing has figures")
	}
}
