package derive

import (
	"context"
	"fmt"
	"testing"

	"kioku/memory"
)

// crowdedStore has as many facts that hold as it says, and as many that are over.
type crowdedStore int

// Units returns pages of facts without evidence.
func (c crowdedStore) Units(_ context.Context, q memory.UnitQuery) (memory.UnitList, error) {
	if q.Kinds[0] != memory.KindFact {
		return memory.UnitList{}, nil
	}
	from := 0
	if q.After != "" {
		_, _ = fmt.Sscanf(q.After, "%d", &from)
	}
	list := memory.UnitList{Total: int(c), Withheld: 7}
	for i := from; i < min(from+q.Limit, int(c)); i++ {
		list.Units = append(list.Units, memory.Unit{UID: fmt.Sprintf("%08d", i), State: q.States[0]})
	}
	if from+q.Limit < int(c) {
		list.Next = fmt.Sprint(from + q.Limit)
	}
	return list, nil
}

func TestViewUnitsCountsWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	for facts, want := range map[crowdedStore][2]int{100: {200, 0}, 12_000: {20_000, 4000}, 25_000: {20_000, 30_000}} {
		in, err := viewUnits(t.Context(), facts, memory.Normal)
		if err != nil || len(in.Units) != want[0] || in.More != want[1] || in.Withheld[memory.KindFact] != 14 {
			t.Errorf("of %d facts %d are shown, %d left out and %v withheld, %v", 2*facts, len(in.Units), in.More, in.Withheld, err)
		}
	}
}
