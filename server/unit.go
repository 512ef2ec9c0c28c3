package server

import (
	"kioku/derive/vocab"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

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
