package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kioku/council"
	"kioku/council/engine"
	"kioku/server"
)

// voteWords are the votes as people read them.
var voteWords = map[string]string{"approve": "yes", "approve_with_modification": "yes, with changes", "reject": "no"}

// vote returns a vote as people read it.
func vote(v string) string { return cmp.Or(voteWords[v], v) }

// deciders says who has decided.
var deciders = map[string]string{"council": "by the council", "arbiter": "by the arbiter", "owner": "by the owner, in the council's place"}

// when returns a time for a list; "" if it is unset.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// CouncilTasks adds a line for each task: when, how far it is, what was decided, id and title.
func (p *Page) CouncilTasks(list []engine.Summary) {
	for _, s := range list {
		t := s.Task
		mark := ""
		if s.Degraded {
			mark = " (degraded)"
		}
		p.Linef("%s  %s  %s  %s%s", Dim(when(t.CreatedAt)), Pad(councilState(s.Status, s.Decision), 21), Bold(t.ID),
			CleanLine(t.Title), mark)
	}
}

// councilState returns how far a task is, with what was decided.
func councilState(st council.Status, decision string) string {
	switch word := st.Status; {
	case word == "discussing":
		return fmt.Sprintf("discussing, round %d", st.CurrentRound)
	case decision != "" && decision != word:
		return decision + ", " + strings.ReplaceAll(word, "_", " ")
	default:
		return strings.ReplaceAll(word, "_", " ")
	}
}

// decided returns what was decided, empty before a decision.
func decided(dec *council.Decision) string {
	if dec == nil {
		return ""
	}
	return dec.Decision
}

// CouncilStep says in a line how far a task is.
func CouncilStep(d engine.Detail) string {
	st := d.Status
	text := councilState(st, "")
	if st.Status == "discussing" && len(d.Rounds) > 0 {
		r := d.Rounds[len(d.Rounds)-1]
		if r.Attempt > 1 {
			text += fmt.Sprintf(", attempt %d", r.Attempt)
		}
		if n := len(r.Answered); n > 0 && r.Seal == nil {
			text += fmt.Sprintf(", %d of %d answered", n, len(st.Roster))
		}
	}
	busy := st.Status == council.StatusExecuting || st.Status == council.StatusRemediating
	switch {
	case len(d.Thinking) > 0:
		text += ": " + strings.Join(d.Thinking, ", ") + " thinking"
	case busy:
		text += ": the program runs"
	case st.Status == "discussing" && st.Reason != "":
		text += ": " + CleanLine(st.Reason)
	}
	return text
}

// CouncilTask adds a task: what is degraded, the decision, the announcement, what is to be done, dissent, and the result. With all, also
// every opinion and comment.
func (p *Page) CouncilTask(d engine.Detail, all bool) {
	t, st, dec := d.Task, d.Status, d.Decision
	p.councilBanner(d)
	p.Linef("%s", Bold(CleanLine(t.Title)))
	p.Row("task", "%s, %s, %s priority, from %s", t.ID, t.Type, t.Priority, cmp.Or(t.Source, "a file"))
	p.Row("status", "%s", councilState(st, decided(dec)))
	if st.Status == "discussing" && st.Reason != "" {
		p.Row("waits", "%s", CleanLine(st.Reason))
	}
	if all && t.Description != "" {
		p.councilText("", t.Description)
	}
	if dec != nil {
		p.councilDecision(*dec)
	}
	if all {
		p.councilRounds(d)
	}
	for _, r := range d.Results {
		p.Linef("")
		p.Linef("%s", Bold(fmt.Sprintf("Result of attempt %d: %s", r.Attempt, map[bool]string{true: "done", false: "failed"}[r.Succeeded])))
		p.councilText("  ", r.Result)
	}
	p.councilNext(d)
}

// councilBanner adds what the decision had to do without, above everything.
func (p *Page) councilBanner(d engine.Detail) {
	if d.Task.Trust == "low" {
		p.Linef("! no owner has written this task: %s", CleanLine(authorName(d.Task.Author)))
	}
	if d.Decision != nil {
		for _, text := range d.Decision.Degraded {
			p.Linef("! degraded: %s", CleanLine(text))
		}
	}
	for _, r := range d.Rounds {
		for _, who := range r.Tampered {
			p.Linef("! the ballot of %s of round %d was changed after the seal; the seal counts", who, r.Round)
		}
	}
	if d.Status.Status == "stalled" {
		p.Linef("! stalled: %s", CleanLine(d.Status.Reason))
	}
}

// councilDecision adds a decision.
func (p *Page) councilDecision(dec council.Decision) {
	p.Linef("")
	p.Linef("%s", Bold(strings.ToUpper(dec.Decision)+" "+cmp.Or(deciders[dec.DecidedBy], dec.DecidedBy)))
	if a := dec.Announcement; a != nil {
		p.councilText("", a.Summary)
		for _, point := range a.KeyPoints {
			p.Linef("  - %s", CleanLine(point))
		}
	}
	if dec.FinalApproach != "" {
		p.Linef("%s", Bold("Approach"))
		p.councilText("  ", dec.FinalApproach)
	}
	for _, v := range dec.Votes {
		var votes []string
		for _, who := range slices.Sorted(maps.Keys(v.Votes)) {
			votes = append(votes, who+" "+vote(v.Votes[who]))
		}
		p.Row("round "+fmt.Sprint(v.Round), "%s", strings.Join(votes, "; "))
	}
	for _, who := range slices.Sorted(maps.Keys(dec.Abstentions)) {
		p.Row("abstained", "%s: %s", who, dec.Abstentions[who])
	}
	for _, dissent := range dec.Dissent {
		p.Linef("%s", Bold(fmt.Sprintf("Dissent of %s (%s)", dissent.Member, vote(dissent.Vote))))
		p.councilText("  ", dissent.Opinion)
		for _, concern := range dissent.Concerns {
			p.Linef("  - %s", CleanLine(concern))
		}
	}
	if dec.Solo != nil {
		p.Linef("%s", Bold("The arbiter alone: "+vote(dec.Solo.Vote)))
		p.councilText("  ", dec.Solo.Opinion)
	}
	p.councilFacts(dec)
}

// councilFacts adds where a decision is remembered, what it has cost, and what came of it.
func (p *Page) councilFacts(dec council.Decision) {
	var in, out, calls int
	var dollars float64
	for _, u := range dec.Usage {
		in, out, calls = in+u.TokensIn, out+u.TokensOut, calls+u.Calls
		dollars += u.Cost
	}
	if calls > 0 {
		p.Row("cost", "%s, %d tokens in, %d out%s; %s", Count(calls, "call"), in, out, CouncilPrice(", %s dollars", dollars), families(dec.Independence))
	}
	if dec.MemoryPath != "" {
		p.Row("memory", "%s", dec.MemoryPath)
	}
	if dec.Supersedes != "" {
		p.Row("supersedes", "%s", dec.Supersedes)
	}
	if dec.SupersededBy != "" {
		p.Row("superseded", "by %s", dec.SupersededBy)
	}
	if dec.Outcome != "" {
		p.Row("outcome", "%s %s", strings.ReplaceAll(dec.Outcome, "_", " "), CleanLine(dec.OutcomeNote))
	}
}

// families says how independent the votes are.
func families(n int) string {
	if n <= 1 {
		return "all of one model family"
	}
	return fmt.Sprintf("%d model families", n)
}

// councilRounds adds each round with its opinions, and the comments.
func (p *Page) councilRounds(d engine.Detail) {
	for _, r := range d.Rounds {
		p.Linef("")
		p.Linef("%s  %s", Bold(fmt.Sprintf("Round %d", r.Round)+attempt(r.Attempt)), Dim(when(r.OpenedAt)))
		if r.Seal == nil {
			p.Linef("  open until %s; %d answered", when(r.Deadline), len(r.Answered))
		}
		for _, b := range r.Ballots {
			p.Linef("  %s  %s", Bold(b.Node), vote(b.Vote))
			p.councilText("    ", b.Opinion)
			for _, concern := range b.Concerns {
				p.Linef("    - %s", CleanLine(concern))
			}
		}
		if r.Seal != nil {
			for _, who := range slices.Sorted(maps.Keys(r.Seal.Abstentions)) {
				p.Linef("  %s  abstains: %s", Bold(who), r.Seal.Abstentions[who])
				p.councilText("    ", CleanLine(r.Reasons[who]))
			}
		}
	}
	for _, a := range d.Arbitrations {
		p.Linef("")
		p.Linef("%s", Bold(fmt.Sprintf("Arbitration by %s: %s", a.DecidedBy, a.Decision)))
		p.councilText("  ", a.Reasoning)
	}
	for _, t := range d.Failures {
		p.Linef("")
		p.Linef("%s", Bold(fmt.Sprintf("No %s by %s", t.Phase, t.Member)))
		p.councilText("  ", CleanLine(t.Reason))
	}
	for _, c := range d.Comments {
		p.Linef("")
		p.Linef("%s  %s", Bold("Comment of "+authorName(c.Author)), Dim(when(c.CreatedAt)))
		p.councilText("  ", c.Message)
	}
}

// attempt returns the number of an attempt that is not the first.
func attempt(n int) string {
	if n <= 1 {
		return ""
	}
	return fmt.Sprintf(", attempt %d", n)
}

// authorName returns who has written something.
func authorName(a council.Author) string {
	name := strings.TrimSpace(a.Kind + " " + a.Name)
	if a.Platform != "" {
		name += " on " + a.Platform
	}
	return cmp.Or(name, "somebody")
}

// councilText adds a text of several lines.
func (p *Page) councilText(indent, text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		p.Linef("%s%s", indent, strings.TrimRight(line, "\r\n"))
	}
}

// councilNext adds what a person has to do.
func (p *Page) councilNext(d engine.Detail) {
	id := d.Task.ID
	switch d.NeedsOwner {
	case "":
		if d.Status.Status == "failed" && decided(d.Decision) == council.Approved && !d.Archived {
			p.Row("next", "kioku council approve %s tries it again; report %[1]s \"what was done\" if you have done it", id)
		}
	case "report":
		p.Row("next", "when it is done: kioku council report %s \"what was done\"", id)
	case "approval":
		p.Row("next", "kioku council approve %s lets the command run", id)
	default:
		p.Row("next", "kioku council round %s, decide %[1]s approved|rejected, or cancel %[1]s", id)
	}
}

// CouncilStatus adds how far a task is.
func (p *Page) CouncilStatus(st council.Status) { p.Linef("%s", councilState(st, "")) }

// Council adds what a council is: its rules, and a line for each member.
func (p *Page) Council(c server.CouncilNow) {
	p.Row("folder", "%s", c.Folder)
	p.Row("rule", "%d of %d must agree, %d to %d rounds, %s", c.Need, len(c.Members), c.MinRounds, c.MaxRounds, c.Policy)
	p.Row("autonomy", "%s; execution: %s", c.Autonomy, c.ExecutionMode)
	p.Row("memory", "decisions are notes of agent %s", c.Agent)
	p.CouncilLoad(c.Load)
	for _, m := range c.Members {
		p.Linef("")
		p.Linef("%s  %s  %s", Bold(m.Member.Name), strings.Join(m.Member.Roles, ", "), Dim(modelOf(m.Member)+", family "+m.Family))
		if !m.PausedUntil.IsZero() {
			p.Linef("  paused until %s", when(m.PausedUntil))
		}
		p.Linef("  %s", params(m.Params))
		if len(m.Program) > 0 {
			words := make([]string, len(m.Program))
			for i, w := range m.Program {
				words[i] = ShellQuote(w)
			}
			p.Linef("  runs %s", CleanLine(strings.Join(words, " ")))
		}
		if m.ParamsError != "" {
			p.Linef("  ! the file of parameters is not used: %s", CleanLine(m.ParamsError))
		}
		if a := m.Activity; a.Status != "" && a.Status != "idle" {
			p.Linef("  %s %s", a.Status, a.TaskID)
		}
	}
}

// modelOf returns the model of a member.
func modelOf(m council.Member) string {
	switch {
	case m.Preset != "":
		return strings.TrimSpace(m.Preset + " " + m.Model)
	case m.Model == "":
		return "command"
	}
	return m.Model
}

// CouncilLoad adds how busy a council is.
func (p *Page) CouncilLoad(l engine.Load) {
	p.Row("council", "%d open, %d wait for a person, %d of them stalled", l.Open, l.Waiting, l.Stalled)
	if len(l.Absent) > 0 {
		p.Row("absent", "%s", strings.Join(l.Absent, ", "))
	}
	if l.Limit > 0 {
		p.Row("today", "%d of %d tokens%s", l.Today.TokensIn+l.Today.TokensOut, l.Limit, CouncilPrice(", %s dollars", l.Today.Cost))
	}
}

// CouncilPrice returns amounts of money in a sentence, or nothing if one of them is not known.
func CouncilPrice(sentence string, dollars ...float64) string {
	var all []any
	for _, d := range dollars {
		if d == 0 {
			return ""
		}
		all = append(all, fmt.Sprintf("%.4g", d))
	}
	return fmt.Sprintf(sentence, all...)
}

// params returns parameters on a line.
func params(all map[string]float64) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, fmt.Sprintf("%s %.2f", strings.ReplaceAll(name, "_", " "), all[name]))
	}
	return strings.Join(list, ", ")
}

// CouncilLogLine adds a line of a log.
func (p *Page) CouncilLogLine(l council.LogLine) {
	p.Linef("%s  %s  %s  %s  %s", Dim(l.Time.Local().Format(time.DateTime)), Pad(l.Level, 5), l.Task, l.Phase, CleanLine(l.Text))
}

// CouncilFindings adds a line for each matter that was looked at.
func (p *Page) CouncilFindings(list []engine.Finding) {
	for _, f := range list {
		p.Linef("%s  %s  %s", Pad(f.Level, 7), Bold(f.Name), CleanLine(f.Text))
	}
}
