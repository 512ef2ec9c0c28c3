package vector

import (
	"slices"
	"sync"
)

// DefaultBudget is how many bytes of vectors are held in memory where nobody says otherwise: 1 GiB.
const DefaultBudget = 1 << 30

// Budget bounds the bytes that several holders take together. Its methods may be called concurrently.
type Budget struct {
	mu     sync.Mutex
	limit  int64
	held   int64
	now    int64 // counts the uses
	shares []*Share
}

// NewBudget returns a budget of some bytes; of 0 bytes nothing is held.
func NewBudget(bytes int64) *Budget { return &Budget{limit: bytes} }

// Limit returns the bytes that may be held.
func (b *Budget) Limit() int64 { return b.limit }

// Held returns the bytes that are held by all.
func (b *Budget) Held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// Share is what one holder has of a budget. A new one holds nothing.
type Share struct {
	budget *Budget
	bytes  int64
	used   int64 // the last use
	before int64 // the use before the last
	evict  func()
}

// Share returns a share whose holder is told by evict to let go of what it holds. evict must not call the budget.
func (b *Budget) Share(evict func()) *Share { return &Share{budget: b, evict: evict} }

// Use notes that the holder was asked for something, and reports whether it holds anything.
func (s *Share) Use() bool {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.budget.now++
	s.before, s.used = s.used, s.budget.now
	return s.bytes > 0
}

// Resize is Hold for a share that was not evicted; it returns false for one that was.
func (s *Share) Resize(bytes int64) bool {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.bytes > 0 && s.hold(bytes)
}

// Hold asks for bytes in the place of those that the share has. Others that were not used since this one's use before
// the last are evicted for it, the least recently used first. So two holders that do not fit together and are asked in
// turn do not drive each other out. Where it returns false, the share holds nothing and its holder must let go.
func (s *Share) Hold(bytes int64) bool {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.hold(bytes)
}

// hold is Hold with the budget locked.
func (s *Share) hold(bytes int64) bool {
	b := s.budget
	s.drop()
	if b.held+bytes-b.reclaimable(s.before) > b.limit {
		return false
	}
	for b.held+bytes > b.limit {
		idle := b.idle(s.before)
		idle.drop()
		idle.evict()
	}
	s.bytes = bytes
	b.held += bytes
	b.shares = append(b.shares, s)
	return true
}

// Release gives back what the share holds.
func (s *Share) Release() {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.drop()
}

// Bytes returns what the share holds.
func (s *Share) Bytes() int64 {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.bytes
}

// drop takes the share out of its budget.
func (s *Share) drop() {
	b := s.budget
	b.held -= s.bytes
	s.bytes = 0
	b.shares = slices.DeleteFunc(b.shares, func(o *Share) bool { return o == s })
}

// reclaimable returns the bytes of the shares that were not used after a moment.
func (b *Budget) reclaimable(since int64) int64 {
	var sum int64
	for _, s := range b.shares {
		if s.used < since {
			sum += s.bytes
		}
	}
	return sum
}

// idle returns the least recently used share if it was not used after a moment, else nil.
func (b *Budget) idle(since int64) *Share {
	var least *Share
	for _, s := range b.shares {
		if s.used < since && (least == nil || s.used < least.used) {
			least = s
		}
	}
	return least
}
