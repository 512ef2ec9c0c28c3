package unit_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/unit"
	"kioku/memory"
)

// Versions that were stored under the names of before are read too, and a text that looks like a name stays as it is.
func TestVersionReadsWhatWasStoredBefore(t *testing.T) {
	t.Parallel()
	const payload = `{"ID":0,"UID":"9f3c","Kind":"fact","State":"conflict","OccurredAt":"2026-11-19T09:00:00Z","Sensitivity":1,"Version":1,
		"Fact":{"Subject":{"Type":"PERSON","Name":"Ana"},"Predicate":"likes","Key":"k","Object":"the \"UID\": of it","Opposes":["bb"],"SupersededBy":"aa"}}`
	want := memory.Unit{
		UID: "9f3c", Kind: memory.KindFact, State: memory.StateConflict, OccurredAt: time.Date(2026, 11, 19, 9, 0, 0, 0, time.UTC), Sensitivity: memory.Private,
		Version: 1, Fact: &memory.Fact{Subject: memory.EntityRef{Type: "PERSON", Name: "Ana"}, Predicate: "likes", Key: "k", Object: `the "UID": of it`,
			Opposes: []string{"bb"}, SupersededBy: "aa"},
	}
	got, err := unit.Version{Payload: payload}.Was()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v; unit (-want +got):\n%s", err, diff)
	}
	if _, err := (unit.Version{Payload: "{"}).Was(); err == nil {
		t.Error("a payload that is none is read")
	}
}
