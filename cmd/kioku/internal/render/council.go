package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	kiokuv1 "kioku/proto/kioku/v1"
)

// voteWords are the votes as people read them.
var voteWords = map[string]string{"approve": "yes", "approve_with_modification": "yes, with changes", "reject": "no"}

// vote returns a vote as people read it.
func vote(v string) string { return cmp.Or(voteWords[v], v) }

// deciders says who has decided.
var deciders = map[string]string{"council": "by the council", "arbiter": "by the arbiter, after no majority", "owner": "by the owner, in the council's place"}

// when returns a time for a list; "" if it is unset.
func when(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return t.AsTime().Local().Format("2006-01-02 15:04")
}

// CouncilTasks adds a line for each task: when, how far it is, what was decided, id and title.
func (p *Page) CouncilTasks(list []*kiokuv1.CouncilSummary) {
	for _, s := range list {
		t := s.GetTask()
		mark := ""
		if s.GetDegraded() {
			mark = " (degraded)"
		}
		p.Linef("%s  %s  %s  %s%s", Dim(when(t.GetCreatedTime())), Pad(councilState(s.GetStatus(), s.GetDecision()), 21), Bold(t.GetId()),
			CleanLine(t.GetTitle()), mark)
	}
}

// councilState returns how far a task is, with what was decided.
func councilState(st *kiokuv1.CouncilStatus, decision string) string {
	switch word := st.GetStatus(); {
	case word == "discussing":
		return fmt.Sprintf("discussing, round %d", st.GetCurrentRound())
	case decision != "" && decision != word:
		return decision + ", " + strings.ReplaceAll(word, "_", " ")
	default:
		return strings.ReplaceAll(word, "_", " ")
	}
}

// CouncilStep says in a line how far a task is.
func CouncilStep(d *kiokuv1.GetTaskResponse) string {
	st := d.GetStatus()
	text := councilState(st, "")
	if st.GetStatus() == "discussing" && len(d.GetRounds()) > 0 {
		r := d.GetRounds()[len(d.GetRounds())-1]
		if r.GetAttempt() > 1 {
			text += fmt.Sprintf(", attempt %d", r.GetAttempt())
		}
		if n := len(r.GetAnswered()); n > 0 && !r.GetSealed() {
			text += fmt.Sprintf(", %d of %d answered", n, len(st.GetRoster()))
		}
	}
	if len(d.GetThinking()) > 0 {
		text += ": " + strings.Join(d.GetThinking(), ", ") + " thinking"
	}
	return text
}

// CouncilTask adds a task: what is degraded, the decision, the announcement, what is to be done, dissent, and the result. With all, also
// every opinion and comment.
func (p *Page) CouncilTask(d *kiokuv1.GetTaskResponse, all bool) {
	t, st, dec := d.GetTask(), d.GetStatus(), d.GetDecision()
	p.councilBanner(d)
	p.Linef("%s", Bold(CleanLine(t.GetTitle())))
	p.Row("task", "%s, %s, %s priority, from %s", t.GetId(), t.GetType(), t.GetPriority(), cmp.Or(t.GetSource(), "a file"))
	p.Row("status", "%s", councilState(st, dec.GetDecision()))
	if all && t.GetDescription() != "" {
		p.councilText("", t.GetDescription())
	}
	if dec != nil {
		p.councilDecision(dec)
	}
	if all {
		p.councilRounds(d)
	}
	for _, r := range d.GetResults() {
		p.Linef("")
		p.Linef("%s", Bold(fmt.Sprintf("Result of attempt %d: %s", r.GetAttempt(), map[bool]string{true: "done", false: "failed"}[r.GetSucceeded()])))
		p.councilText("  ", r.GetResult())
	}
	p.councilNext(d)
}

// councilBanner adds what the decision had to do without, above everything.
func (p *Page) councilBanner(d *kiokuv1.GetTaskResponse) {
	if d.GetTask().GetTrust() == "low" {
		p.Linef("! no owner has written this task: %s", CleanLine(authorName(d.GetTask().GetAuthor())))
	}
	for _, text := range d.GetDecision().GetDegraded() {
		p.Linef("! degraded: %s", CleanLine(text))
	}
	for _, r := range d.GetRounds() {
		for _, who := range r.GetTampered() {
			p.Linef("! the ballot of %s of round %d was changed after the seal; the seal counts", who, r.GetRound())
		}
	}
	if d.GetStatus().GetStatus() == "stalled" {
		p.Linef("! stalled: %s", CleanLine(d.GetStatus().GetReason()))
	}
}

// councilDecision adds a decision.
func (p *Page) councilDecision(dec *kiokuv1.CouncilDecision) {
	p.Linef("")
	p.Linef("%s", Bold(strings.ToUpper(dec.GetDecision())+" "+cmp.Or(deciders[dec.GetDecidedBy()], dec.GetDecidedBy())))
	if a := dec.GetAnnouncement(); a != nil {
		p.councilText("", a.GetSummary())
		for _, point := range a.GetKeyPoints() {
			p.Linef("  - %s", CleanLine(point))
		}
	}
	if dec.GetFinalApproach() != "" {
		p.Linef("%s", Bold("Approach"))
		p.councilText("  ", dec.GetFinalApproach())
	}
	for _, v := range dec.GetVotes() {
		var votes []string
		for _, who := range slices.Sorted(maps.Keys(v.GetVotes())) {
			votes = append(votes, who+" "+vote(v.GetVotes()[who]))
		}
		p.Row("round "+fmt.Sprint(v.GetRound()), "%s", strings.Join(votes, "; "))
	}
	for _, who := range slices.Sorted(maps.Keys(dec.GetAbstentions())) {
		p.Row("abstained", "%s: %s", who, dec.GetAbstentions()[who])
	}
	for _, dissent := range dec.GetDissent() {
		p.Linef("%s", Bold(fmt.Sprintf("Dissent of %s (%s)", dissent.GetMember(), vote(dissent.GetVote()))))
		p.councilText("  ", dissent.GetOpinion())
		for _, concern := range dissent.GetConcerns() {
			p.Linef("  - %s", CleanLine(concern))
		}
	}
	if dec.GetSolo() != nil {
		p.Linef("%s", Bold("The arbiter alone: "+vote(dec.GetSolo().GetVote())))
		p.councilText("  ", dec.GetSolo().GetOpinion())
	}
	p.councilFacts(dec)
}

// councilFacts adds where a decision is remembered, what it has cost, and what came of it.
func (p *Page) councilFacts(dec *kiokuv1.CouncilDecision) {
	var in, out int64
	var calls int32
	var dollars float64
	for _, u := range dec.GetUsage() {
		in, out, calls = in+u.GetInputTokenCount(), out+u.GetOutputTokenCount(), calls+u.GetCallCount()
		dollars += u.GetCost()
	}
	if calls > 0 {
		p.Row("cost", "%s, %d tokens in, %d out%s; %s", Count(calls, "call"), in, out, CouncilPrice(", %s dollars", dollars), families(dec.GetIndependenceCount()))
	}
	if dec.GetMemoryPath() != "" {
		p.Row("memory", "%s", dec.GetMemoryPath())
	}
	if dec.GetSupersedes() != "" {
		p.Row("supersedes", "%s", dec.GetSupersedes())
	}
	if dec.GetSupersededBy() != "" {
		p.Row("superseded", "by %s", dec.GetSupersededBy())
	}
	if dec.GetOutcome() != "" {
		p.Row("outcome", "%s %s", strings.ReplaceAll(dec.GetOutcome(), "_", " "), CleanLine(dec.GetOutcomeNote()))
	}
}

// families says how independent the votes are.
func families(n int32) string {
	if n <= 1 {
		return "all of one model family"
	}
	return fmt.Sprintf("%d model families", n)
}

// councilRounds adds each round with its opinions, and the comments.
func (p *Page) councilRounds(d *kiokuv1.GetTaskResponse) {
	for _, r := range d.GetRounds() {
		p.Linef("")
		p.Linef("%s  %s", Bold(fmt.Sprintf("Round %d", r.GetRound())+attempt(r.GetAttempt())), Dim(when(r.GetOpenedTime())))
		if !r.GetSealed() {
			p.Linef("  open until %s; %d answered", when(r.GetDeadlineTime()), len(r.GetAnswered()))
		}
		for _, b := range r.GetBallots() {
			p.Linef("  %s  %s", Bold(b.GetMember()), vote(b.GetVote()))
			p.councilText("    ", b.GetOpinion())
			for _, concern := range b.GetConcerns() {
				p.Linef("    - %s", CleanLine(concern))
			}
		}
		for _, who := range slices.Sorted(maps.Keys(r.GetAbstentions())) {
			p.Linef("  %s  abstains: %s", Bold(who), r.GetAbstentions()[who])
		}
	}
	for _, a := range d.GetArbitrations() {
		p.Linef("")
		p.Linef("%s", Bold(fmt.Sprintf("Arbitration by %s: %s", a.GetDecidedBy(), a.GetDecision())))
		p.councilText("  ", a.GetReasoning())
	}
	for _, c := range d.GetComments() {
		p.Linef("")
		p.Linef("%s  %s", Bold("Comment of "+authorName(c.GetAuthor())), Dim(when(c.GetCreatedTime())))
		p.councilText("  ", c.GetMessage())
	}
}

// attempt returns the number of an attempt that is not the first.
func attempt(n int32) string {
	if n <= 1 {
		return ""
	}
	return fmt.Sprintf(", attempt %d", n)
}

// authorName returns who has written something.
func authorName(a *kiokuv1.CouncilAuthor) string {
	name := strings.TrimSpace(a.GetKind() + " " + a.GetName())
	if a.GetPlatform() != "" {
		name += " on " + a.GetPlatform()
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
func (p *Page) councilNext(d *kiokuv1.GetTaskResponse) {
	id := d.GetTask().GetId()
	switch d.GetNeedsOwner() {
	case "":
	case "report":
		p.Row("next", "when it is done: kioku council report %s \"what was done\"", id)
	case "approval":
		p.Row("next", "kioku council approve %s lets the command run", id)
	default:
		p.Row("next", "kioku council round %s, decide %[1]s approved|rejected, or cancel %[1]s", id)
	}
}

// CouncilDone adds what a command has done.
func (p *Page) CouncilDone(done proto.Message) {
	switch m := done.(type) {
	case *kiokuv1.CommentResponse:
		p.Linef("%s", m.GetComment().GetId())
	case interface {
		GetStatus() *kiokuv1.CouncilStatus
	}:
		p.Linef("%s", councilState(m.GetStatus(), ""))
	}
}

// Council adds what a council is: its rules, and a line for each member.
func (p *Page) Council(c *kiokuv1.GetCouncilResponse) {
	p.Row("folder", "%s", c.GetFolder())
	p.Row("rule", "%d of %d must agree, %d to %d rounds, %s", c.GetNeededCount(), len(c.GetMembers()), c.GetMinRounds(), c.GetMaxRounds(), c.GetPolicy())
	p.Row("autonomy", "%s; execution: %s", c.GetAutonomy(), c.GetExecutionMode())
	p.Row("memory", "decisions are notes of agent %s", c.GetAgent())
	p.CouncilLoad(c.GetLoad())
	for _, m := range c.GetMembers() {
		p.Linef("")
		p.Linef("%s  %s  %s", Bold(m.GetName()), strings.Join(m.GetRoles(), ", "), Dim(m.GetModel()+", family "+m.GetFamily()))
		if m.GetPausedUntilTime() != nil {
			p.Linef("  paused until %s", when(m.GetPausedUntilTime()))
		}
		p.Linef("  %s", params(m.GetParams()))
		if m.GetParamsProblem() != "" {
			p.Linef("  ! the file of parameters is not used: %s", CleanLine(m.GetParamsProblem()))
		}
		if a := m.GetActivity(); a.GetStatus() != "" && a.GetStatus() != "idle" {
			p.Linef("  %s %s", a.GetStatus(), a.GetTaskId())
		}
	}
}

// CouncilLoad adds how busy a council is.
func (p *Page) CouncilLoad(l *kiokuv1.CouncilLoad) {
	p.Row("council", "%d open, %d wait for a person, %d of them stalled", l.GetOpenCount(), l.GetWaitingCount(), l.GetStalledCount())
	if len(l.GetAbsent()) > 0 {
		p.Row("absent", "%s", strings.Join(l.GetAbsent(), ", "))
	}
	if l.GetTokenLimit() > 0 {
		p.Row("today", "%d of %d tokens%s", l.GetTokenCount(), l.GetTokenLimit(), CouncilPrice(", %s dollars", l.GetCost()))
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

// CouncilParams adds the parameters of a member and their changes.
func (p *Page) CouncilParams(r *kiokuv1.GetParamsResponse) {
	for _, name := range slices.Sorted(maps.Keys(r.GetParams())) {
		p.Linef("%s  %.2f", Pad(name, 22), r.GetParams()[name])
	}
	for _, c := range r.GetChanges() {
		var moved []string
		for _, name := range slices.Sorted(maps.Keys(c.GetAfter())) {
			moved = append(moved, fmt.Sprintf("%s %.2f -> %.2f", name, c.GetBefore()[name], c.GetAfter()[name]))
		}
		why := cmp.Or(c.GetReason(), c.GetCycleId())
		if c.GetRollback() {
			why = strings.TrimSpace("taken back " + why)
		}
		p.Linef("%s  %s  %s  %s", Dim(when(c.GetChangedTime())), strings.Join(moved, ", "), authorName(c.GetAuthor()), CleanLine(why))
	}
}

// CouncilEvaluation adds a cycle in which members rated each other.
func (p *Page) CouncilEvaluation(e *kiokuv1.CouncilEvaluation) {
	p.Linef("%s  %s  %s %s", Bold(e.GetCycleId()), when(e.GetStartedTime()), cmp.Or(e.GetStatus(), "running"), CleanLine(e.GetReason()))
	for _, r := range e.GetRatings() {
		retune := ""
		if r.GetNeedsRetuning() {
			retune = "; proposes " + params(r.GetSuggestedParams())
		}
		p.Linef("  %s of %s: %.2f%s", r.GetEvaluator(), r.GetTarget(), r.GetOverallScore(), retune)
		if r.GetReasoning() != "" {
			p.Linef("    %s", Dim(CleanLine(r.GetReasoning())))
		}
	}
	for _, r := range e.GetRetunes() {
		var moved []string
		for _, name := range slices.Sorted(maps.Keys(r.GetAfter())) {
			if r.GetAfter()[name] != r.GetBefore()[name] {
				moved = append(moved, fmt.Sprintf("%s %.2f -> %.2f", name, r.GetBefore()[name], r.GetAfter()[name]))
			}
		}
		p.Linef("  %s retuned by %d votes: %s", r.GetTarget(), r.GetVoteCount(), cmp.Or(strings.Join(moved, ", "), "nothing moved"))
		for _, name := range slices.Sorted(maps.Keys(r.GetRefused())) {
			p.Linef("    %s stays: %s", name, CleanLine(r.GetRefused()[name]))
		}
	}
	for _, name := range e.GetMissing() {
		p.Linef("  missing: %s", name)
	}
}

// CouncilLogLine adds a line of a log.
func (p *Page) CouncilLogLine(l *kiokuv1.CouncilLogLine) {
	p.Linef("%s  %s  %s  %s  %s", Dim(l.GetTime().AsTime().Local().Format(time.DateTime)), Pad(l.GetLevel(), 5), l.GetTaskId(), l.GetPhase(), CleanLine(l.GetText()))
}

// CouncilWorkers adds a line for each worker, and one for each directive.
func (p *Page) CouncilWorkers(list []*kiokuv1.CouncilWorker) {
	for _, w := range list {
		state := "at work"
		if w.GetPausedUntilTime() != nil {
			state = "paused until " + when(w.GetPausedUntilTime())
		}
		p.Linef("%s  %s  %s", Bold(w.GetName()), state, CleanLine(w.GetReason()))
		for _, d := range w.GetDirectives() {
			p.Linef("  - %s  %s", CleanLine(d.GetText()), Dim("until "+when(d.GetExpiresTime())))
		}
		if w.GetNextSuggestionTime() != nil {
			p.Linef("  %s", Dim("may suggest again at "+when(w.GetNextSuggestionTime())))
		}
	}
}

// CouncilCommands adds a line for each command.
func (p *Page) CouncilCommands(list []*kiokuv1.CouncilCommand) {
	for _, c := range list {
		text := c.GetAction()
		if c.GetDurationMinutes() > 0 {
			text += fmt.Sprintf(" for %d minutes", c.GetDurationMinutes())
		}
		for _, d := range c.GetDirectives() {
			text += fmt.Sprintf("; %q", CleanLine(d))
		}
		answer := cmp.Or(strings.TrimSpace(c.GetAcknowledged()+" "+c.GetResult()), "waits")
		p.Linef("%s  %s  %s  %s  %s", Dim(when(c.GetIssuedTime())), Bold(c.GetId()), text, answer, CleanLine(c.GetReason()))
	}
}

// CouncilSuggestions adds a line for each suggestion.
func (p *Page) CouncilSuggestions(list []*kiokuv1.CouncilSuggestion) {
	for _, s := range list {
		p.Linef("%s  %s  %s  %s", Dim(when(s.GetSubmittedTime())), Pad(s.GetStatus(), 8), Bold(s.GetWorker()+"/"+s.GetId()), CleanLine(s.GetTitle()))
		if v := s.GetVerified(); v != nil {
			p.Linef("  %s %s %s", authorName(v.GetAuthor()), map[bool]string{true: "is for it:", false: "is against it:"}[v.GetAccept()], CleanLine(v.GetReason()))
		}
		if s.GetTaskId() != "" {
			p.Linef("  became %s", s.GetTaskId())
		}
		if s.GetNotBeforeTime() != nil && s.GetStatus() == "deferred" {
			p.Linef("  waits until %s: one suggestion an hour is looked at", when(s.GetNotBeforeTime()))
		}
	}
}

// CouncilActions adds a line for each action that was requested.
func (p *Page) CouncilActions(list []*kiokuv1.CouncilAction) {
	for _, a := range list {
		p.Linef("%s  %s  %s  %s by %s for %s  %s", Dim(when(a.GetRequestedTime())), Pad(strings.ReplaceAll(a.GetStatus(), "_", " "), 16), Bold(a.GetId()),
			a.GetService(), a.GetRequestedBy(), a.GetTaskId(), CleanLine(a.GetReason()))
		if a.GetApproval() != nil {
			p.Linef("  %s: %s", authorName(a.GetApproval().GetAuthor()), CleanLine(a.GetApproval().GetReason()))
		}
		if a.GetRunner() != "" {
			p.Linef("  run by %s: %s", a.GetRunner(), CleanLine(a.GetResult()))
		}
	}
}

// CouncilFindings adds a line for each matter that was looked at.
func (p *Page) CouncilFindings(list []*kiokuv1.CouncilFinding) {
	for _, f := range list {
		p.Linef("%s  %s  %s", Pad(f.GetLevel(), 7), Bold(f.GetName()), CleanLine(f.GetText()))
	}
}
