package postings

import (
	"cmp"
	"slices"
)

// found is a document with its score.
type found struct {
	score int64
	id    int64
}

// topK contains the best of the documents that were offered: a heap with the worst on top.
type topK struct {
	limit int
	heap  []found
}

// floor returns the score that a document must exceed to be taken.
func (t *topK) floor() int64 {
	if len(t.heap) < t.limit {
		return -1
	}
	return t.heap[0].score
}

// compare orders documents, best first.
func compare(a, b found) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
}

// offer takes a document if its score exceeds the floor. Documents of equal scores are offered in the order of their ids.
func (t *topK) offer(f found) {
	switch {
	case len(t.heap) < t.limit:
		t.heap = append(t.heap, f)
		for i := len(t.heap) - 1; i > 0 && compare(t.heap[i], t.heap[(i-1)/2]) > 0; i = (i - 1) / 2 {
			t.heap[i], t.heap[(i-1)/2] = t.heap[(i-1)/2], t.heap[i]
		}
	case f.score > t.heap[0].score:
		t.heap[0] = f
		t.siftDown()
	}
}

// siftDown moves the top to its position.
func (t *topK) siftDown() {
	for i := 0; ; {
		worst := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(t.heap) && compare(t.heap[child], t.heap[worst]) > 0 {
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

// ids returns the ids of the documents, best first, nil if there is none.
func (t *topK) ids() []int64 {
	slices.SortFunc(t.heap, compare)
	var ids []int64
	for _, f := range t.heap {
		ids = append(ids, f.id)
	}
	return ids
}
