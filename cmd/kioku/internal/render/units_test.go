package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	kiokuv1 "kioku/proto/kioku/v1"
)

// A merged entity stands on the line of the one that it is merged into; if that one is not listed, it has a line of its own.
func TestEntitiesStandWithTheOneTheyAreMergedInto(t *testing.T) {
	t.Parallel()
	p := &Page{}
	p.Entities(&kiokuv1.ListEntitiesResponse{Entities: []*kiokuv1.Entity{
		{Id: "aaaaaaaa11", Type: "PERSON", Name: "Ines", MentionCount: 3, Relations: []*kiokuv1.Relation{{Kind: "sister of", Source: "Zora", Target: "Ines", Citation: "memory/2026-03-02.md#L1"}}},
		{Id: "bbbbbbbb11", Type: "PERSON", Name: "Ines Duarte", MentionCount: 1, MergedInto: "aaaaaaaa11"},
		{Id: "cccccccc11", Type: "PERSON", Name: "Rui", MentionCount: 1, MergedInto: "dddddddd11"},
	}})
	want := `aaaaaaaa  PERSON    Ines         3 mentions; the same as Ines Duarte (bbbbbbbb)
          sister of: Zora → Ines memory/2026-03-02.md#L1
cccccccc  PERSON    Rui          1 mention; merged into dddddddd
`
	if diff := cmp.Diff(want, p.String()); diff != "" {
		t.Error(diff)
	}
}
