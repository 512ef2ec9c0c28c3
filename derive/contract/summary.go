package contract

import (
	"fmt"
	"slices"
	"strings"

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
	Episodes []Episode
	// Facts that hold now, one sentence each.
	Facts []string
	// HadEvents says that the version before has key events, so that one without any does not take its place.
	HadEvents bool
}

// SummaryResult is a summary that says nothing but what its input says.
type SummaryResult struct {
	// Summary with the UIDs of the episodes that it cites.
	Summary memory.Summary
	// Trust is what its words are trusted with: memory.SpeakerAssistant, whoever spoke in the episodes.
	Trust string
	// Sensitivity is the greatest of the episodes.
	Sensitivity memory.Sensitivity
	// Report of the items.
	Report Report
}

// Summary asks for a summary. It returns ErrNoInput if there is no line to show.
func (c Contracts) Summary(in SummaryInput) (Prompt, error) {
	var d data
	if !in.write(&d) {
		return Prompt{}, ErrNoInput
	}
	task := `Sum up the episodes.
summary_text: 1 to 600 characters. Only what the episodes and facts say: every number, date, address, name and quoted phrase of it stands there.
Sentences that tell; no advice, no order, nothing to the reader.
key_events: at most 5 of {"unit_id": number of the episode, "why": at most 200 characters}, the episodes that matter most.
`
	last := key("relationship_state", str())
	switch in.Scope {
	case memory.ScopePerson, memory.ScopeTopic:
		task += fmt.Sprintf("It is about %s. notes: at most 300 characters on what to keep in mind about it, or null.", cleanLine(in.Name))
		last = key("notes", str().orNull())
	default:
		task += "relationship_state: at most 300 characters on what the user and the assistant are about together; empty if nothing is said."
	}
	schema := obj(key("summary_text", str()), key("key_events", list(obj(key("unit_id", integer()), key("why", str())))), last)
	return c.prompt(NameSummary, task, schema, 1000, &d), nil
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
	lines := 0
	for n, e := range in.Episodes {
		source := newSource(e)
		lines += len(source.lines)
		d.line("")
		d.line("episode unit_id %d", n+1)
		d.episode(source)
	}
	return lines > 0
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

// ReadSummary reads an answer to Summary. The error is an *Error.
func (c Contracts) ReadSummary(in SummaryInput, answer, stop string) (SummaryResult, error) {
	r := newReader(NameSummary)
	check := newWording(in.words() + "\nuser assistant\n" + strings.Join(c.UserNames, "\n"))
	out := SummaryResult{Summary: memory.Summary{Scope: in.Scope, Key: in.Key, From: in.From, To: in.To}, Trust: memory.SpeakerAssistant}
	if o := r.open(answer, stop); o != nil {
		out.Summary.Text = check.summaryText(o)
		check.events(o, in, &out.Summary)
		name, optional := "relationship_state", false
		if in.Scope == memory.ScopePerson || in.Scope == memory.ScopeTopic {
			name, optional = "notes", true
			o.read["relationship_state"] = true
		}
		if s := o.readString(name, optional); strings.TrimSpace(s) != "" {
			out.Summary.Relationship, _ = check.text(o, name, s, maxRelationship)
		}
		o.done()
		r.report.Accepted++ // the text
	}
	if in.HadEvents && len(out.Summary.Events) == 0 {
		r.invalid("key_events", "must name at least one episode, as the version before does")
	}
	report, err := r.finish()
	out.Report = report
	if err != nil {
		return SummaryResult{Report: report}, err
	}
	for _, e := range in.Episodes {
		out.Sensitivity = max(out.Sensitivity, e.Sensitivity)
	}
	return out, nil
}

// events reads the episodes that an answer cites.
func (s *wording) events(o *object, in SummaryInput, into *memory.Summary) {
	before := o.r.report.lost()
	var read []memory.KeyEvent
	for _, o := range o.list("key_events") {
		i := &item{object: o}
		id := i.offered("unit_id", len(in.Episodes))
		event := memory.KeyEvent{Why: i.line("why", maxWhy)}
		o.done()
		if id > 0 {
			event.EpisodeUID = in.Episodes[id-1].UID
		}
		if slices.ContainsFunc(read, func(other memory.KeyEvent) bool { return other.EpisodeUID == event.EpisodeUID }) {
			i.fail("unit_id", ReasonID, fmt.Sprintf("%d stands twice", id))
		}
		if reason, rule := s.problem(event.Why); reason != "" {
			i.fail("why", reason, rule)
		}
		if !i.dropped {
			read = append(read, event)
		}
	}
	into.Events = best(o.r, o.at("key_events"), read, maxEvents, func(memory.KeyEvent) float64 { return 0 })
	o.r.report.Accepted += len(into.Events)
	o.r.lostAll(o.at("key_events"), len(read), before)
}

// summaryText reads the text itself, without which the answer is invalid.
func (s *wording) summaryText(o *object) string {
	breaks := o.r.breaks
	value := o.str("summary_text")
	if o.r.breaks > breaks {
		return ""
	}
	text, ok := s.text(o, "summary_text", value, maxSummary)
	if problems := o.r.report.Problems; !ok {
		last := problems[len(problems)-1]
		o.r.invalid(last.Path, last.Rule)
	}
	return text
}

// text checks a text of a summary. It returns false if the text may not stand.
func (s *wording) text(o *object, key, value string, limit int) (string, bool) {
	i := &item{object: o}
	value = i.checkedLine(key, value, limit)
	if reason, rule := s.problem(value); reason != "" {
		i.fail(key, reason, rule)
	}
	if i.dropped {
		return "", false
	}
	return value, true
}
