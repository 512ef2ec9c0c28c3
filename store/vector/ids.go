package vector

import "slices"

// sparse is how many times larger than its size the span of a set may be for a bit an id.
const sparse = 256

// IDs is a set of ids.
type IDs struct {
	first int64
	bits  []uint64
	list  []int64 // sorted, in the place of bits where the ids lie far apart
	n     int
}

// NewIDs returns the set of the given ids, which it may reorder.
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

// Len returns how many ids there are.
func (s *IDs) Len() int { return s.n }

// Has reports whether id is one of them.
func (s *IDs) Has(id int64) bool {
	if s.list != nil {
		_, ok := slices.BinarySearch(s.list, id)
		return ok
	}
	at := uint64(id) - uint64(s.first)
	return id >= s.first && at/64 < uint64(len(s.bits)) && s.bits[at/64]>>(at%64)&1 != 0
}
