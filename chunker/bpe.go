package chunker

import "math"

// noRank is the rank of a text that is not a token. It is larger than that of every token.
const noRank = math.MaxInt32

// merger counts the tokens of pieces by byte pair encoding. Of all neighbours that are a token when joined, it joins those
// with the lowest rank first, the leftmost of equals, until no such neighbours are left. A heap finds them, so that a
// piece of n bytes costs n log n; the usual scan for the minimum is quadratic and takes minutes for a megabyte.
type merger struct {
	*vocabulary
	parts []part
	heap  []candidate
}

// part is a run of bytes that have been joined so far. Its index is its start in the piece.
type part struct {
	// end is the end of the part and the start of the next; 0 after the part was joined to the one before.
	end int32
	// prev is the start of the part before, -1 for the first.
	prev int32
}

// candidate is a pair of neighbours that are a token when joined.
type candidate struct {
	rank int32
	// start of the first part and end of the second. The candidate is stale if these are not neighbours any more.
	start, end int32
}

// before reports whether tiktoken joins c before d.
func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.start < d.start
}

// count returns the number of tokens of a piece.
func (m *merger) count(piece string) int {
	m.reset(piece)
	tokens := len(piece)
	for len(m.heap) > 0 {
		c := m.pop()
		if m.join(c) {
			tokens--
			m.offer(piece, m.parts[c.start].prev, c.start)
			m.offer(piece, c.start, c.end)
		}
	}
	return tokens
}

// reset makes every byte of piece a part and every pair of them that is a token a candidate.
func (m *merger) reset(piece string) {
	m.parts, m.heap = m.parts[:0], m.heap[:0]
	for i := range len(piece) {
		m.parts = append(m.parts, part{end: int32(i) + 1, prev: int32(i) - 1})
	}
	for i := range int32(len(piece) - 1) {
		m.offer(piece, i, i+1)
	}
}

// join joins the two parts of a candidate. It returns false if the candidate is stale.
func (m *merger) join(c candidate) bool {
	middle := m.parts[c.start].end
	if middle == 0 || middle >= c.end || m.parts[middle].end != c.end {
		return false
	}
	m.parts[middle].end = 0
	m.parts[c.start].end = c.end
	if int(c.end) < len(m.parts) {
		m.parts[c.end].prev = c.start
	}
	return true
}

// offer pushes the neighbours that start at first and second if they are a token when joined.
func (m *merger) offer(piece string, first, second int32) {
	if first < 0 || int(second) >= len(piece) {
		return
	}
	end := m.parts[second].end
	if rank := m.rank(piece[first:end]); rank != noRank {
		m.push(candidate{rank: rank, start: first, end: end})
	}
}

// push adds a candidate to the heap.
func (m *merger) push(c candidate) {
	m.heap = append(m.heap, c)
	i := len(m.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !c.before(m.heap[up]) {
			break
		}
		m.heap[i] = m.heap[up]
		i = up
	}
	m.heap[i] = c
}

// pop removes the first candidate from the heap, which must not be empty.
func (m *merger) pop() candidate {
	top, last := m.heap[0], m.heap[len(m.heap)-1]
	m.heap = m.heap[:len(m.heap)-1]
	if len(m.heap) == 0 {
		return top
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(m.heap) {
			break
		}
		if down+1 < len(m.heap) && m.heap[down+1].before(m.heap[down]) {
			down++
		}
		if !m.heap[down].before(last) {
			break
		}
		m.heap[i] = m.heap[down]
		i = down
	}
	m.heap[i] = last
	return top
}
