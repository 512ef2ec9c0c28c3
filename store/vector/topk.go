package vector

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

// topK contains the k nearest of the rows that were offered: a heap with the farthest on top.
type topK struct {
	k    int
	heap []scored
}

func newTopK(k int) *topK { return &topK{k: k, heap: make([]scored, 0, k)} }

// floor returns the score below which offer takes no row.
func (t *topK) floor() float32 {
	if len(t.heap) < t.k {
		return -4
	}
	return t.heap[0].score
}

// offer takes a row if it is among the nearest so far.
func (t *topK) offer(s scored) {
	if len(t.heap) < t.k {
		t.heap = append(t.heap, s)
		t.siftUp(len(t.heap) - 1)
		return
	}
	if s.before(t.heap[0]) {
		t.heap[0] = s
		t.siftDown()
	}
}

// siftUp moves a row towards the top until its parent is farther.
func (t *topK) siftUp(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.heap[parent].before(t.heap[i]) {
			return
		}
		t.heap[parent], t.heap[i] = t.heap[i], t.heap[parent]
		i = parent
	}
}

// siftDown moves the top to its position.
func (t *topK) siftDown() {
	for i := 0; ; {
		far := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(t.heap) && t.heap[far].before(t.heap[child]) {
				far = child
			}
		}
		if far == i {
			return
		}
		t.heap[far], t.heap[i] = t.heap[i], t.heap[far]
		i = far
	}
}

// neighbors returns the rows, nearest first, with cosines computed in float64.
func (t *topK) neighbors(query []float32) []Neighbor {
	near := make([]Neighbor, len(t.heap))
	for i, s := range t.heap {
		near[i] = Neighbor{s.id, cosine(query, s.row)}
	}
	slices.SortFunc(near, func(a, b Neighbor) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.ID, b.ID))
	})
	return near
}
