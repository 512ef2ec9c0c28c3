package server

import (
	"maps"
	"slices"

	"kioku/council"
	"kioku/council/engine"
	kiokuv1 "kioku/proto/kioku/v1"
)

func councilAuthor(a council.Author) *kiokuv1.CouncilAuthor {
	return &kiokuv1.CouncilAuthor{Kind: a.Kind, Name: a.Name, Platform: a.Platform}
}

func councilMember(m engine.MemberState) *kiokuv1.CouncilMember {
	model := m.Member.Model
	if len(m.Member.Command) > 0 {
		model = "command"
	}
	return &kiokuv1.CouncilMember{
		Name: m.Member.Name, Roles: m.Member.Roles, Model: model, Family: m.Family, Params: m.Params.Known(),
		UnknownParams: maps.Clone(m.Unknown), ParamsProblem: m.ParamsError, Activity: councilActivity(m.Activity),
		PausedUntilTime: kiokuv1.TimeOf(m.PausedUntil),
	}
}

func councilLoad(l engine.Load) *kiokuv1.CouncilLoad {
	return &kiokuv1.CouncilLoad{
		OpenCount: int32Of(l.Open), WaitingCount: int32Of(l.Waiting), StalledCount: int32Of(l.Stalled), Absent: l.Absent,
		TokenCount: int64(l.Today.TokensIn + l.Today.TokensOut), TokenLimit: int64(l.Limit), Cost: l.Today.Cost,
	}
}

func councilActivity(a council.Activity) *kiokuv1.CouncilActivity {
	return &kiokuv1.CouncilActivity{Member: a.Member, Status: a.Status, TaskId: a.TaskID, Round: int32Of(a.Round), UpdatedTime: kiokuv1.TimeOf(a.UpdatedAt)}
}

func councilTask(t council.Task) *kiokuv1.CouncilTask {
	priority, trust := t.Priority, t.Trust
	if priority == "" {
		priority = council.PriorityMedium
	}
	if trust == "" {
		trust = council.TrustOwner
	}
	return &kiokuv1.CouncilTask{
		Id: t.ID, Type: t.Type, Title: t.Title, Description: t.Description, Priority: priority, CreatedTime: kiokuv1.TimeOf(t.CreatedAt),
		Attachments: convertAll(t.Attachments, councilAttachment), Source: t.Source, Author: councilAuthor(t.Author), Trust: trust, Supersedes: t.Supersedes,
	}
}

func councilAttachment(a council.Attachment) *kiokuv1.CouncilAttachment {
	return &kiokuv1.CouncilAttachment{Name: a.Name, File: a.File, ByteCount: a.Size}
}

func councilSummary(s engine.Summary) *kiokuv1.CouncilSummary {
	return &kiokuv1.CouncilSummary{
		Task: councilTask(s.Task), Status: councilStatusOf(s.Status), Decision: s.Decision, DecidedBy: s.DecidedBy, Degraded: s.Degraded,
		UpdatedTime: kiokuv1.TimeOf(s.UpdatedAt),
	}
}

func councilStatusOf(s council.Status) *kiokuv1.CouncilStatus {
	return &kiokuv1.CouncilStatus{
		Status: s.Status, CurrentRound: int32Of(s.CurrentRound), MaxRounds: int32Of(s.MaxRounds), StartedTime: kiokuv1.TimeOf(s.StartedAt),
		Cycle: int32Of(s.Cycle), Roster: s.Roster, NeededCount: int32Of(s.Need), Reason: s.Reason,
	}
}

func councilDetail(d engine.Detail) *kiokuv1.GetTaskResponse {
	resp := &kiokuv1.GetTaskResponse{
		Task: councilTask(d.Task), Status: councilStatusOf(d.Status), Rounds: convertAll(d.Rounds, councilRound),
		Arbitrations: convertAll(d.Arbitrations, councilArbitration), Comments: convertAll(d.Comments, councilComment),
		History: convertAll(d.History, councilDecision), Results: convertAll(d.Results, councilResult), Reviews: convertAll(d.Reviews, councilReview),
		Progress: convertAll(d.Progress, councilProgress), Thinking: d.Thinking, NeedsOwner: d.NeedsOwner, Archived: d.Archived,
	}
	if d.Decision != nil {
		resp.Decision = councilDecision(*d.Decision)
	}
	return resp
}

func councilRound(r engine.Round) *kiokuv1.CouncilRound {
	m := &kiokuv1.CouncilRound{
		Cycle: int32Of(r.Cycle), Round: int32Of(r.Round), Attempt: int32Of(r.Attempt), OpenedTime: kiokuv1.TimeOf(r.OpenedAt),
		DeadlineTime: kiokuv1.TimeOf(r.Deadline), Tampered: r.Tampered,
	}
	if r.Seal != nil {
		m.Sealed, m.Abstentions, m.Ballots = true, r.Seal.Abstentions, convertAll(r.Ballots, councilBallot)
		return m
	}
	m.Answered = slices.Clone(r.Answered)
	for _, t := range r.Turns {
		if t.Abstained != "" && !slices.Contains(m.Answered, t.Member) {
			m.Answered = append(m.Answered, t.Member)
		}
	}
	return m
}

func councilBallot(b council.Ballot) *kiokuv1.CouncilBallot {
	return &kiokuv1.CouncilBallot{
		Member: b.Node, Round: int32Of(b.Round), Vote: b.Vote, Opinion: b.Opinion, ProposedApproach: b.ProposedApproach, Concerns: b.Concerns,
		CastTime: kiokuv1.TimeOf(b.Timestamp), Attempt: int32Of(b.Attempt), Confidence: b.Confidence, Evidence: b.Evidence, Recall: b.Recall,
		Model: b.Model, Usage: councilUsage(b.Usage),
	}
}

func councilUsage(u council.Usage) *kiokuv1.CouncilUsage {
	return &kiokuv1.CouncilUsage{CallCount: int32Of(u.Calls), InputTokenCount: int64(u.TokensIn), OutputTokenCount: int64(u.TokensOut), Cost: u.Cost}
}

func councilArbitration(a council.Arbitration) *kiokuv1.CouncilArbitration {
	return &kiokuv1.CouncilArbitration{
		Decision: a.Decision, FinalApproach: a.FinalApproach, Reasoning: a.Reasoning, DecidedBy: a.DecidedBy, DecidedTime: kiokuv1.TimeOf(a.Timestamp),
	}
}

func councilComment(c council.Comment) *kiokuv1.CouncilComment {
	return &kiokuv1.CouncilComment{
		Id: c.ID, Author: councilAuthor(c.Author), Message: c.Message, RequestRound: c.RequestRound, CreatedTime: kiokuv1.TimeOf(c.CreatedAt),
		Attachments: convertAll(c.Attachments, councilAttachment),
	}
}

func councilDecision(d council.Decision) *kiokuv1.CouncilDecision {
	m := &kiokuv1.CouncilDecision{
		TaskId: d.TaskID, Decision: d.Decision, Status: d.Status, FinalRound: int32Of(d.FinalRound), FinalApproach: d.FinalApproach,
		Executor: d.Executor, DecidedTime: kiokuv1.TimeOf(d.DecidedAt), DecidedBy: d.DecidedBy, Reasoning: d.Reasoning, Cycle: int32Of(d.Cycle),
		Votes: convertAll(d.Votes, councilVotes), Abstentions: d.Abstentions, Dissent: convertAll(d.Dissent, councilDissent), Degraded: d.Degraded,
		IndependenceCount: int32Of(d.Independence), MemoryPath: d.MemoryPath, Supersedes: d.Supersedes, SupersededBy: d.SupersededBy,
		Outcome: d.Outcome, OutcomeNote: d.OutcomeNote, Usage: map[string]*kiokuv1.CouncilUsage{},
	}
	for who, u := range d.Usage {
		m.Usage[who] = councilUsage(u)
	}
	if a := d.Announcement; a != nil {
		m.Announcement = &kiokuv1.CouncilAnnouncement{
			Summary: a.Summary, KeyPoints: a.KeyPoints, AnnouncedBy: a.AnnouncedBy, AnnouncedTime: kiokuv1.TimeOf(a.AnnouncedAt),
		}
	}
	if d.Solo != nil {
		m.Solo = councilBallot(*d.Solo)
	}
	return m
}

func councilVotes(v council.RoundVotes) *kiokuv1.CouncilVotes {
	return &kiokuv1.CouncilVotes{Round: int32Of(v.Round), Attempt: int32Of(v.Attempt), Votes: v.Votes}
}

func councilDissent(d council.Dissent) *kiokuv1.CouncilDissent {
	return &kiokuv1.CouncilDissent{Member: d.Member, Vote: d.Vote, Opinion: d.Opinion, Concerns: d.Concerns}
}

func councilResult(r council.Result) *kiokuv1.CouncilResult {
	return &kiokuv1.CouncilResult{
		Executor: r.Executor, Result: r.Result, Succeeded: r.Succeeded, Attempt: int32Of(r.Attempt), CompletedTime: kiokuv1.TimeOf(r.CompletedAt),
		Author: councilAuthor(r.Author),
	}
}

func councilReview(r council.Review) *kiokuv1.CouncilReview {
	return &kiokuv1.CouncilReview{
		Cycle: int32Of(r.Cycle), Attempt: int32Of(r.Attempt), Reviewer: r.Reviewer, Passed: r.Passed, Notes: r.Notes, ReviewedTime: kiokuv1.TimeOf(r.Timestamp),
	}
}

func councilProgress(p engine.ProgressLine) *kiokuv1.CouncilProgress {
	return &kiokuv1.CouncilProgress{Time: kiokuv1.TimeOf(p.Time), Text: p.Text}
}

func councilParamsChange(c council.ParamsChange) *kiokuv1.CouncilParamsChange {
	return &kiokuv1.CouncilParamsChange{
		ChangedTime: kiokuv1.TimeOf(c.At), Before: c.Before, After: c.After, Author: councilAuthor(c.Who), Reason: c.Why, CycleId: c.Cycle, Rollback: c.Rollback,
	}
}

func councilEvaluation(e engine.EvaluationState) *kiokuv1.CouncilEvaluation {
	m := &kiokuv1.CouncilEvaluation{
		CycleId: e.Request.CycleID, Type: e.Request.Type, StartedTime: kiokuv1.TimeOf(e.Request.TriggeredAt), StartedBy: e.Request.TriggeredBy,
		Ratings: convertAll(e.Evaluations, councilRating), Retunes: convertAll(e.Retunes, councilRetune), Thinking: e.Thinking,
	}
	if r := e.Result; r != nil {
		m.Status, m.Reason, m.CompletedTime, m.Missing = r.Status, r.Reason, kiokuv1.TimeOf(r.CompletedAt), r.Missing
	}
	return m
}

func councilRating(e council.Evaluated) *kiokuv1.CouncilRating {
	return &kiokuv1.CouncilRating{
		Evaluator: e.Evaluator, Target: e.Target, OverallScore: e.OverallScore, NeedsRetuning: e.NeedsRetuning, SuggestedParams: e.SuggestedParams,
		Reasoning: e.Reasoning, RatedTime: kiokuv1.TimeOf(e.Timestamp), Scores: map[string]float64{
			"decision_quality": e.Scores.DecisionQuality, "collaboration": e.Scores.Collaboration,
			"effectiveness": e.Scores.Effectiveness, "parameter_balance": e.Scores.ParameterBalance,
		},
	}
}

func councilRetune(r council.Retune) *kiokuv1.CouncilRetune {
	return &kiokuv1.CouncilRetune{
		Target: r.Target, VoteCount: int32Of(r.Votes), NeededCount: int32Of(r.Need), Before: r.Before, After: r.After, Refused: r.Refused,
	}
}

func councilWorker(w engine.WorkerState) *kiokuv1.CouncilWorker {
	m := &kiokuv1.CouncilWorker{
		Name: w.Name, PausedUntilTime: kiokuv1.TimeOf(w.PausedUntil), Reason: w.Reason, NextSuggestionTime: kiokuv1.TimeOf(w.NextSuggestion),
	}
	for _, d := range w.Directives {
		m.Directives = append(m.Directives, &kiokuv1.CouncilDirective{Text: d.Text, ExpiresTime: kiokuv1.TimeOf(d.ExpiresAt), CommandId: d.CommandID})
	}
	return m
}

func councilCommand(c council.Command) *kiokuv1.CouncilCommand {
	return &kiokuv1.CouncilCommand{
		Id: c.ID, Worker: c.Worker, Action: c.Action, DurationMinutes: int32Of(c.Params.DurationMinutes), Directives: c.Params.Directives,
		Reason: c.Reason, Author: councilAuthor(c.IssuedBy), TaskId: c.TaskID, IssuedTime: kiokuv1.TimeOf(c.IssuedAt),
		ExpiresTime: kiokuv1.TimeOf(c.ExpiresAt), Mac: c.MAC,
	}
}

func councilCommandState(c engine.CommandState) *kiokuv1.CouncilCommand {
	m := councilCommand(c.Command)
	if c.Ack != nil {
		m.Acknowledged, m.Result, m.ResultDetail, m.ProcessedTime = c.Ack.Status, c.Ack.Result, c.Ack.ResultDetail, kiokuv1.TimeOf(c.Ack.ProcessedAt)
	}
	return m
}

func councilSuggestion(s council.Suggestion) *kiokuv1.CouncilSuggestion {
	return &kiokuv1.CouncilSuggestion{
		Id: s.ID, Worker: s.Worker, Title: s.Title, Description: s.Description, SubmittedTime: kiokuv1.TimeOf(s.SubmittedAt), Type: orTask(s.Type),
		Reply: s.Reply, Status: s.Status, NotBeforeTime: kiokuv1.TimeOf(s.NotBefore), Verified: councilVerdict(s.Verified),
		Reviewed: councilVerdict(s.Reviewed), TaskId: s.TaskID,
	}
}

func councilVerdict(v *council.Verdict) *kiokuv1.CouncilVerdict {
	if v == nil {
		return nil
	}
	return &kiokuv1.CouncilVerdict{Accept: v.Accept, Reason: v.Reason, Author: councilAuthor(v.By), GivenTime: kiokuv1.TimeOf(v.At)}
}

func councilAction(a council.ActionRequest) *kiokuv1.CouncilAction {
	return &kiokuv1.CouncilAction{
		Id: a.ID, Service: a.Service, TaskId: a.TaskID, RequestedBy: a.RequestedBy, Reason: a.Reason, Status: a.Status,
		RequestedTime: kiokuv1.TimeOf(a.RequestedAt), Approval: councilVerdict(a.Approved), Runner: a.Runner, StartedTime: kiokuv1.TimeOf(a.StartedAt),
		EndedTime: kiokuv1.TimeOf(a.EndedAt), Result: a.Result,
	}
}

func councilLogLine(l council.LogLine) *kiokuv1.CouncilLogLine {
	return &kiokuv1.CouncilLogLine{Time: kiokuv1.TimeOf(l.Time), Level: l.Level, TaskId: l.Task, Phase: l.Phase, Text: l.Text}
}
