package memory

// Trace takes a score apart.
type Trace struct {
	// Rank among the candidates before MMR, from 1.
	Rank int
	// VectorRank and TextRank are the ranks in the list of each channel, from 1; 0 if the channel did not find the chunk.
	VectorRank, TextRank int
	// VectorScore and TextScore are those of the hit.
	VectorScore, TextScore float64
	// Cosine is the cosine of the query and the chunk; 0 without vectors.
	Cosine float64
	// WindowCosine is the best cosine of a window of the hit; 0 if it has no windows.
	WindowCosine float64
	// WindowStart and WindowEnd are the first and the last line of this window, from 1; 0 if there is none.
	WindowStart, WindowEnd int
	// WindowMean is the cosine of the mean of the windows of the hit.
	WindowMean float64
	// Similarity is what these cosines come to together. VectorScore is its distance from CosineMean.
	Similarity float64
	// CosineMean and CosineDeviation are the mean and the standard deviation of the cosine over the chunks of the index.
	CosineMean, CosineDeviation float64
	// VectorWeight and TextWeight are the weights of the channels; they add up to 1.
	VectorWeight, TextWeight float64
	// Merged is the weighted sum, in [0,1], that orders candidates before decay.
	Merged float64
	// DateBonus is added to Merged for a date that the query names; such hits do not decay. 0 for all others.
	DateBonus float64
	// DateConfidence is the part of the score, in [0,1], that this date gives; the channels fill up the rest.
	DateConfidence float64
	// NameBonus is added to Merged for the best passage of a file that is called exactly as the query; 0 for all others.
	NameBonus float64
	// NameConfidence is the part of the score, in [0,1], that this name gives; the channels fill up the rest.
	NameConfidence float64
	// Decay is the factor for the age, in (0,1].
	Decay float64
	// AgeDays is the age in days; 0 without a date.
	AgeDays float64
	// RerankRank is the place, from 1, among the passages that the re-ranker has scored, with decay and bonuses; 0 if it has not.
	RerankRank int
	// RerankScore is the score of the re-ranker, in its own unit.
	RerankScore float64
	// MMRSimilarity, in [0,1], is the similarity to the most similar better hit; 0 if there is none.
	MMRSimilarity float64
	// MMRScore is the score by which MMR chose the hit; 0 without MMR.
	MMRScore float64
	// Parts are what the score consists of.
	Parts ScoreParts
	// Unembedded reports that the passage has no vector yet, so that words took the place of meaning.
	Unembedded bool
	// Terms are the parts of the text score by query term.
	Terms []TermShare
	// PairShare, BestPartShare and ChunkShare are the parts of the text score from adjacent terms, from the best part of the
	// text, and from the chunk around a passage. With those of Terms they add up to 1 if any term occurs.
	PairShare, BestPartShare, ChunkShare float64
	// Missing are the terms of the query that do not occur, nor any spelling variant of them.
	Missing []string
}

// ScoreParts are the parts of a score; they add up to it.
type ScoreParts struct {
	// Words is the part of the query's words, and Meaning that of the closeness of the vectors.
	Words, Meaning float64
	// Date and Name are the parts of a date and of the name of a note that the query names.
	Date, Name float64
}

// TermShare is the part of a text score that comes from one term.
type TermShare struct {
	// Term as the query spells it; "lighthuose ~ lighthouse" is a spelling variant of a misspelt word.
	Term string
	// IDF is the weight of one occurrence.
	IDF float64
	// Count is the number of occurrences.
	Count int
	// Share of the text score, in [0,1].
	Share float64
}

// Outcomes of an explanation.
const (
	// Returned means that the passage is a hit.
	Returned = "returned"
	// NotIndexed means that the index has no chunk at this line.
	NotIndexed = "not_indexed"
	// Skipped means that the file is not indexed, for a reason that the text gives.
	Skipped = "skipped"
	// Filtered means that the filter leaves the passage out.
	Filtered = "filtered"
	// NotACandidate means that nothing in the query leads to the passage, or that others match better.
	NotACandidate = "not_a_candidate"
	// BelowThreshold means that the score is too low.
	BelowThreshold = "below_threshold"
	// DroppedByMMR means that the passage is too similar to a better hit.
	DroppedByMMR = "dropped_by_mmr"
	// FileLimit means that the file has as many better hits as one file may have.
	FileLimit = "file_limit"
	// Covered means that a better hit shows at least half of the passage.
	Covered = "covered"
	// BeyondMaxResults means that there are enough better hits.
	BeyondMaxResults = "beyond_max_results"
)

// Explanation says what became of a passage.
type Explanation struct {
	// Answer to the query, with traces.
	Answer Answer
	// Outcome is one of the constants; empty if no passage was asked about.
	Outcome string
	// Text is a sentence for people, with the figures.
	Text string
	// Passage is what was asked about, with its trace; nil if it was no candidate.
	Passage *Hit
	// Terms of the query that are looked for, as it spells them.
	Terms []string
	// Links of the file of the passage; nil if no passage was asked about or the index does not have the file.
	Links *Links
}
