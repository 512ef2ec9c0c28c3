package slab

import (
	"cmp"
	"slices"
)

// Neighbor is a row near a query.
type Neighbor struct {
	// ID of the row.
	ID int64
	// Cosine of the row and the query, -1 to 1.
	Cosine float64
}

// scored is a row with its score.
type scored struct {
	score float32
	id    int64
	row   []float32
}

// before reports whether a is nearer than b. Of equal scores, the smaller id is nearer.
func (a scored) before(b scored) bool {
	return a.score > b.score || a.score == b.score && a.id < b.id
}

// floor returns the score below which no row is taken.
func floor(t *topK[scored]) float32 {
	if !t.isFull() {
		return -4
	}
	return t.heap[0].score
}

// neighbors returns the rows, nearest first, with cosines computed in float64.
func neighbors(t *topK[scored], query []float32) []Neighbor {
	near := make([]Neighbor, len(t.heap))
	for i, s := range t.heap {
		near[i] = Neighbor{s.id, cosine(query, s.row)}
	}
	slices.SortFunc(near, func(a, b Neighbor) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.ID, b.ID))
	})
	return near
}

// topK contains the k best of the values that were offered: a heap with the worst on top.
type topK[T any] struct {
	k      int
	before func(a, b T) bool // reports whether a is better than b
	heap   []T
}

func newTopK[T any](k int, before func(a, b T) bool) *topK[T] {
	return &topK[T]{k, before, make([]T, 0, k)}
}

// isFull reports whether k values were taken, so that only a better one is taken for the worst of them.
func (t *topK[T]) isFull() bool { return len(t.heap) >= t.k }

// offer takes a value if it is among the best so far.
func (t *topK[T]) offer(v T) {
	if !t.isFull() {
		t.heap = append(t.heap, v)
		t.siftUp(len(t.heap) - 1)
		return
	}
	if t.before(v, t.heap[0]) {
		t.heap[0] = v
		t.siftDown()
	}
}

// siftUp moves a value towards the top until its parent is worse.
func (t *topK[T]) siftUp(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.before(t.heap[parent], t.heap[i]) {
			return
		}
		t.heap[parent], t.heap[i] = t.heap[i], t.heap[parent]
		i = parent
	}
}

// siftDown moves the top to its position.
func (t *topK[T]) siftDown() {
	for i := 0; ; {
		worst := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(t.heap) && t.before(t.heap[worst], t.heap[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.heap[worst], t.heap[i] = t.heap[i], t.heap[worst]
		i = worst
	}
}
