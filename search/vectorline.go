package search

import (
	"strings"

	"kioku/embed"
)

// vectorMinimum returns the minimum score of answers in which vectors took part.
func (o Options) vectorMinimum(ix Index) float64 {
	if o.MinScore != nil {
		return *o.MinScore
	}
	if line, ok := ix.Calibration.vectorLine(ix.Space); ok {
		return line
	}
	if embed.ClassOf(ix.Space) == embed.Weak {
		return minVectorLine
	}
	return vectorLine
}

// vectorLine returns the line for scores with vectors of a space. It returns false if the probes were not asked with these.
func (c Calibration) vectorLine(space embed.Space) (float64, bool) {
	return min(max(c.VectorLine, minVectorLine), maxVectorLine), c.Probes == allProbes().version && c.Space == probedSpace(space)
}

// canProbeVectors reports whether nearly all chunks have vectors of a real model that can be asked.
func (s *Searcher) canProbeVectors(ix Index) bool {
	return *s.opt.Hybrid && s.embedder != nil && s.embedder.Enabled() && s.embedder.Class() != embed.Weak &&
		!ix.Space.IsZero() && ix.Space.Matches(s.embedder.Space()) &&
		float64(ix.unembedded()) <= recalibration*float64(ix.inScope())
}

// probedSpace identifies a space in a calibration: two of one name differ by their endpoint, and so do their cosines.
func probedSpace(s embed.Space) string { return strings.TrimSpace(s.Name() + " " + s.Endpoint) }
