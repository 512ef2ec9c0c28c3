package bench

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRunMeansWeighEachSetTheSame(t *testing.T) {
	t.Parallel()
	set := func(n int, v float64) Report {
		f := Figures{N: n, Scores: Scores{R5: v}}
		return Report{
			Groups:   []Group{{Name: AllQuestions}, {Name: WithoutAdversarial, Figures: f}},
			Typos:    &TypoReport{N: n, Clean: f, Typo: Figures{N: n, Scores: Scores{R5: v / 2}}, Unknown: Figures{N: n, Scores: Scores{R5: v / 4}}},
			OffTopic: &OffTopicReport{Other: "o", N: n, Silent: v, LostQuestions: v / 2, LostHits: v / 4},
		}
	}
	sets := []Report{set(1, 1), set(9, 0.5)}
	got := Run{Sets: sets}
	got.setMeans()
	f := Figures{N: 10, Scores: Scores{R5: 0.75}}
	want := Run{
		Sets:          sets,
		Macro:         f,
		MacroTypos:    &TypoReport{N: 10, Clean: f, Typo: Figures{N: 10, Scores: Scores{R5: 0.375}}, Unknown: Figures{N: 10, Scores: Scores{R5: 0.1875}}, BackR5: 1. / 3},
		MacroOffTopic: &OffTopicReport{Other: "o", N: 10, Silent: 0.75, LostQuestions: 0.375, LostHits: 0.1875},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	sets[1].Typos, sets[1].OffTopic = nil, nil
	got = Run{Sets: sets}
	got.setMeans()
	if diff := cmp.Diff(Run{Sets: sets, Macro: f}, got); diff != "" {
		t.Errorf("without typos: %s", diff)
	}
}
