package memory

// Trace takes a score apart.
type Trace struct {
	// Rank among the candidates before MMR, from 1.
	Rank int `json:"rank"`
	// VectorRank and TextRank are the ranks in the list of each channel, from 1; 0 if the channel did not find the chunk.
	VectorRank int `json:"vectorRank"`
	TextRank   int `json:"textRank"`
	// VectorScore and TextScore are those of the hit.
	VectorScore float64 `json:"vectorScore"`
	TextScore   float64 `json:"textScore"`
	// Cosine is the cosine of the query and the chunk; 0 without vectors.
	Cosine float64 `json:"cosine"`
	// WindowCosine is the best cosine of a window of the hit; 0 if it has no windows.
	WindowCosine float64 `json:"windowCosine"`
	// WindowStart and WindowEnd are the first and the last line of this window, from 1; 0 if there is none.
	WindowStart int `json:"windowStartLine"`
	WindowEnd   int `json:"windowEndLine"`
	// WindowMean is the cosine of the mean of the windows of the hit.
	WindowMean float64 `json:"windowMean"`
	// Similarity is what these cosines come to together. VectorScore is its distance from CosineMean.
	Similarity float64 `json:"similarity"`
	// CosineMean and CosineDeviation are the mean and the standard deviation of the cosine over the chunks of the index.
	CosineMean      float64 `json:"cosineMean"`
	CosineDeviation float64 `json:"cosineDeviation"`
	// VectorWeight and TextWeight are the weights of the channels; they add up to 1.
	VectorWeight float64 `json:"vectorWeight"`
	TextWeight   float64 `json:"textWeight"`
	// Merged is the weighted sum, in [0,1], that orders candidates before decay.
	Merged float64 `json:"merged"`
	// DateBonus is added to Merged for a date that the query names; such hits do not decay. 0 for all others.
	DateBonus float64 `json:"dateBonus"`
	// DateConfidence is the part of the score, in [0,1], that this date gives; the channels fill up the rest.
	DateConfidence float64 `json:"dateConfidence"`
	// NameBonus is added to Merged for the best passage of a file that is called exactly as the query; 0 for all others.
	NameBonus float64 `json:"nameBonus"`
	// NameConfidence is the part of the score, in [0,1], that this name gives; the channels fill up the rest.
	NameConfidence float64 `json:"nameConfidence"`
	// Decay is the factor for the age, in (0,1].
	Decay float64 `json:"decay"`
	// AgeDays is the age in days; 0 without a date.
	AgeDays float64 `json:"ageDays"`
	// RerankRank is the place, from 1, among the passages that the re-ranker has scored, with decay and bonuses; 0 if it has not.
	RerankRank int `json:"rerankRank"`
	// RerankScore is the score of the re-ranker, in its own unit.
	RerankScore float64 `json:"rerankScore"`
	// MMRSimilarity, in [0,1], is the similarity to the most similar better hit; 0 if there is none.
	MMRSimilarity float64 `json:"mmrSimilarity"`
	// MMRScore is the score by which MMR chose the hit; 0 without MMR.
	MMRScore float64 `json:"mmrScore"`
	// Parts are what the score consists of.
	Parts ScoreParts `json:"scoreParts"`
	// Unembedded reports that the passage has no vector yet, so that words took the place of meaning.
	Unembedded bool `json:"unembedded"`
	// Terms are the parts of the text score by query term.
	Terms []TermShare `json:"terms"`
	// PairShare, BestPartShare and ChunkShare are the parts of the text score from adjacent terms, from the best part of the
	// text, and from the chunk around a passage. With those of Terms they add up to 1 if any term occurs.
	PairShare     float64 `json:"pairShare"`
	BestPartShare float64 `json:"bestPartShare"`
	ChunkShare    float64 `json:"chunkShare"`
	// Missing are the terms of the query that do not occur, nor any spelling variant of them.
	Missing []string `json:"missing"`
}

// ScoreParts are the parts of a score; they add up to it.
type ScoreParts struct {
	// Words is the part of the query's words, and Meaning that of the closeness of the vectors.
	Words   float64 `json:"words"`
	Meaning float64 `json:"meaning"`
	// Date and Name are the parts of a date and of the name of a note that the query names.
	Date float64 `json:"date"`
	Name float64 `json:"name"`
}

// TermShare is the part of a text score that comes from one term.
type TermShare struct {
	// Term as the query spells it; "lighthuose ~ lighthouse" is a spelling variant of a misspelt word.
	Term string `json:"term"`
	// IDF is the weight of one occurrence.
	IDF float64 `json:"idf"`
	// Count is the number of occurrences.
	Count int `json:"count"`
	// Share of the text score, in [0,1].
	Share float64 `json:"share"`
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
	Answer Answer `json:"answer"`
	// Outcome is one of the constants; empty if no passage was asked about.
	Outcome string `json:"outcome"`
	// Text is a sentence for people, with the figures.
	Text string `json:"text"`
	// Passage is what was asked about, with its trace; nil if it was no candidate.
	Passage *Hit `json:"passage,omitempty"`
	// Terms of the query that are looked for, as it spells them.
	Terms []string `json:"terms"`
	// Links of the file of the passage; nil if no passage was asked about or the index does not have the file.
	Links *Links `json:"links,omitempty"`
}
