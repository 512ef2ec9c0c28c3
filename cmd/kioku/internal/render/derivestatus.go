package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kioku/derive/unit"
	"kioku/internal/text"
	"kioku/server"
)

// DeriveStatus adds what is derived, what waits and what went wrong, a line for each matter.
func (p *Page) DeriveStatus(st server.DeriveNow) {
	if !st.Enabled {
		p.Row("derive", "off")
		return
	}
	p.Row("sections", "%d%s%s", st.Episodes, sensitiveEpisodes(st), waitingEpisodes(st))
	for _, kind := range unitKinds {
		if said := named(kind.states, st.Units); said != "" {
			p.Row(kind.row, "%s", said)
		}
	}
	p.Row("names", "%s", cmp.Or(named(entityTypes, st.Entities), "none"))
	if n := st.Conflicts; n > 0 {
		p.Row("conflicts", "%d to settle: kioku derive list --only conflict", n)
	}
	p.deriveModel(st)
	if st.ViewDir != "" {
		p.Row("views", "%s/", CleanLine(st.ViewDir))
	}
	for _, path := range st.EditedViews {
		p.Row("edited", "%s is left alone because somebody has edited it; remove it to have it written again", CleanLine(path))
	}
	for _, line := range st.BadDecisions {
		p.Row("decisions", "derived/decisions.md: %s", CleanLine(line))
	}
}

// Derived adds one line about what is derived, if anything may be.
func (p *Page) Derived(st server.DeriveNow) {
	if !st.Enabled {
		return
	}
	settle := waitingEpisodes(st)
	if n := st.Conflicts; n > 0 {
		settle += ", " + Count(n, "conflict")
	}
	if st.Problem != "" {
		settle += ", the model does not derive"
	}
	units := 0
	for _, n := range st.Units {
		units += n
	}
	p.Row("derived", "%s from %s%s; kioku derive status tells more", Count(units, "unit"), Count(st.Episodes, "section"), settle)
}

// waitingEpisodes returns how many episodes wait for the rules.
func waitingEpisodes(st server.DeriveNow) string {
	n := st.Pending
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d wait for the rules", n)
}

// sensitiveEpisodes returns how many episodes are private and secret.
func sensitiveEpisodes(st server.DeriveNow) string {
	var all []string
	if n := st.Private; n > 0 {
		all = append(all, fmt.Sprintf("%d private", n))
	}
	if n := st.Secret; n > 0 {
		all = append(all, fmt.Sprintf("%d secret", n))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// word is what stands behind a number: how it is counted, and what a reader is told.
type word struct{ key, one, many string }

// unitKinds are the rows of the status, with the states of units in the words of each.
var unitKinds = []struct {
	row    string
	states []word
}{
	{"facts", []word{{"fact/validated", "holds", "hold"}, {"fact/superseded", "is past", "are past"}, {"fact/conflict", "is in conflict", "are in conflict"}}},
	{"loops", []word{{"loop/validated", "open", "open"}, {"loop/archived", "closed or expired", "closed or expired"}}},
	{"summaries", []word{{"summary/validated", "of a week, a person or a topic", "of weeks, people and topics"}}},
}

// entityTypes are the types of entities.
var entityTypes = []word{
	{"PERSON", "person", "people"}, {"PLACE", "place", "places"}, {"ORG", "organisation", "organisations"}, {"PROJECT", "project", "projects"},
	{"WORK", "work", "works"}, {"TOPIC", "topic", "topics"}, {"OTHER", "other", "others"},
}

// named returns "3 people, 1 place" in the order of the words, empty if all numbers are 0.
func named(words []word, counts map[string]int) string {
	var all []string
	for _, w := range words {
		switch n := counts[w.key]; {
		case n == 1:
			all = append(all, "1 "+w.one)
		case n > 1:
			all = append(all, fmt.Sprintf("%d %s", n, w.many))
		}
	}
	return strings.Join(all, ", ")
}

// counted returns "3 a, 2 b" in the order of the names.
func counted(counts map[string]int, none string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[name]; n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, CleanLine(strings.ReplaceAll(name, "/", " "))))
		}
	}
	if len(all) == 0 {
		return none
	}
	return strings.Join(all, ", ")
}

// deriveModel adds what concerns the model: its budget, its jobs, and what it got wrong.
func (p *Page) deriveModel(st server.DeriveNow) {
	if st.Problem != "" {
		p.Row("problem", "%s", CleanLine(st.Problem))
	}
	if next := st.NextTry; !next.IsZero() {
		p.Row("next try", "after %s by a daemon; kioku derive run asks at once", next.Local().Format("2006-01-02 15:04"))
	}
	if st.Model == "" {
		p.Row("model", "none: by rules only; derive.llm.model names one")
		return
	}
	p.Row("model", "%s; %d sections not read yet, %s cached", CleanLine(st.Model), st.Unextracted, Count(st.CachedAnswers, "answer"))
	exhausted := ""
	if st.BudgetExhausted {
		exhausted = "; used up"
	}
	p.Row("budget", "%s of %s tokens and %s today, %d of %d calls this hour%s", Number(st.TokensToday), Number(st.MaxTokensPerDay),
		Count(st.CallsToday, "call"), st.CallsThisHour, st.MaxCallsPerHour, exhausted)
	if len(st.Jobs) > 0 {
		p.Row("jobs", "%s", counted(st.Jobs, "none"))
	}
	if len(st.Rejected) > 0 {
		p.Row("rejected", "%s", counted(st.Rejected, "nothing"))
	}
	p.parkedJobs(st.Parked)
}

// maxParkedRows and maxParkedReason bound how many parked jobs are shown, and how many characters of what went wrong.
const maxParkedRows, maxParkedReason = 10, 60

// parkedJobs adds a line for each parked job, and what can be done about them.
func (p *Page) parkedJobs(jobs []unit.ParkedJob) {
	if len(jobs) == 0 {
		return
	}
	for _, j := range jobs[:min(len(jobs), maxParkedRows)] {
		about := ""
		if places := j.Episodes; len(places) > 0 {
			about = " of " + CleanLine(places[0])
			if n := len(places) - 1; n > 0 {
				about += fmt.Sprintf(" and %d more", n)
			}
		}
		p.Row("parked", "job %d, %s%s, %s: %s", j.ID, CleanLine(j.Kind), about, CleanLine(j.ErrorClass),
			text.Shorten(CleanLine(j.Message), maxParkedReason))
	}
	if n := len(jobs) - maxParkedRows; n > 0 {
		p.Row("", "and %s", Count(n, "more job"))
	}
	p.Row("", "kioku derive retry tries them again, kioku derive retry %d only that one; kioku derive status --json has the reasons in full", jobs[0].ID)
}

// DeriveEstimate adds what a run would send.
func (p *Page) DeriveEstimate(e unit.DeriveEstimate) {
	if e.Model == "" {
		p.Linef("nothing would be sent: no model is set, the rules read %s at no cost", Count(e.Episodes, "section"))
		return
	}
	p.Row("model", "%s", CleanLine(e.Model))
	p.Row("to read", "%s", Count(e.Episodes, "section"))
	p.Row("summaries", "%d due", e.Summaries)
	p.Row("calls", "%d, and a second one for each answer that is invalid", e.Calls)
	p.Row("tokens", "at most %s in and %s out for the first calls", Number(e.TokensIn), Number(e.TokensOut))
	if n := e.Withheld; n > 0 {
		p.Row("withheld", "%s above the ceiling of the model, never sent", Count(n, "section"))
	}
	if n := e.Days; n > 1 {
		p.Row("time", "%d days, because of the daily budget", n)
	}
}

// Derive shows a step of a derivation if it is time to.
func (m *Meter) Derive(r server.DeriveStep) {
	m.step(step{phase: r.Step, done: r.Done, total: r.Total})
}
