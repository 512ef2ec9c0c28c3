package contract

import (
	"fmt"
	"slices"
	"strings"

	"kioku/derive/unit"
	"kioku/llm/ask"
	"kioku/memory"
)

const (
	maxSummary      = 600
	maxEvents       = 5
	maxWhy          = 200
	maxRelationship = 300
)

// SummaryInput is what a summary is made of.
type SummaryInput struct {
	// Scope is one of the constants memory.Scope..., and Key says which one of its scope.
	Scope, Key string
	// From and To are the days (YYYY-MM-DD) that it is about; empty if it has none.
	From, To string
	// Name of the person or topic that it is about; empty for other scopes.
	Name string
	// Episodes in the order of time.
	Episodes []unit.EpisodeText
	// Facts that hold now, one sentence each.
	Facts []string
	// HadEvents says that the version before has key events, so that one without any does not take its place.
	HadEvents bool
}

// Summary asks for a summary. The answer says nothing but what the input says, and has the UIDs of the episodes that it cites. It returns
// ErrNoInput if there is no line to show.
func (c Contracts) Summary(in SummaryInput) (q Question[memory.Summary], err error) {
	var d data
	if !in.write(&d) {
		return q, ErrNoInput
	}
	task := `Sum up the episodes.
summary_text: 1 to 600 characters. Only what the episodes and facts say: every number, date, address, name and quoted phrase of it stands there.
Sentences that tell; no advice, no order, nothing to the reader.
key_events: at most 5 of {"unit_id": number of the episode, "why": at most 200 characters}, the episodes that matter most.
`
	if in.isAbout() {
		task += fmt.Sprintf("It is about %s. notes: at most 300 characters on what to keep in mind about it, or null.", cleanLine(in.Name))
	} else {
		task += "relationship_state: at most 300 characters on what the user and the assistant are about together; empty if nothing is said."
	}
	q.Prompt = c.prompt(NameSummary, task, in.fields(), 1000, &d)
	q.read = func(r *reader, answer, stop string) memory.Summary { return c.readSummary(r, in, answer, stop) }
	return q, nil
}

// isAbout reports whether the summary is about a person or a topic.
func (in SummaryInput) isAbout() bool {
	return in.Scope == memory.ScopePerson || in.Scope == memory.ScopeTopic
}

// fields of an answer.
func (in SummaryInput) fields() []ask.Field {
	last := str("relationship_state")
	if in.isAbout() {
		last = orNull(str("notes"))
	}
	return []ask.Field{str("summary_text"), list("key_events", unitID, str("why")), last}
}

// write writes the data of a summary. It returns false if there is no line of an episode.
func (in SummaryInput) write(d *data) bool {
	d.line("scope: %s %s", in.Scope, in.Key)
	if in.From != "" {
		d.line("days: %s to %s", in.From, in.To)
	}
	if in.Name != "" {
		d.line("about: %s", cleanLine(in.Name))
	}
	if len(in.Facts) > 0 {
		d.line("facts:")
		for _, fact := range in.Facts {
			d.line("- %s", cleanLine(fact))
		}
	}
	return d.episodes(in.Episodes)
}

// words returns what the data of a summary say, without the numbers of lines and episodes.
func (in SummaryInput) words() string {
	parts := append([]string{in.Key, in.From, in.To, in.Name}, in.Facts...)
	for _, e := range in.Episodes {
		parts = append(parts, e.Date, e.Heading)
		for _, line := range newSource(e).lines {
			parts = append(parts, line.Speaker, line.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// readSummary reads an answer to Summary.
func (c Contracts) readSummary(r *reader, in SummaryInput, answer, stop string) memory.Summary {
	check := newWording(in.words() + "\nuser assistant\n" + strings.Join(c.UserNames, "\n"))
	out := memory.Summary{Scope: in.Scope, Key: in.Key, From: in.From, To: in.To}
	var said struct {
		Text   string `json:"summary_text"`
		Events []struct {
			UnitID int `json:"unit_id"`
			Why    string
		} `json:"key_events"`
		Relationship string `json:"relationship_state"`
		Notes        string
	}
	if r.read(answer, stop, in.fields(), &said) {
		var ok bool
		if out.Text, ok = check.text(r, "summary_text", said.Text, maxSummary); !ok {
			r.invalid(r.report.Problems...)
		}
		lost := r.report.lost()
		for n, e := range said.Events {
			i := r.nth("key_events", n)
			id := i.offered(e.UnitID, len(in.Episodes))
			event := memory.KeyEvent{Why: i.line("why", e.Why, maxWhy)}
			if id > 0 {
				event.EpisodeUID = in.Episodes[id-1].UID
			}
			if slices.ContainsFunc(out.Events, func(other memory.KeyEvent) bool { return other.EpisodeUID == event.EpisodeUID }) {
				i.fail("unit_id", ReasonID, fmt.Sprintf("%d stands twice", id))
			}
			check.fail(i, "why", event.Why)
			if !i.dropped {
				out.Events = append(out.Events, event)
			}
		}
		r.lostAll("key_events", len(out.Events), lost)
		out.Events = best(r, "key_events", out.Events, maxEvents, func(memory.KeyEvent) float64 { return 0 })
		if about := in.fields()[2].Name; strings.TrimSpace(said.Relationship+said.Notes) != "" {
			out.Relationship, _ = check.text(r, about, said.Relationship+said.Notes, maxRelationship)
		}
		r.report.Accepted += 1 + len(out.Events)
	}
	if in.HadEvents && len(out.Events) == 0 {
		r.invalid(ask.Problem("key_events", "must name at least one episode, as the version before does").Error())
	}
	return out
}

// text returns a text of a summary on one line, and false if it may not stand.
func (s *wording) text(r *reader, key, value string, limit int) (string, bool) {
	i := r.item("")
	value = i.line(key, value, limit)
	s.fail(i, key, value)
	if i.dropped {
		return "", false
	}
	return value, true
}

// fail drops an item with a text that may not stand in a summary.
func (s *wording) fail(i *item, key, text string) {
	if reason, rule := s.problem(text); reason != "" {
		i.fail(key, reason, rule)
	}
}
