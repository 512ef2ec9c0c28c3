package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/unit"
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
