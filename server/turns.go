package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"kioku/agent/turns"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

const (
	// maxTurns is the maximum number of turns of a page, and maxDays that of days of an activity.
	maxTurns = 200
	maxDays  = 20_000
)

// ListTurns returns the record of what went into the last prompts.
func (s agentService) ListTurns(ctx context.Context, req *kiokuv1.ListTurnsRequest) (*kiokuv1.ListTurnsResponse, error) {
	side, err := authorize(ctx, s.sidecars, req, checkSize("session", req.GetSession(), 4*maxName), checkCount("page_size", req.GetPageSize()),
		checkDay("since", req.GetSince()), checkDay("until", req.GetUntil()), checkName("page_token", req.GetPageToken()))
	if err != nil {
		return nil, err
	}
	if req.GetPageSize() > maxTurns {
		return nil, badField("page_size", "is %d; at most %d", req.GetPageSize(), maxTurns)
	}
	page, err := side.Turns().List(ctx, turns.Query{
		Session: req.GetSession(), Since: req.GetSince(), Until: req.GetUntil(), After: req.GetPageToken(), Limit: int(req.GetPageSize()),
		Location: s.opt.Location,
	})
	if err != nil {
		return nil, err
	}
	resp := &kiokuv1.ListTurnsResponse{NextPageToken: page.Next, Sessions: convertAll(page.Sessions, turnSession)}
	resp.Kept, resp.MessagesKept = side.Turns().Kept()
	caller := callerOf(ctx)
	all := convertAll(page.Entries, func(e turns.Entry) *kiokuv1.Turn { return turn(e, caller.reaches) })
	resp.Turns = fit(all, maxAnswer-64<<10)
	if n := len(resp.Turns); n > 0 && n < len(all) {
		resp.NextPageToken = resp.Turns[n-1].Id
	}
	return resp, nil
}

// checkDay refuses what is neither empty nor a day.
func checkDay(field, day string) error {
	if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
		return badField(field, "is %q, not a day such as 2026-03-01", clip(day, 20))
	}
	return nil
}

func turnSession(s turns.Session) *kiokuv1.TurnSession {
	return &kiokuv1.TurnSession{
		Session: clip(s.Name, maxName), TurnCount: int32Of(s.Turns), FirstTime: kiokuv1.TimeOf(s.First), LastTime: kiokuv1.TimeOf(s.Last),
		Channel: clip(s.Channel, maxName),
	}
}

// turn returns an entry of the record. reaches says which agents the caller may know of: a passage of another one is left out.
func turn(e turns.Entry, reaches func(agent string) bool) *kiokuv1.Turn {
	t := &kiokuv1.Turn{
		Id: e.ID, Time: kiokuv1.TimeOf(e.Time), Kind: e.Kind, Session: e.Session, Channel: e.Channel, Group: e.Group, Model: e.Model, Mode: e.Mode,
		Message: e.Message, Tokens: int32Of(e.Tokens), BudgetTokens: int32Of(e.Budget), OverBudget: e.Over,
		Layers: convertAll(e.Layers, func(l turns.Layer) *kiokuv1.PromptLayer {
			return &kiokuv1.PromptLayer{Name: l.Name, Chars: int32Of(l.Chars), Tokens: int32Of(l.Tokens)}
		}),
		Cuts: convertAll(e.Cuts, func(c turns.Cut) *kiokuv1.PromptCut {
			return &kiokuv1.PromptCut{Part: c.Part, FromTokens: int32Of(c.From), ToTokens: int32Of(c.To)}
		}),
	}
	if e.Recall != nil {
		t.Recall = recordedRecall(*e.Recall, reaches)
	}
	if f := e.Flush; f != nil {
		t.Flush = &kiokuv1.TurnFlush{
			Outcome: f.Outcome, Reason: clip(f.Reason, 1000), CoveredCount: int32Of(f.Covered), UncoveredCount: int32Of(f.Uncovered),
			Notes: convertAll(f.Notes, func(n turns.Note) *kiokuv1.StoredNote {
				return &kiokuv1.StoredNote{Path: n.Path, Line: int32Of(n.Line), Deduplicated: n.Deduplicated, Refused: clip(n.Refused, 500)}
			}),
		}
	}
	if c := e.Compaction; c != nil {
		t.Compaction = &kiokuv1.TurnCompaction{TokensBefore: int32Of(c.Before), TokensAfter: int32Of(c.After), Reason: clip(c.Reason, 1000)}
	}
	return t
}

// recordedRecall returns a recall without what the caller may not know of.
func recordedRecall(r turns.Recall, reaches func(agent string) bool) *kiokuv1.RecallReport {
	known := func(list []turns.Passage) []turns.Passage {
		return slices.DeleteFunc(slices.Clone(list), func(p turns.Passage) bool { return !reaches(p.Agent) })
	}
	searches := slices.DeleteFunc(slices.Clone(r.Searches), func(s turns.Search) bool { return !reaches(s.Agent) })
	return &kiokuv1.RecallReport{
		Query: r.Query, Skipped: r.Skipped, Took: durationpb.New(r.Took),
		Recalled: convertAll(known(r.In), passage), LeftOut: convertAll(known(r.Out), passage),
		Searches: convertAll(searches, func(one turns.Search) *kiokuv1.RecallSearch {
			out := &kiokuv1.RecallSearch{Agent: one.Agent, HitCount: int32Of(one.Hits), Mode: one.Mode, Took: durationpb.New(one.Took)}
			for _, code := range one.Degraded {
				out.Degraded = append(out.Degraded, &kiokuv1.Degradation{Code: code})
			}
			if one.Failed {
				out.Error = "the search has failed"
			}
			return out
		}),
	}
}

func passage(p turns.Passage) *kiokuv1.RecalledMemory {
	return &kiokuv1.RecalledMemory{
		Agent: p.Agent, Shared: p.Shared, Path: p.Path, StartLine: int32Of(p.Start), EndLine: int32Of(p.End), Score: p.Score,
		VectorScore: p.Vector, TextScore: p.Words, Date: p.Date, Flags: p.Flags, Reason: clip(p.Reason, 500),
	}
}

// addTurns adds the counts of the record of turns to the days of a memory. Passages of other agents do not count.
func (s *Server) addTurns(ctx context.Context, in DaysOf, log *turns.Log, days *memory.Activity) error {
	days.TurnsKept, _ = log.Kept()
	recorded, err := log.Days(ctx, s.opt.Location, func(p turns.Passage) bool { return p.Agent == in.Agent })
	if err != nil {
		return fmt.Errorf("activity: %w", err)
	}
	count := func(d *memory.ActivityDay, day turns.Day) {
		d.Turns, d.Used, d.Recalled = day.Turns, day.Used, day.Recalled
	}
	for i := range days.Days {
		d := &days.Days[i]
		count(d, recorded[d.Date])
		delete(recorded, d.Date)
	}
	for date, day := range recorded {
		if (in.Since == "" || date >= in.Since) && (in.Until == "" || date <= in.Until) {
			d := memory.ActivityDay{Date: date}
			count(&d, day)
			days.Days = append(days.Days, d)
		}
	}
	slices.SortFunc(days.Days, func(a, b memory.ActivityDay) int { return strings.Compare(a.Date, b.Date) })
	return nil
}
