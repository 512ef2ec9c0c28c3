package search

// weights are the constants of the ranking. They were measured on public retrieval sets in English, Japanese and
// Chinese; what a user may change is in [Options].
type weights struct {
	// k1 and b of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009). Results hardly move
	// between k1 0.6 and 2.0 and between b 0.4 and 0.9.
	k1, b float64
	// capital multiplies query words with a capital that are not the first: names matter more than other words.
	capital float64
	// particle multiplies bigrams that hold a character which mostly serves grammar (のをは, 的了是). Left out altogether they
	// cost a point of Japanese; counted in full they cost up to four of Japanese and Chinese answers.
	particle float64
	// ideal is what the BM25 counts in the confidence, beside the coverage. With 0.5, three points more of the questions about
	// something else are answered at an equal loss of good hits.
	ideal float64
	// pair times the smaller idf is added for each pair of neighbours in the query that stand side by side in a line.
	pair float64
	// bestPart times the BM25 of the best part of partTerms terms is added: one passage that has all of the words
	// beats a chunk in which they are scattered.
	bestPart  float64
	partTerms int
	// passageChunk times the score of its chunk is added to that of a passage, passageConfidence is the chunk's part in the
	// confidence, and passages repeat up to passageOverlap characters of the one before.
	passageChunk, passageConfidence float64
	passageOverlap                  int
	// passagePool is how many chunks are cut into passages, where the query names no date. More change nothing.
	passagePool int
	// gramAsks is what a bigram asks for in the confidence, beside a word's 1: each character is asked for twice, and the
	// bigrams across two words are in few answers. 0.9 halves the answers lost in Chinese and Japanese at a cost of six
	// points of off-topic questions left unanswered.
	gramAsks float64
	// textPool is how many candidates come from the keyword index. Re-ranking 100 equals ranking all; 40 loses.
	textPool int
	// namePool is how many candidates come from the keyword index for each identifier alone.
	namePool int
	// nearPool is the least number of candidates that come from the vectors, and of those that MMR looks at, so that
	// asking for fewer results does not change the first.
	nearPool int
	// common is the share of all chunks above which a term is left out of the candidate step: it costs most of the
	// time there and decides nothing.
	common float64
	// choosing is the part of the mass of a query's terms, the rarest first, that the candidates are chosen among: each of
	// them holds one of those terms. The others count in the choice. 0.6 loses a tenth of a point, 0.5 half a point. matched
	// times textPool chunks are chosen among at least, as few cost nothing.
	choosing float64
	matched  int
	// dayBonus is added to the score of chunks of a day or a week that the query names, where the best text score is 1:
	// they come first. spanBonus is that for longer spans, which name too much to come first. Where one is all that the
	// query asks for, it is aloneBonus, which no text outweighs in MMR either.
	dayBonus, spanBonus, aloneBonus float64
	// dayConfidence and spanConfidence are the confidence that such days alone give.
	dayConfidence, spanConfidence float64
	// datePool is how many chunks of such days are candidates whatever they say, maxSpans how many spans are looked for.
	datePool, maxSpans int
	// neighborTrust / n is the part of a misspelt term with n neighbours that counts as matched where one of them occurs. A
	// higher trust brings more answers back after a typo and lets more questions about something else through.
	neighborTrust float64
	// neighborIdeal times the BM25 of a neighbour counts in the confidence. 0.6 leaves up to five points more of the questions
	// about something else unanswered than 1, and brings back four points less of what a typo loses. A longer least word, no
	// missing or doubled letters in short words, or another word beside the neighbour cost fifteen points and more of that.
	neighborIdeal float64
}

// measured returns the constants that the measurements recommend.
func measured() weights {
	return weights{
		k1: 1.2, b: 0.75, capital: 1.5, particle: 0.3, ideal: 0.75, pair: 0.3, bestPart: 0.3, partTerms: 100,
		passageChunk: 0.5, passageConfidence: 0.6, passageOverlap: 160, passagePool: 40,
		gramAsks: 0.9,
		textPool: 100, namePool: 4, nearPool: 24, common: 0.5, choosing: 0.7, matched: 10,
		dayBonus: 1, spanBonus: 0.3, aloneBonus: 1.5, dayConfidence: 0.5, spanConfidence: 0.3, datePool: 200, maxSpans: 4,
		neighborTrust: 0.5, neighborIdeal: 0.6,
	}
}
