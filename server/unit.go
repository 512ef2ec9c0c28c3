package server

import (
	"encoding/json"
	"fmt"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// maxUnitText is the maximum number of bytes of a text that a person corrects.
const maxUnitText = 4 << 10

// unitMessage returns a unit with its text, and without evidence of which nothing is known.
func unitMessage(u memory.Unit) *kiokuv1.Unit {
	return &kiokuv1.Unit{
		Id: u.UID, Kind: u.Kind, State: u.State, Text: vocab.Text(u),
		OccurredTime: kiokuv1.TimeOf(u.OccurredAt), RecordedTime: kiokuv1.TimeOf(u.RecordedAt), ChangedTime: kiokuv1.TimeOf(u.ChangedAt),
		Source: u.Source, Trust: u.Trust, Confidence: u.Confidence, Salience: u.Salience, Sensitivity: u.Sensitivity.String(),
		Pinned: u.Pinned, Version: int32Of(u.Version),
		Fact: fact(u.Fact), Loop: loop(u.Loop), Summary: summary(u), Evidence: convertAll(u.Evidence, evidence),
	}
}

func fact(f *memory.Fact) *kiokuv1.Fact {
	if f == nil {
		return nil
	}
	return &kiokuv1.Fact{
		Subject: entityRef(&f.Subject), Predicate: f.Predicate, Object: f.Object, ObjectEntity: entityRef(f.ObjectEntity),
		ValidFrom: f.From, ValidTo: f.To, SupersededBy: f.SupersededBy, Conflicts: f.Opposes,
	}
}

func entityRef(r *memory.EntityRef) *kiokuv1.EntityRef {
	if r == nil {
		return nil
	}
	return &kiokuv1.EntityRef{Type: r.Type, Name: r.Name, Qualifier: r.Qualifier}
}

func loop(l *memory.Loop) *kiokuv1.Loop {
	if l == nil {
		return nil
	}
	return &kiokuv1.Loop{
		Status: l.Status, Text: l.Text, Due: l.Due,
		OpenedTime: kiokuv1.TimeOf(l.OpenedAt), ExpireTime: kiokuv1.TimeOf(l.ExpiresAt), ClosedTime: kiokuv1.TimeOf(l.ClosedAt),
	}
}

// summary returns the summary of a unit. Its events are cited where the evidence of the unit has them.
func summary(u memory.Unit) *kiokuv1.Summary {
	if u.Summary == nil {
		return nil
	}
	places := make(map[string]string)
	for _, e := range u.Evidence {
		if places[e.EpisodeUID] == "" {
			places[e.EpisodeUID] = e.Citation()
		}
	}
	out := &kiokuv1.Summary{
		Scope: u.Summary.Scope, Key: u.Summary.Key, FromDay: u.Summary.From, ToDay: u.Summary.To, Text: u.Summary.Text,
		Relationship: u.Summary.Relationship, Stale: u.Summary.Stale,
	}
	for _, e := range u.Summary.Events {
		out.Events = append(out.Events, &kiokuv1.KeyEvent{Citation: places[e.EpisodeUID], Why: e.Why})
	}
	return out
}

func evidence(e memory.Evidence) *kiokuv1.Evidence {
	return &kiokuv1.Evidence{
		Path: e.Path, StartLine: int32Of(e.StartLine), EndLine: int32Of(e.EndLine), Quote: e.Quote, Speaker: e.Speaker, Maker: e.Maker,
		Confidence: e.Confidence, SaidTime: kiokuv1.TimeOf(e.At), Citation: e.Citation(),
	}
}

// unitVersion returns a version with the unit as it was. It returns an error for a payload that is none.
func unitVersion(v unit.Version) (*kiokuv1.UnitVersion, error) {
	var was memory.Unit
	if err := json.Unmarshal([]byte(v.Payload), &was); err != nil {
		return nil, fmt.Errorf("read version %d of unit %s: %w", v.Version, v.UID, err)
	}
	return &kiokuv1.UnitVersion{
		Version: int32Of(v.Version), Reason: v.Reason, Unit: unitMessage(was), Model: v.Model, Contract: v.Contract, RecordedTime: kiokuv1.TimeOf(v.RecordedAt),
	}, nil
}

func entity(e unit.Entity) *kiokuv1.Entity {
	return &kiokuv1.Entity{
		Id: e.UID, Type: e.Type, Name: e.Name, Qualifier: e.Qualifier, Aliases: e.Aliases, MergedInto: e.MergedInto,
		MentionCount: int32Of(e.Mentions), LastSeenTime: kiokuv1.TimeOf(e.LastSeen),
		Relations: convertAll(e.Relations, relation),
	}
}

func relation(r unit.Relation) *kiokuv1.Relation {
	return &kiokuv1.Relation{Source: r.Source, Kind: r.Kind, Target: r.Target, Citation: r.Citation, EpisodeCount: int32Of(r.Episodes)}
}

func twins(t unit.Twins) *kiokuv1.Twins {
	return &kiokuv1.Twins{First: entity(t.First), Second: entity(t.Second), Reason: t.Reason}
}

func decided(d unit.Decided) *kiokuv1.Decided {
	out := &kiokuv1.Decided{Decision: d.Line, Remaining: d.Remaining}
	if d.Unit != nil {
		out.Unit = unitMessage(*d.Unit)
	}
	if d.Entity != nil {
		out.Entity = entity(*d.Entity)
	}
	return out
}

func deriveProgress(p unit.DeriveProgress) *kiokuv1.RunDeriveResponse {
	return &kiokuv1.RunDeriveResponse{Step: p.Step, DoneCount: int32Of(p.Done), TotalCount: int32Of(p.Total), Text: clip(p.Text, 500)}
}

// maxDeriveList is the maximum number of entries in each list of a status.
const maxDeriveList = 100

func deriveStatus(st unit.DeriveStatus) *kiokuv1.DeriveStatusResponse {
	return &kiokuv1.DeriveStatusResponse{
		Enabled: true, Model: st.Model, Problem: clip(st.Problem, 500), EpisodeCount: int32Of(st.Episodes), PendingCount: int32Of(st.Pending),
		UnextractedCount: int32Of(st.Unextracted), Units: counts(st.Units), Entities: counts(st.Entities), Jobs: counts(st.Jobs),
		Parked: convertAll(st.Parked[:min(len(st.Parked), maxDeriveList)], parkedJob), Rejected: counts(st.Rejected),
		TodayTokens: int64(st.TokensToday), MaxDayTokens: int64(st.MaxTokensPerDay), TodayCalls: int32Of(st.CallsToday),
		HourCalls: int32Of(st.CallsThisHour), MaxHourCalls: int32Of(st.MaxCallsPerHour), BudgetExhausted: st.BudgetExhausted,
		CachedAnswerCount: int32Of(st.CachedAnswers), PrivateCount: int32Of(st.Private), SecretCount: int32Of(st.Secret),
		ConflictCount: int32Of(st.Conflicts), ViewDir: st.ViewDir, EditedViews: st.EditedViews[:min(len(st.EditedViews), maxDeriveList)],
		BadDecisions: st.BadDecisions[:min(len(st.BadDecisions), maxDeriveList)], OldestJobTime: kiokuv1.TimeOf(st.OldestJob),
	}
}

// counts returns the counts of a status, nil for none.
func counts(of map[string]int) map[string]int32 {
	if len(of) == 0 {
		return nil
	}
	out := make(map[string]int32, len(of))
	for name, n := range of {
		out[name] = int32Of(n)
	}
	return out
}

func parkedJob(j unit.ParkedJob) *kiokuv1.ParkedJob {
	return &kiokuv1.ParkedJob{
		Id: j.ID, Kind: j.Kind, ErrorClass: j.ErrorClass, Message: clip(j.Message, 1000), Answer: clip(j.Answer, 2<<10),
		Episodes: j.Episodes[:min(len(j.Episodes), maxDeriveList)], ChangedTime: kiokuv1.TimeOf(j.ChangedAt),
	}
}
