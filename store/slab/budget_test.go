package slab_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"kioku/store/slab"
)

// holder is a share that counts its evictions.
type holder struct {
	*slab.Share
	evicted int
}

func newHolder(b *slab.Budget) *holder {
	h := &holder{}
	h.Share = b.Share(func() { h.evicted++ })
	return h
}

func TestShareHoldEvictsTheLeastRecentlyUsedFirst(t *testing.T) {
	t.Parallel()
	b := slab.NewBudget(100)
	old, young, third := newHolder(b), newHolder(b), newHolder(b)
	old.Use()
	young.Use()
	if !old.Hold(40) || !young.Hold(40) {
		t.Fatal("80 of 100 do not fit")
	}
	third.Use()
	if third.Hold(40) {
		t.Error("the first use evicts others at once")
	}
	third.Use()
	if !third.Hold(40) || old.evicted != 1 || young.evicted != 0 || old.Bytes() != 0 || b.Held() != 80 {
		t.Errorf("old evicted %d times, young %d, %d held", old.evicted, young.evicted, b.Held())
	}
}

func TestShareHoldKeepsSharesThatAreUsedInTurn(t *testing.T) {
	t.Parallel()
	b := slab.NewBudget(100)
	a, c := newHolder(b), newHolder(b)
	a.Use()
	if !a.Hold(80) {
		t.Fatal("80 of 100 do not fit")
	}
	for range 10 {
		c.Use()
		if c.Hold(80) {
			t.Fatal("a holder in use was evicted")
		}
		a.Use()
	}
	c.Use()
	c.Use()
	if !c.Hold(80) || a.evicted != 1 {
		t.Error("an idle holder keeps its position")
	}
}

func TestShareHoldEvictsNothingForWhatNeverFits(t *testing.T) {
	t.Parallel()
	b := slab.NewBudget(100)
	a, c := newHolder(b), newHolder(b)
	a.Hold(50)
	c.Use()
	c.Use()
	if c.Hold(101) || a.evicted != 0 || a.Bytes() != 50 {
		t.Error("101 of 100 were held, or somebody was evicted for them")
	}
}

func TestBudgetTellsOnlyChanges(t *testing.T) {
	t.Parallel()
	b := slab.NewBudget(100)
	var told []int64
	b.Changed = func(held int64) { told = append(told, held) }
	a := newHolder(b)
	a.Release()
	a.Hold(50)
	a.Resize(50)
	a.Resize(60)
	a.Hold(101)
	a.Hold(102)
	if want := []int64{50, 60, 0}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

func TestBudgetIsNeverExceeded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.Int64Range(0, 50).Draw(rt, "limit")
		b := slab.NewBudget(limit)
		holders := []*holder{newHolder(b), newHolder(b), newHolder(b)}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			h := rapid.SampledFrom(holders).Draw(rt, "holder")
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				if h.Use() != (h.Bytes() > 0) {
					rt.Fatal("Use tells wrongly whether anything is held")
				}
			case 1:
				n := rapid.Int64Range(1, 60).Draw(rt, "bytes")
				if ok := h.Hold(n); ok != (h.Bytes() == n) || !ok && h.Bytes() != 0 {
					rt.Fatalf("asked for %d, got %d", n, h.Bytes())
				}
			case 2:
				before, n := h.Bytes(), rapid.Int64Range(1, 60).Draw(rt, "bytes")
				if ok := h.Resize(n); ok != (h.Bytes() == n) || ok && before == 0 || !ok && h.Bytes() != 0 {
					rt.Fatalf("asked for %d in the position of %d, got %d", n, before, h.Bytes())
				}
			default:
				h.Release()
			}
			var sum int64
			for _, h := range holders {
				sum += h.Bytes()
			}
			if sum != b.Held() || sum > limit {
				rt.Fatalf("%d held in shares, %d in the budget of %d", sum, b.Held(), limit)
			}
		}
	})
}
