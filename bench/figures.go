package bench

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Figures are means over questions. The names in JSON are those of the columns.
type Figures struct {
	// N is the number of questions.
	N int `json:"n"`
	// Scores are the means of the scores; Empty is the share of questions without any result.
	Scores
	// P50 is the time in milliseconds within which half of the questions were answered.
	P50 float64 `json:"p50_ms"`
	// P95 is the time in milliseconds within which 95 % of the questions were answered.
	P95 float64 `json:"p95_ms"`
}

// Group contains the figures of some questions of a set.
type Group struct {
	// By is the grouping, "category", "lang" or "ws", or empty for a whole set.
	By string `json:"by,omitempty"`
	// Name is the value of By that the questions share; for a whole set AllQuestions or WithoutAdversarial.
	Name string `json:"group"`
	// Figures of these questions.
	Figures Figures `json:"figures"`
}

// Names of groups that are whole sets.
const (
	AllQuestions       = "all"
	WithoutAdversarial = "all but adversarial"
)

// Groupings returns the fields by which questions can be grouped.
func Groupings() []string { return []string{"category", "lang", "ws"} }

// Summarize returns the figures of questions, zero if there are none.
func Summarize(asked []Asked) Figures {
	f := Figures{N: len(asked)}
	if f.N == 0 {
		return f
	}
	var took []time.Duration
	for _, a := range asked {
		f.addMeans(Figures{Scores: a.Scores})
		took = append(took, a.Took)
	}
	f.divideMeans(float64(f.N))
	slices.Sort(took)
	f.P50, f.P95 = milliseconds(took, 0.5), milliseconds(took, 0.95)
	return f
}

// Macro returns the mean of the figures of sets, each of which weighs the same, and the sum of their questions.
func Macro(sets []Figures) Figures {
	var f Figures
	for _, s := range sets {
		f.addMeans(s)
		f.N += s.N
	}
	if len(sets) > 0 {
		f.divideMeans(float64(len(sets)))
	}
	return f
}

// addMeans adds all figures except N.
func (f *Figures) addMeans(o Figures) {
	for i, p := range f.means() {
		*p += *o.means()[i]
	}
}

// divideMeans divides all figures except N.
func (f *Figures) divideMeans(n float64) {
	for _, p := range f.means() {
		*p /= n
	}
}

// means returns pointers to all figures except N, in the order of the columns.
func (f *Figures) means() []*float64 { return append(f.Scores.all(), &f.P50, &f.P95) }

// milliseconds returns the time that a share of sorted times does not exceed, by the nearest rank.
func milliseconds(sorted []time.Duration, share float64) float64 {
	rank := int(math.Ceil(share * float64(len(sorted))))
	return float64(sorted[max(rank, 1)-1]) / float64(time.Millisecond)
}

// Groups returns the figures of a set: of all questions, of all but the adversarial questions if there are any, and of each
// value of each grouping, sorted.
func Groups(asked []Asked, by []string) []Group {
	groups := []Group{{Name: AllQuestions, Figures: Summarize(asked)}}
	if fair := Fair(asked); len(fair) < len(asked) {
		groups = append(groups, Group{Name: WithoutAdversarial, Figures: Summarize(fair)})
	}
	for _, b := range by {
		values := map[string][]Asked{}
		for _, a := range asked {
			v := a.Question.groupName(b)
			values[v] = append(values[v], a)
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			groups = append(groups, Group{By: b, Name: name, Figures: Summarize(values[name])})
		}
	}
	return groups
}

// groupName returns the value of a grouping that a question has.
func (q Question) groupName(by string) string {
	switch by {
	case "category":
		return q.Category
	case "lang":
		return q.Lang
	}
	return q.WS
}

// Fair returns the questions that are not adversarial.
func Fair(asked []Asked) []Asked {
	return slices.DeleteFunc(slices.Clone(asked), func(a Asked) bool { return a.Question.Category == Adversarial })
}
