package search

import (
	"cmp"
	"slices"

	"kioku/embed"
	"kioku/memory"
)

// channelWeights are the weights of the two channels. They add up to 1, and an absent channel has 0.
type channelWeights struct {
	vector, text float64
}

// normalizeWeights scales two weights to a sum of 1. They are equal if neither is above 0.
func normalizeWeights(vector, text float64) channelWeights {
	bounded := func(w float64) float64 {
		if !(w > 0) {
			return 0
		}
		return min(w, 1e9)
	}
	vector, text = bounded(vector), bounded(text)
	if vector+text == 0 {
		return channelWeights{0.5, 0.5}
	}
	return channelWeights{vector / (vector + text), text / (vector + text)}
}

// weightsFor returns the weights of the channels in a mode. words is the best keyword confidence: a question whose words match
// well needs less help of vectors.
func (o Options) weightsFor(mode string, class embed.Class, words float64) channelWeights {
	switch {
	case mode == memory.ModeKeyword:
		return channelWeights{text: 1}
	case mode == memory.ModeVector:
		return channelWeights{vector: 1}
	case o.VectorWeight != nil && o.TextWeight != nil:
		return normalizeWeights(*o.VectorWeight, *o.TextWeight)
	case o.VectorWeight != nil:
		return normalizeWeights(*o.VectorWeight, 1-*o.VectorWeight)
	case o.TextWeight != nil:
		return normalizeWeights(1-*o.TextWeight, *o.TextWeight)
	}
	vector := classWeights[class]
	if class != embed.Weak {
		vector *= 1 - wordsRelief*words
	}
	return channelWeights{vector: vector, text: 1 - vector}
}

// highest returns the highest value of the candidates, at least 0.
func highest(list []*candidate, value func(*candidate) float64) float64 {
	var best float64
	for _, c := range list {
		best = max(best, value(c))
	}
	return best
}

func rawText(c *candidate) float64        { return c.text.raw }
func textConfidence(c *candidate) float64 { return c.text.confidence }

// mergeChannels gives each candidate its place on both channels, and what these come to together.
//
// The base is the weighted sum of the calibrated similarity and of the text score in relation to the best text score of this
// query. If no candidate matches well by words, those say little, and the text score counts less. What is sure takes the similarity
// and the keyword confidence that are comparable between queries instead. A chunk without a vector is judged by keywords only: its
// keyword confidence replaces the similarity.
func mergeChannels(list []*candidate, weight channelWeights) {
	rankChannel(list, func(c *candidate) float64 { return c.meaning.calibrated }, func(c *candidate, r int) { c.vectorRank = r })
	rankChannel(list, rawText, func(c *candidate, r int) { c.textRank = r })
	best, scale := highest(list, rawText), 1.0
	if weight.vector > 0 {
		scale = min(1, highest(list, textConfidence)/fullWords)
	}
	for _, c := range list {
		text, near, sure := c.text.confidence, c.meaning.calibrated, c.meaning.sure
		if !c.meaning.embedded {
			near, sure = text, text
		}
		c.sure = clamp01(weight.vector*sure + weight.text*text)
		if best > 0 {
			text = scale * c.text.raw / best
		}
		c.base = clamp01(weight.vector*near + weight.text*text)
	}
}

// rankChannel calls setRank with the rank, from 1, of each candidate with a score above 0 on one channel.
func rankChannel(list []*candidate, score func(*candidate) float64, setRank func(*candidate, int)) {
	order := slices.Clone(list)
	slices.SortFunc(order, func(a, b *candidate) int { return compareScores(score(a), score(b), a, b) })
	for i, c := range order {
		if score(c) > 0 {
			setRank(c, i+1)
		}
	}
}

// compareScores orders candidates by a score, higher first. Of equals, chunks of days that the query names come first, the
// newest of them first; then path, line and id decide, so that the order is always the same.
func compareScores(scoreA, scoreB float64, a, b *candidate) int {
	if by := cmp.Or(cmp.Compare(scoreB, scoreA), cmp.Compare(b.effect(ruleDays).bonus, a.effect(ruleDays).bonus)); by != 0 {
		return by
	}
	if a.isDated() && a.Date != b.Date {
		return cmp.Compare(b.Date, a.Date)
	}
	return cmp.Or(
		cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.ID, b.ID))
}
