package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/unit"
	"kioku/memory"
)

// A merged entity stands on the line of the one that it is merged into; if that one is not listed, it has a line of its own.
func TestEntitiesStandWithTheOneTheyAreMergedInto(t *testing.T) {
	t.Parallel()
	p := &Page{}
	p.Entities(unit.EntityList{Entities: []unit.Entity{
		{UID: "aaaaaaaa11", Type: "PERSON", Name: "Ines", Mentions: 3, Relations: []unit.Relation{{Kind: "sister of", Source: "Zora", Target: "Ines", Citation: "memory/2026-03-02.md#L1"}}},
		{UID: "bbbbbbbb11", Type: "PERSON", Name: "Ines Duarte", Mentions: 1, MergedInto: "aaaaaaaa11"},
		{UID: "cccccccc11", Type: "PERSON", Name: "Rui", Mentions: 1, MergedInto: "dddddddd11"},
	}})
	want := `aaaaaaaa  PERSON    Ines         3 mentions; the same as Ines Duarte (bbbbbbbb)
          sister of: Zora → Ines memory/2026-03-02.md#L1
cccccccc  PERSON    Rui          1 mention; merged into dddddddd
`
	if diff := cmp.Diff(want, p.String()); diff != "" {
		t.Error(diff)
	}
}

// A summary is shown with the name of what it is about, and its evidence without a speaker that there is not.
func TestUnitsNameWhatASummaryIsAbout(t *testing.T) {
	t.Parallel()
	u := memory.Unit{UID: "aaaaaaaa11", Kind: memory.KindSummary, State: memory.StateValidated, Text: "A busy week.", Source: "model", Confidence: 0.7,
		Summary:  &memory.Summary{Scope: memory.ScopeTopic, Key: "cccb7cb5ffff", Name: "仕事", Text: "A busy week."},
		Evidence: []memory.Evidence{{Path: "memory/2026-11-16.md", StartLine: 1, EndLine: 3, Quote: "A new job.", Maker: "model", Confidence: 0.7}}}
	p := &Page{}
	p.Units([]memory.Unit{u})
	p.evidence(u.Evidence)
	want := `aaaaaaaa  summary  topic 仕事: A busy week.  0.70  memory/2026-11-16.md#L1-L3
  memory/2026-11-16.md#L1-L3  0.70 by model
    A new job.
`
	if diff := cmp.Diff(want, p.String()); diff != "" {
		t.Error(diff)
	}
}
