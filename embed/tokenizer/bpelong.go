package tokenizer

// symbol is a token of a long word, in a list from which merged ones are taken.
type symbol struct {
	id         int32
	prev, next int32 // -1 at the ends
	gone       bool
}

// candidate is a merge that may be done: the symbol at a place with the one after it.
type candidate struct{ rank, at, id int32 }

func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.at < d.at
}

// queue is a binary heap of candidates.
type queue []candidate

func (q *queue) push(c candidate) {
	h := append(*q, c)
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
	*q = h
}

func (q *queue) pop() candidate {
	h := *q
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(h[i]) {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	*q = h
	return top
}

// longWord is a word whose tokens are being merged.
type longWord struct {
	merges  map[pair]merge
	symbols []symbol
	queue   queue
}

// mergeLong merges tokens in place as mergeShort does, in a time that grows hardly faster than their number.
func (b *bpe) mergeLong(tokens []int32) int {
	w := longWord{merges: b.merges, symbols: make([]symbol, len(tokens)), queue: make(queue, 0, len(tokens))}
	for i, id := range tokens {
		w.symbols[i] = symbol{id: id, prev: int32(i - 1), next: int32(i + 1)}
	}
	w.symbols[len(tokens)-1].next = -1
	for i := range int32(len(tokens) - 1) {
		w.propose(i)
	}
	for len(w.queue) > 0 {
		w.apply(w.queue.pop())
	}
	kept := tokens[:0]
	for _, s := range w.symbols {
		if !s.gone {
			kept = append(kept, s.id)
		}
	}
	return len(kept)
}

// propose adds the merge of the symbol at a place with the next one, if there is one.
func (w *longWord) propose(at int32) {
	if at < 0 || w.symbols[at].next < 0 {
		return
	}
	s := w.symbols[at]
	if m, ok := w.merges[pair{s.id, w.symbols[s.next].id}]; ok {
		w.queue.push(candidate{m.rank, at, m.id})
	}
}

// apply does a merge unless one of its symbols has changed since it was proposed.
func (w *longWord) apply(c candidate) {
	left := &w.symbols[c.at]
	if left.gone || left.next < 0 {
		return
	}
	right := &w.symbols[left.next]
	if m, ok := w.merges[pair{left.id, right.id}]; !ok || m.id != c.id {
		return
	}
	left.id, right.gone = c.id, true
	if left.next = right.next; left.next >= 0 {
		w.symbols[left.next].prev = c.at
	}
	w.propose(left.prev)
	w.propose(c.at)
}
