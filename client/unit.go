package client

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku/derive/unit"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server/op"
)

// listUnits is the operation that lists units.
var listUnits = op.Op[unit.ListRequest, memory.UnitList]{Name: "derive list", Route: unit.ListRoute}

// Units returns the units that q selects; if words is not blank, only those that share words with it, best first. It returns
// memory.ErrDeriveOff if derivation is off for the agent. q.UIDs and q.Filter must be empty.
func (c *Client) Units(ctx context.Context, q memory.UnitQuery, words string) (memory.UnitList, error) {
	if len(q.UIDs) > 0 {
		return memory.UnitList{}, &memory.InputError{Field: "uids", Problem: "cannot be asked for over the service; GET /v1/units/ID returns one"}
	}
	if f := q.Filter; len(f.Sources) > 0 || f.PathPrefix != "" || len(f.Where) > 0 || f.Since+f.Until != "" {
		return memory.UnitList{}, &memory.InputError{Field: "filter", Problem: "cannot be applied to units over the service; Search applies it to those that it finds"}
	}
	if c.http == nil {
		return memory.UnitList{}, memory.ErrDeriveOff
	}
	ctx, cancel := c.call(ctx)
	defer cancel()
	list, err := listUnits.Call(ctx, c.http, unit.ListRequest{
		Agent: c.agent, Kinds: q.Kinds, Entity: q.Entity, Predicate: q.Predicate, States: q.States, AsOf: q.AsOf, Believed: q.BelievedAt,
		IncludeSuperseded: q.IncludeSuperseded, MaxSensitivity: q.MaxSensitivity.String(), After: q.After, Limit: q.Limit, Query: words,
	})
	if err != nil {
		return memory.UnitList{}, fmt.Errorf("list units of %s: %w", c.target, err)
	}
	return list, nil
}

// UnitOf returns a unit as package memory has it. The ids of rows and episodes, keys of facts and loops, and the inputs of summaries do
// not leave a service, and are empty.
func UnitOf(u *kiokuv1.Unit) memory.Unit {
	out := memory.Unit{
		UID: u.GetId(), Kind: u.GetKind(), State: u.GetState(), OccurredAt: timeOf(u.GetOccurredTime()), RecordedAt: timeOf(u.GetRecordedTime()),
		ChangedAt: timeOf(u.GetChangedTime()), Source: u.GetSource(), Trust: u.GetTrust(), Confidence: u.GetConfidence(), Salience: u.GetSalience(),
		Sensitivity: sensitivityOf(u.GetSensitivity()), Pinned: u.GetPinned(), Version: int(u.GetVersion()),
		Fact: factOf(u.GetFact()), Loop: loopOf(u.GetLoop()), Summary: summaryOf(u.GetSummary()),
	}
	for _, e := range u.GetEvidence() {
		out.Evidence = append(out.Evidence, memory.Evidence{
			Path: e.GetPath(), StartLine: int(e.GetStartLine()), EndLine: int(e.GetEndLine()), Quote: e.GetQuote(), Speaker: e.GetSpeaker(),
			Maker: e.GetMaker(), Confidence: e.GetConfidence(), At: timeOf(e.GetSaidTime()),
		})
	}
	return out
}

// timeOf returns the time of a message, the zero time if there is none.
func timeOf(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// sensitivityOf returns the sensitivity with a name. One that a later service has is as good as secret.
func sensitivityOf(name string) memory.Sensitivity {
	switch name {
	case "", memory.Normal.String():
		return memory.Normal
	case memory.Private.String():
		return memory.Private
	}
	return memory.Secret
}

func factOf(f *kiokuv1.Fact) *memory.Fact {
	if f == nil {
		return nil
	}
	out := &memory.Fact{
		Subject: refOf(f.GetSubject()), Predicate: f.GetPredicate(), Object: f.GetObject(), From: f.GetValidFrom(), To: f.GetValidTo(),
		SupersededBy: f.GetSupersededBy(), Opposes: f.GetConflicts(),
	}
	if f.GetObjectEntity() != nil {
		ref := refOf(f.GetObjectEntity())
		out.ObjectEntity = &ref
	}
	return out
}

func refOf(r *kiokuv1.EntityRef) memory.EntityRef {
	return memory.EntityRef{Type: r.GetType(), Name: r.GetName(), Qualifier: r.GetQualifier()}
}

func loopOf(l *kiokuv1.Loop) *memory.Loop {
	if l == nil {
		return nil
	}
	return &memory.Loop{
		Status: l.GetStatus(), Text: l.GetText(), Due: l.GetDue(), OpenedAt: timeOf(l.GetOpenedTime()), ExpiresAt: timeOf(l.GetExpireTime()),
		ClosedAt: timeOf(l.GetClosedTime()),
	}
}

func summaryOf(s *kiokuv1.Summary) *memory.Summary {
	if s == nil {
		return nil
	}
	out := &memory.Summary{
		Scope: s.GetScope(), Key: s.GetKey(), From: s.GetFromDay(), To: s.GetToDay(), Text: s.GetText(), Relationship: s.GetRelationship(),
		Stale: s.GetStale(),
	}
	for _, e := range s.GetEvents() {
		out.Events = append(out.Events, memory.KeyEvent{Why: e.GetWhy()})
	}
	return out
}
