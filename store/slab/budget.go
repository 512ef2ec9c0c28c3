package slab

import (
	"slices"
	"sync"
)

// DefaultBudget is the default number of bytes of cached words and vectors: 1 GiB.
const DefaultBudget = 1 << 30

// Budget limits the bytes that several caches use together. Its methods are safe for concurrent use.
type Budget struct {
	mu     sync.Mutex
	limit  int64
	held   int64
	told   int64 // held when Changed was last called
	now    int64 // number of uses so far
	shares []*Share
	// Changed, unless it is nil, is called with the number of bytes that all shares hold when it has changed. It must not call the budget.
	Changed func(held int64)
}

// NewBudget returns a budget of a number of bytes. With 0, Hold always returns false.
func NewBudget(bytes int64) *Budget { return &Budget{limit: bytes} }

// Limit returns the number of bytes of the budget.
func (b *Budget) Limit() int64 { return b.limit }

// Held returns the number of bytes that all shares hold.
func (b *Budget) Held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// Share is the part of a budget that one cache uses. A new share holds no bytes.
type Share struct {
	budget *Budget
	bytes  int64
	used   int64 // number of the last use
	before int64 // number of the use before the last
	evict  func()
}

// Share returns a share. It calls evict when another share needs its bytes: then the cache must drop its content. evict must
// not call the budget.
func (b *Budget) Share(evict func()) *Share { return &Share{budget: b, evict: evict} }

// Use records a use of the cache, and reports whether the share holds any bytes.
func (s *Share) Use() bool {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.budget.now++
	s.before, s.used = s.used, s.budget.now
	return s.bytes > 0
}

// Resize is Hold for a share that holds bytes. It returns false if the share was evicted.
func (s *Share) Resize(bytes int64) bool {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.bytes > 0 && s.holdLocked(bytes)
}

// Fits reports whether Hold would return true.
func (s *Share) Fits(bytes int64) bool {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.fitsLocked(bytes)
}

// fitsLocked is Fits with b.mu locked.
func (s *Share) fitsLocked(bytes int64) bool {
	b := s.budget
	return b.held-s.bytes+bytes-b.reclaimable(s) <= b.limit
}

// Hold replaces the bytes that the share holds. To make room, it evicts shares that were not used since this share's use
// before the last, the least recently used first. So two caches that do not fit together and are used in turn do not
// evict each other. If it returns false, the share holds no bytes and the cache must drop its content.
func (s *Share) Hold(bytes int64) bool {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.holdLocked(bytes)
}

// holdLocked is Hold with b.mu locked.
func (s *Share) holdLocked(bytes int64) bool {
	b := s.budget
	fits := s.fitsLocked(bytes)
	s.releaseLocked()
	if !fits {
		b.tellLocked()
		return false
	}
	for b.held+bytes > b.limit {
		idle := b.idle(s.before)
		idle.releaseLocked()
		idle.evict()
	}
	s.bytes = bytes
	b.held += bytes
	b.shares = append(b.shares, s)
	b.tellLocked()
	return true
}

// Release returns the bytes of the share to the budget.
func (s *Share) Release() {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.releaseLocked()
	s.budget.tellLocked()
}

// tellLocked calls Changed if held has changed. The caller has locked b.mu.
func (b *Budget) tellLocked() {
	if b.Changed != nil && b.held != b.told {
		b.told = b.held
		b.Changed(b.held)
	}
}

// Bytes returns the number of bytes that the share holds.
func (s *Share) Bytes() int64 {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.bytes
}

// releaseLocked removes the share from its budget. The caller has locked b.mu.
func (s *Share) releaseLocked() {
	b := s.budget
	b.held -= s.bytes
	s.bytes = 0
	b.shares = slices.DeleteFunc(b.shares, func(o *Share) bool { return o == s })
}

// reclaimable returns the number of bytes of other shares that were not used since a share's use before the last.
func (b *Budget) reclaimable(s *Share) int64 {
	var sum int64
	for _, o := range b.shares {
		if o != s && o.used < s.before {
			sum += o.bytes
		}
	}
	return sum
}

// idle returns the least recently used share if it was not used since a use, else nil.
func (b *Budget) idle(since int64) *Share {
	var least *Share
	for _, s := range b.shares {
		if s.used < since && (least == nil || s.used < least.used) {
			least = s
		}
	}
	return least
}
