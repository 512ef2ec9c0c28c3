package client_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku/client"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// A unit of a service is the one of the memory, but for what does not leave the service.
func TestUnitOfHasEverythingThatTheServiceTells(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	at := timestamppb.New(day)
	for name, tc := range map[string]struct {
		message *kiokuv1.Unit
		want    memory.Unit
	}{
		"fact": {
			&kiokuv1.Unit{
				Id: "9f3c", Kind: "fact", State: "conflict", OccurredTime: at, RecordedTime: at, ChangedTime: at, Source: "model", Trust: "user",
				Confidence: .8, Salience: .4, Sensitivity: "private", Pinned: true, Version: 3,
				Fact: &kiokuv1.Fact{
					Subject: &kiokuv1.EntityRef{Type: "PERSON", Name: "Dario", Qualifier: "q"}, Predicate: "lives_in", Object: "Porto",
					ObjectEntity: &kiokuv1.EntityRef{Type: "PLACE", Name: "Porto"}, ValidFrom: "2026-10", ValidTo: "2026-12", SupersededBy: "aa", Conflicts: []string{"bb"},
				},
				Evidence: []*kiokuv1.Evidence{{Path: "a.md", StartLine: 3, EndLine: 4, Quote: "in Porto", Speaker: "user", Maker: "rule", Confidence: .7, SaidTime: at}},
			},
			memory.Unit{
				UID: "9f3c", Kind: memory.KindFact, State: memory.StateConflict, OccurredAt: day, RecordedAt: day, ChangedAt: day, Source: "model",
				Trust: memory.SpeakerUser, Confidence: .8, Salience: .4, Sensitivity: memory.Private, Pinned: true, Version: 3,
				Fact: &memory.Fact{
					Subject: memory.EntityRef{Type: "PERSON", Name: "Dario", Qualifier: "q"}, Predicate: "lives_in", Object: "Porto",
					ObjectEntity: &memory.EntityRef{Type: "PLACE", Name: "Porto"}, From: "2026-10", To: "2026-12", SupersededBy: "aa", Opposes: []string{"bb"},
				},
				Evidence: []memory.Evidence{{Path: "a.md", StartLine: 3, EndLine: 4, Quote: "in Porto", Speaker: memory.SpeakerUser, Maker: "rule", Confidence: .7, At: day}},
			},
		},
		"loop": {
			&kiokuv1.Unit{Kind: "loop", Loop: &kiokuv1.Loop{Status: "closed", Text: "send it", Due: "2026-12-01", OpenedTime: at, ExpireTime: at, ClosedTime: at}},
			memory.Unit{Kind: memory.KindLoop, Loop: &memory.Loop{Status: memory.LoopClosed, Text: "send it", Due: "2026-12-01", OpenedAt: day, ExpiresAt: day, ClosedAt: day}},
		},
		"summary": {
			&kiokuv1.Unit{Kind: "summary", Summary: &kiokuv1.Summary{Scope: "weekly", Key: "2026-W47", FromDay: "2026-11-16", ToDay: "2026-11-22", Text: "A move.",
				Events: []*kiokuv1.KeyEvent{{Why: "the move"}}, Relationship: "calm", Stale: true}},
			memory.Unit{Kind: memory.KindSummary, Summary: &memory.Summary{Scope: memory.ScopeWeekly, Key: "2026-W47", From: "2026-11-16", To: "2026-11-22", Text: "A move.",
				Events: []memory.KeyEvent{{Why: "the move"}}, Relationship: "calm", Stale: true}},
		},
		"unknown sensitivity": {&kiokuv1.Unit{Sensitivity: "sealed"}, memory.Unit{Sensitivity: memory.Secret}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, client.UnitOf(tc.message)); diff != "" {
				t.Errorf("unit (-want +got):\n%s", diff)
			}
		})
	}
}
