package contract

import (
	"fmt"
	"slices"
	"strings"

	"kioku/internal/text"
	"kioku/llm/ask"
	"kioku/memory"
)

const (
	maxCandidates = 30
	maxCandidate  = 480
	maxRanked     = 5
	maxReason     = 240
)

// Relevances of a candidate.
const (
	High   = "high"
	Medium = "medium"
)

// RerankInput is a message and what a search has found for it.
type RerankInput struct {
	// Message of the user.
	Message string
	// Turns before it, oldest first; the last six are shown.
	Turns []memory.Turn
	// Candidates, best first; the first 30 are shown.
	Candidates []Candidate
}

// Candidate is a passage that a search has found.
type Candidate struct {
	// Date (YYYY-MM-DD) and Path of the passage; empty if it has none.
	Date, Path string
	// Text of the passage, of which 480 characters are shown.
	Text string
}

// Ranked is a relevant candidate.
type Ranked struct {
	// Index of the candidate in the input, from 0.
	Index int
	// Relevance is High or Medium.
	Relevance string
	// Reason in the words of the model.
	Reason string
}

// Rerank asks which candidates matter for a message. The answer has those that do, high before medium, at most 5; none is a good answer. It returns ErrNoInput for a blank message or no candidate.
func (c Contracts) Rerank(in RerankInput) (q Question[[]Ranked], err error) {
	if strings.TrimSpace(in.Message) == "" || len(in.Candidates) == 0 {
		return q, ErrNoInput
	}
	task := `Choose from the candidates what helps to answer the message.
relevant_episodes: at most 5 of {"unit_id": number of the candidate, "relevance": "high" | "medium", "reason": at most 240 characters}. Only numbers of candidates. None is a good answer if nothing helps.`
	var d data
	d.turns(in.Turns)
	d.line("message: %s", text.Shorten(cleanLine(in.Message), 4*maxTurnText))
	d.line("candidates (unit_id, date, path, text):")
	for n, candidate := range offeredCandidates(in) {
		d.line("%d %s %s %s", n+1, candidate.Date, cleanLine(candidate.Path), text.Shorten(cleanLine(memory.StripRecalled(candidate.Text)), maxCandidate))
	}
	q.Prompt = c.prompt(NameRerank, task, rerankFields, 800, &d)
	q.read = func(r *reader, answer, stop string) []Ranked { return readRerank(r, in, answer, stop) }
	return q, nil
}

var rerankFields = []ask.Field{list("relevant_episodes", unitID, str("relevance", High, Medium), str("reason"))}

func offeredCandidates(in RerankInput) []Candidate {
	return in.Candidates[:min(len(in.Candidates), maxCandidates)]
}

// readRerank reads an answer to Rerank.
func readRerank(r *reader, in RerankInput, answer, stop string) (all []Ranked) {
	var said struct {
		Ranked []saidRank `json:"relevant_episodes"`
	}
	if r.read(answer, stop, rerankFields, &said) {
		for n, one := range said.Ranked {
			i := r.nth("relevant_episodes", n)
			if ranked := readRanked(i, one, len(offeredCandidates(in)), all); !i.dropped {
				all = append(all, ranked)
			}
		}
		r.lostAll("relevant_episodes", len(all), 0)
	}
	all = best(r, "relevant_episodes", all, maxRanked, Ranked.rank)
	slices.SortStableFunc(all, func(a, b Ranked) int { return int(b.rank() - a.rank()) })
	r.report.Accepted = len(all)
	return all
}

// rank orders high before medium.
func (r Ranked) rank() float64 {
	if r.Relevance == High {
		return 1
	}
	return 0
}

type saidRank struct {
	UnitID            int `json:"unit_id"`
	Relevance, Reason string
}

// readRanked checks one candidate of at most offered, which is none of those before it.
func readRanked(i *item, said saidRank, offered int, before []Ranked) Ranked {
	ranked := Ranked{Index: i.offered(said.UnitID, offered) - 1, Relevance: strings.TrimSpace(said.Relevance)}
	if ranked.Relevance == "low" || ranked.Relevance == "none" {
		i.fail("relevance", ReasonIrrelevant, "is not relevant")
	}
	i.choice("relevance", ranked.Relevance, []string{High, Medium})
	ranked.Reason = i.line("reason", said.Reason, maxReason)
	if slices.ContainsFunc(before, func(other Ranked) bool { return other.Index == ranked.Index }) {
		i.fail("unit_id", ReasonID, fmt.Sprintf("%d stands twice", ranked.Index+1))
	}
	return ranked
}
