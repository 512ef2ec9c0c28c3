package search

import (
	"math"

	"kioku/chunker"
	"kioku/embed"
	"kioku/memory"
)

// meaning is how near a candidate is to the query by its vectors.
type meaning struct {
	// embedded reports that the chunk has a usable vector, and chunk is its cosine.
	embedded bool
	chunk    float64
	// windows are the cosines of the windows of the chunk; empty if it has none.
	windows []float64
	// windowsOnly reports that the cosine of the chunk says nothing beside those of its windows.
	windowsOnly bool
	// best is the highest cosine of the windows that lie in the candidate, first and last are the lines of this window, 0 if there
	// is none, and mean is the cosine of the mean of these windows.
	best, mean  float64
	first, last int
	// raw is what these come to together, and calibrated what raw is worth beside the other candidates, in [0,1].
	raw, calibrated float64
	// sure, in [0,1], is comparable between queries: how far the best window is from the mean of the index on the way to 1.
	sure float64
}

// compareChunk compares a chunk with the vector of the query.
func compareChunk(query []float32, c *Chunk) meaning {
	var m meaning
	m.chunk, m.embedded = cosine(query, c.Vector)
	m.raw = m.chunk
	if !m.embedded {
		return m
	}
	m.windows = make([]float64, len(c.Windows))
	for i := range c.Windows {
		m.windows[i] = c.Windows[i].Dot(query)
	}
	return m
}

// narrow computes the meaning of the part of a chunk that contains some of its windows. Without windows it is that of the
// whole chunk.
func (m *meaning) narrow(c *Chunk, windows []int) {
	m.raw, m.first = m.chunk, 0
	if len(windows) == 0 || !m.embedded {
		return
	}
	var dot float64
	sum := make([]float32, len(c.Windows[windows[0]].Codes))
	for _, i := range windows {
		if m.first == 0 || m.windows[i] > m.best {
			m.best, m.first, m.last = m.windows[i], c.StartLine+c.Windows[i].From, c.StartLine+c.Windows[i].To
		}
		dot += m.windows[i]
		for k, code := range c.Windows[i].Codes {
			sum[k] += c.Windows[i].Scale * float32(code)
		}
	}
	if norm := length(sum); norm > 0 {
		m.mean = dot / norm
	}
	m.raw = bestWindowShare*m.best + (1-bestWindowShare)*m.mean
	if !m.windowsOnly {
		m.raw = (1-chunkShare)*m.raw + chunkShare*m.chunk
	}
}

// trace fills in what the vectors say.
func (m *meaning) trace(t *memory.Trace, spread Spread) {
	if !m.embedded {
		return
	}
	t.Cosine, t.WindowCosine, t.WindowMean, t.Similarity = m.chunk, m.best, m.mean, m.raw
	t.WindowStart, t.WindowEnd = m.first, m.last
	t.CosineMean, t.CosineDeviation = spread.Mean, spread.Deviation
}

// length returns the Euclidean norm of a vector.
func length(v []float32) float64 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// readsTurns reports whether the chunk is a conversation and the vectors come from a model that reads sentences: what a turn says is
// in its window, and the chunk is about everything. Means of words say little of a turn.
func (r *searchState) readsTurns(c *candidate, lines []chunker.Line) bool {
	return len(c.Windows) > 0 && r.class != embed.Static && r.class != embed.Weak && isTalk(lines)
}

// windowsIn returns the indexes of the windows of a chunk that lie in a span of it by at least half, those that touch it if
// there are none.
func (c *Chunk) windowsIn(s span) []int {
	var texts []chunker.Window
	if s.part && len(c.Windows) > 0 {
		texts = chunker.Windows(c.Text)
	}
	var inside, touching []int
	for i, w := range c.Windows {
		size := w.To - w.From + 1
		common := min(c.StartLine+w.To, s.to) - max(c.StartLine+w.From, s.from) + 1
		if common > 0 && len(texts) == len(c.Windows) {
			size = len(texts[i].Text)
			common = min(texts[i].Start+size, s.start+len(s.text)) - max(texts[i].Start, s.start)
		}
		switch {
		case common <= 0:
		case 2*common >= size:
			inside = append(inside, i)
		default:
			touching = append(touching, i)
		}
	}
	if len(inside) == 0 {
		return touching
	}
	return inside
}

// allWindows returns the indexes of all windows of a chunk.
func (c *Chunk) allWindows() []int {
	all := make([]int, len(c.Windows))
	for i := range all {
		all[i] = i
	}
	return all
}

// calibrate turns the raw similarities of the candidates into values in [0,1]: their distance from the mean of the index, in
// units of five deviations of the index or of the distance of the best candidate, whichever is larger. So a flat answer weighs
// little, whatever cosines the model gives to unrelated texts, and the best are no tie. The vectors of no real model stay as
// they are.
func (r *searchState) calibrate() {
	full := fullDeviations * max(r.spread.Deviation, minDeviation)
	full = max(min(full, 1-r.spread.Mean), minDeviation) // no cosine is above 1
	for _, c := range r.candidates {
		if c.meaning.embedded {
			full = max(full, c.meaning.raw-r.spread.Mean)
		}
	}
	r.fullDistance = full
	for _, c := range r.candidates {
		if c.meaning.embedded {
			c.meaning.calibrated, c.meaning.sure = r.calibrated(c.meaning.raw), r.sure(c.meaning)
		}
	}
}

// calibrated returns what a raw similarity is worth among the candidates.
func (r *searchState) calibrated(raw float64) float64 {
	if r.class == embed.Weak {
		return clamp01(raw)
	}
	return clamp01((raw - r.spread.Mean) / r.fullDistance)
}

// sure returns how far the best window of a candidate is from the mean of the index, in relation to the distance of the same text. The
// mean of a few chunks is drawn towards 0, because they may all answer.
func (r *searchState) sure(m meaning) float64 {
	nearest := m.chunk
	if m.first > 0 {
		nearest = m.best
	}
	if r.class == embed.Weak {
		return clamp01(nearest)
	}
	n := float64(r.index.Embedded)
	mean := r.spread.Mean * n / (n + 1)
	return clamp01((nearest - mean) / (1 - mean))
}

// nearness returns a function that tells what the windows in the lines [from,to] of a candidate are worth in the score, nil if it
// has none.
func (r *searchState) nearness(c *candidate) func(from, to int) float64 {
	if len(c.meaning.windows) == 0 {
		return nil
	}
	m := c.meaning
	return func(from, to int) float64 {
		m.narrow(&c.Chunk, c.windowsIn(span{from: from, to: to}))
		return r.weights.vector * r.calibrated(m.raw)
	}
}
