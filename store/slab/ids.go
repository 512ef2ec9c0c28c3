package slab

import "slices"

// sparse is the largest ratio of the span of a set to its size for which the set is stored as bits.
const sparse = 256

// IDs is a set of ids.
type IDs struct {
	first int64
	bits  []uint64
	list  []int64 // sorted, instead of bits if the ids are sparse
	n     int
}

// NewIDs returns the set of ids. It may reorder and keep the slice.
func NewIDs(ids []int64) *IDs {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	s := &IDs{n: len(ids)}
	if len(ids) == 0 {
		return s
	}
	s.first = ids[0]
	span := uint64(ids[len(ids)-1]) - uint64(s.first)
	if span/sparse > uint64(len(ids)) {
		s.list = ids
		return s
	}
	s.bits = make([]uint64, span/64+1)
	for _, id := range ids {
		at := uint64(id) - uint64(s.first)
		s.bits[at/64] |= 1 << (at % 64)
	}
	return s
}

// Len returns the number of ids.
func (s *IDs) Len() int { return s.n }

// Has reports whether id is in the set.
func (s *IDs) Has(id int64) bool {
	if s.list != nil {
		_, ok := slices.BinarySearch(s.list, id)
		return ok
	}
	at := uint64(id) - uint64(s.first)
	return id >= s.first && at/64 < uint64(len(s.bits)) && s.bits[at/64]>>(at%64)&1 != 0
}
