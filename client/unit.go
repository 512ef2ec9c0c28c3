package client

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// foundUnit returns a unit that was found. What the service does not tell stays empty: keys, and ids of episodes.
func foundUnit(f *kiokuv1.FoundUnit) memory.FoundUnit {
	return memory.FoundUnit{Unit: unit(f.GetUnit()), Text: f.GetUnit().GetText(), Score: f.GetScore(), Names: f.GetNames()}
}

func unit(u *kiokuv1.Unit) memory.Unit {
	sensitivity, _ := memory.ParseSensitivity(u.GetSensitivity())
	out := memory.Unit{
		UID: u.GetId(), Kind: u.GetKind(), State: u.GetState(), Source: u.GetSource(), Trust: u.GetTrust(),
		OccurredAt: timeOf(u.GetOccurredTime()), RecordedAt: timeOf(u.GetRecordedTime()), ChangedAt: timeOf(u.GetChangedTime()),
		Confidence: u.GetConfidence(), Salience: u.GetSalience(), Sensitivity: sensitivity, Pinned: u.GetPinned(), Version: int(u.GetVersion()),
	}
	for _, e := range u.GetEvidence() {
		out.Evidence = append(out.Evidence, memory.Evidence{
			Path: e.GetPath(), StartLine: int(e.GetStartLine()), EndLine: int(e.GetEndLine()), Quote: e.GetQuote(), Speaker: e.GetSpeaker(),
			Maker: e.GetMaker(), Confidence: e.GetConfidence(), At: timeOf(e.GetSaidTime()),
		})
	}
	if f := u.GetFact(); f != nil {
		out.Fact = &memory.Fact{
			Subject: *entityRef(f.GetSubject()), Predicate: f.GetPredicate(), Object: f.GetObject(), From: f.GetValidFrom(), To: f.GetValidTo(),
			SupersededBy: f.GetSupersededBy(), Opposes: f.GetConflicts(),
		}
		if f.GetObjectEntity() != nil {
			out.Fact.ObjectEntity = entityRef(f.GetObjectEntity())
		}
	}
	if l := u.GetLoop(); l != nil {
		out.Loop = &memory.Loop{
			Status: l.GetStatus(), Text: l.GetText(), Due: l.GetDue(),
			OpenedAt: timeOf(l.GetOpenedTime()), ExpiresAt: timeOf(l.GetExpireTime()), ClosedAt: timeOf(l.GetClosedTime()),
		}
	}
	if s := u.GetSummary(); s != nil {
		out.Summary = &memory.Summary{
			Scope: s.GetScope(), Key: s.GetKey(), From: s.GetFromDay(), To: s.GetToDay(), Text: s.GetText(), Relationship: s.GetRelationship(), Stale: s.GetStale(),
		}
		for _, e := range s.GetEvents() {
			out.Summary.Events = append(out.Summary.Events, memory.KeyEvent{Why: e.GetWhy()})
		}
	}
	return out
}

func entityRef(r *kiokuv1.EntityRef) *memory.EntityRef {
	return &memory.EntityRef{Type: r.GetType(), Name: r.GetName(), Qualifier: r.GetQualifier()}
}

// timeOf returns a time, zero if it is unset.
func timeOf(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}
