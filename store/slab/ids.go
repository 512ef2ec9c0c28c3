package slab

import "slices"

// sparse is the largest ratio of the span of a set to its size for which the set is also stored as bits.
const sparse = 256

// IDs is a set of the ids of chunks.
type IDs struct {
	list []int64  // ascending
	bits []uint64 // from the first id on; nil if the ids are sparse
}

// NewIDs returns the set of ids. It may reorder and keep the slice.
func NewIDs(ids []int64) *IDs {
	slices.Sort(ids)
	s := &IDs{list: slices.Compact(ids)}
	if len(s.list) == 0 {
		return s
	}
	span := uint64(s.list[len(s.list)-1]) - uint64(s.list[0])
	if span/sparse > uint64(len(s.list)) {
		return s
	}
	s.bits = make([]uint64, span/64+1)
	for _, id := range s.list {
		at := uint64(id) - uint64(s.list[0])
		s.bits[at/64] |= 1 << (at % 64)
	}
	return s
}

// List returns the ids, ascending. The caller must not change them.
func (s *IDs) List() []int64 { return s.list }

// Has reports whether id is in the set.
func (s *IDs) Has(id int64) bool {
	if s.bits == nil {
		_, ok := slices.BinarySearch(s.list, id)
		return ok
	}
	at := uint64(id) - uint64(s.list[0])
	return id >= s.list[0] && at/64 < uint64(len(s.bits)) && s.bits[at/64]>>(at%64)&1 != 0
}
