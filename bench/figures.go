package bench

import (
	"math"
	"slices"
	"time"
)

// Figures are the means over some questions. The names in JSON are those of the columns.
type Figures struct {
	N    int     `json:"n"`
	R1   float64 `json:"R@1"`
	R5   float64 `json:"R@5"`
	R10  float64 `json:"R@10"`
	MRR  float64 `json:"MRR@10"`
	NDCG float64 `json:"nDCG@10"`
	R2k  float64 `json:"R@2k"`
	V5   float64 `json:"V@5"`
	V4k  float64 `json:"V@4k"`
	// Empty is the share of questions without any result.
	Empty float64 `json:"empty"`
	// P50 and P95 are the times within which half and 95 % of the questions were answered, in milliseconds.
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
}

// Group is some questions of a set.
type Group struct {
	// By is "category", "lang" or "ws", empty for the set as a whole.
	By string `json:"by,omitempty"`
	// Name is a value of By; of a whole set AllQuestions or WithoutAdversarial.
	Name    string  `json:"group"`
	Figures Figures `json:"figures"`
}

// Names of the groups that are whole sets.
const (
	AllQuestions       = "all"
	WithoutAdversarial = "all but adversarial"
)

// Groupings are what questions can be grouped by.
func Groupings() []string { return []string{"category", "lang", "ws"} }

// Summarize returns the figures of some questions, zero for none.
func Summarize(asked []Asked) Figures {
	f := Figures{N: len(asked)}
	if f.N == 0 {
		return f
	}
	var took []time.Duration
	for _, a := range asked {
		s := a.Scores
		f.add(Figures{
			R1: s.R1, R5: s.R5, R10: s.R10, MRR: s.MRR, NDCG: s.NDCG, R2k: s.R2k, V5: s.V5, V4k: s.V4k, Empty: s.Empty,
		})
		took = append(took, a.Took)
	}
	f.divide(float64(f.N))
	slices.Sort(took)
	f.P50, f.P95 = milliseconds(took, 0.5), milliseconds(took, 0.95)
	return f
}

// Macro returns the mean of the figures of several sets, each of which weighs the same, and the sum of their questions.
func Macro(sets []Figures) Figures {
	var f Figures
	for _, s := range sets {
		f.add(s)
		f.N += s.N
	}
	if len(sets) > 0 {
		f.divide(float64(len(sets)))
	}
	return f
}

// add adds all figures but N.
func (f *Figures) add(o Figures) {
	for i, at := range f.means() {
		*at += *o.means()[i]
	}
}

func (f *Figures) divide(n float64) {
	for _, at := range f.means() {
		*at /= n
	}
}

// Shares returns the figures in [0,1], in the order of the columns.
func (f Figures) Shares() []float64 {
	return []float64{f.R1, f.R5, f.R10, f.MRR, f.NDCG, f.R2k, f.V5, f.V4k, f.Empty}
}

// means are all figures but N, in the order of the columns.
func (f *Figures) means() []*float64 {
	return []*float64{&f.R1, &f.R5, &f.R10, &f.MRR, &f.NDCG, &f.R2k, &f.V5, &f.V4k, &f.Empty, &f.P50, &f.P95}
}

// milliseconds returns the time within which a share of sorted times lies, by the nearest rank.
func milliseconds(sorted []time.Duration, share float64) float64 {
	rank := int(math.Ceil(share * float64(len(sorted))))
	return float64(sorted[max(rank, 1)-1]) / float64(time.Millisecond)
}

// Groups returns the figures of a set: of all questions, of all but the adversarial ones where there are any, and of the
// values of each grouping, sorted.
func Groups(asked []Asked, by []string) []Group {
	groups := []Group{{Name: AllQuestions, Figures: Summarize(asked)}}
	if fair := Fair(asked); len(fair) < len(asked) {
		groups = append(groups, Group{Name: WithoutAdversarial, Figures: Summarize(fair)})
	}
	for _, b := range by {
		values := map[string][]Asked{}
		var names []string
		for _, a := range asked {
			v := a.Question.group(b)
			if values[v] == nil {
				names = append(names, v)
			}
			values[v] = append(values[v], a)
		}
		slices.Sort(names)
		for _, name := range names {
			groups = append(groups, Group{By: b, Name: name, Figures: Summarize(values[name])})
		}
	}
	return groups
}

// group returns a question's value of a grouping.
func (q Question) group(by string) string {
	switch by {
	case "category":
		return q.Category
	case "lang":
		return q.Lang
	}
	return q.WS
}

// Fair returns what was asked without the adversarial questions.
func Fair(asked []Asked) []Asked {
	var fair []Asked
	for _, a := range asked {
		if a.Question.Category != Adversarial {
			fair = append(fair, a)
		}
	}
	return fair
}
