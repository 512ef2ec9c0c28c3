package search

import "kioku/embed"

// Constants of the ranking. They were measured on public retrieval sets in English, Japanese and Chinese; what a user may
// change is in [Options].

// Weights of the text score and of the confidence.
const (
	// bm25K1 and bm25B are k1 and b of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
	// Results hardly change for k1 between 0.6 and 2.0 and for b between 0.4 and 0.9.
	bm25K1 = 1.2
	bm25B  = 0.75
	// capitalWeight multiplies capitalised query words other than the first: names matter more than other words.
	capitalWeight = 1.5
	// particleWeight multiplies bigrams with a character that mostly serves grammar (のをは, 的了是). Without these bigrams a
	// point of Japanese answers is lost; counted in full they cost up to four points of Japanese and Chinese answers.
	particleWeight = 0.3
	// idealShare is the share of the BM25 in the confidence; the rest is the coverage. With 0.5, three points more of the
	// off-topic questions are answered at the same loss of good hits.
	idealShare = 0.75
	// pairWeight times the smaller idf is added for each pair of adjacent query terms that is adjacent in a line.
	pairWeight = 0.3
	// bestPartWeight times the BM25 of the best part of partTerms terms is added: a part that contains all words ranks
	// above a chunk in which they are scattered.
	bestPartWeight = 0.3
	partTerms      = 100
	// shortQuery is the number of words up to which the confidence is the plain share of the words that occur.
	shortQuery = 3
	// gramRequired is the weight of a bigram in what the confidence requires; a word has 1. Each character occurs in
	// two bigrams, and few answers contain the bigrams across two words. 0.9 halves the answers lost in Chinese and
	// Japanese and answers six points more of the off-topic questions.
	gramRequired = 0.9
	// unknownWeight times the idf of the rarest word is the maximum idf of a word that the index lacks. Below five chunks it
	// is less than the idf of no chunk, which would leave a folder of a few notes silent.
	unknownWeight = 2
	// idfChunks is the minimum number of chunks for the idf. With 6, folders of a few notes take a single word for an answer.
	idfChunks = 4
	// variantTrust / n is the share of a misspelt term with n spelling variants that counts as matched if one of them
	// occurs. A higher trust brings back more answers after a typo and answers more off-topic questions.
	variantTrust = 0.5
	// variantIdeal times the BM25 of a spelling variant counts in the confidence. Compared with 1, 0.6 answers up to five
	// points fewer off-topic questions and brings back four points less of what a typo loses. The alternatives (a longer
	// minimum word, no missing or doubled letters in short words, a second word beside the variant) cost fifteen points
	// and more of that.
	variantIdeal = 0.6
	// rareChunks is the maximum number of chunks with a word that is rare in every index.
	rareChunks = 3
	// nameWeight is the frequency that a term of the query gets for occurring in the names of the file (its name, title,
	// aliases and tags). Results hardly change between 0.5 and 2. A term that occurs in a heading above the text gets none: a
	// title that is a heading too would count twice, which costs up to a point.
	nameWeight = 1.0
)

// Factors for the shape of a passage.
const (
	// mostlyLinks is the share of the lines of a passage that are links from which on it mostly names other notes.
	mostlyLinks = 0.5
	// maxLinkPenalty times the share of lines that are links is taken from the score of a passage that mostly names other notes.
	// An index page, which has the words of many notes, else outranks the note that is looked for.
	maxLinkPenalty = 0.5
	// maxLinkRemark is the maximum number of characters beside a link at the start of a line that only names another note.
	maxLinkRemark = 100
)

// The line between answers and what is weak.
const (
	// keywordLine is the keyword confidence from which on a passage of an index of lineChunks chunks is an answer, and lineGrowth the
	// power of the number of chunks with which the line grows.
	keywordLine, lineChunks, lineGrowth = 0.16, 60, 0.1
	// meaningLine is the similarity by meaning from which on a passage is an answer, and leastMeaning the one from which on it is weak
	// without a word in common with the query.
	meaningLine, leastMeaning = 0.25, 0.05
	// oneWordConfidence is the line for a passage with a single common word of a longer question: "back" is no answer to "can I get my
	// money back".
	oneWordConfidence = 0.3
	// maxWeak is the maximum number of weak hits of an answer.
	maxWeak = 3
	// maxClauses is the maximum number of clauses of a message that are searched for beside the whole.
	maxClauses = 3
)

// classWeights are the weights of the vectors of a class of models beside words, before wordsRelief. Results hardly
// change by 0.1. Large models could not be measured.
var classWeights = map[embed.Class]float64{embed.Large: 0.7, embed.Small: 0.6, embed.Static: 0.5, embed.Weak: 0.3}

// Similarity by vectors.
const (
	// fullWords is the keyword confidence of the best candidate from which on words have their full weight in the order. A single word
	// that many texts have would else outweigh what is near in meaning.
	fullWords = 0.5
	// wordsRelief times the best keyword confidence is the share of the weight of the vectors that goes to the words: questions
	// whose words match well need less help. With 0.5, questions about code lose a point.
	wordsRelief = 0.65
	// bestWindowShare is the share of the best window in the similarity of a passage; the rest is that of the mean of its
	// windows. The best window alone loses two points of questions about code.
	bestWindowShare = 0.6
	// chunkShare is the share of the vector of the chunk beside its windows. Without it, code loses up to five points and
	// conversations gain two, so it is left out for the turns of a conversation.
	chunkShare = 0.3
	// turnsPerSpeaker is the least number of turns of each speaker of a conversation, and maxSpeakerRunes the greatest length of a
	// name.
	turnsPerSpeaker = 2
	maxSpeakerRunes = 24
	// fullDeviations is the number of standard deviations above the mean of the index that is worth a similarity of 1. Results
	// hardly change between 4 and 6.
	fullDeviations = 5
	// minDeviation is the least deviation, because a few chunks may be equally near by chance.
	minDeviation = 0.03
)

// Weights of a passage.
const (
	// passageChunkShare times the score of its chunk is added to the score of a passage.
	passageChunkShare = 0.5
	// passageConfidenceShare is the share of the chunk in the confidence of a passage.
	passageConfidenceShare = 0.6
	// passageOverlap is the maximum number of characters that a passage repeats of the one before.
	passageOverlap = 160
	// itemRunes is the number of characters of the items of a list of facts that are a passage: the item that answers with its
	// neighbours. A list is one of facts if it has minItems items of at most maxItemRunes characters on average; longer ones are
	// paragraphs or turns of a conversation, which answer together.
	itemRunes, minItems, maxItemRunes = 250, 3, 80
)

// Files that are called exactly as the query.
const (
	// namedPool is the maximum number of such files that are put first.
	namedPool = 24
	// nameLead is how far they are before all others.
	nameLead = 0.01
	// nameConfidence is the confidence that the name gives by itself.
	nameConfidence = 0.5
)

// Sizes of the pools of candidates.
const (
	// textPool is the number of candidates from the keyword index. Re-ranking 100 equals ranking all; 40 loses.
	textPool = 100
	// identifierPool is the number of candidates from the keyword index for each identifier of the query.
	identifierPool = 4
	// vectorPool is the minimum number of candidates from the vectors, and of candidates for MMR, so that a smaller
	// maximum of results does not change the first result.
	vectorPool = 24
	// maxVectorPool is the maximum number of neighbours that a vector index returns.
	maxVectorPool = 4096
	// passagePool is the number of chunks that are cut into passages if the query names no date. More change nothing.
	passagePool = 40
	// commonShare is the share of all chunks above which a term is left out when candidates are selected: it costs most of
	// the time and decides nothing.
	commonShare = 0.5
	// choosingShare is the share of the total weight of the query terms, the rarest first, of which each candidate
	// contains at least one; the other terms only count in the order. 0.6 loses a tenth of a point, 0.5 half a point.
	choosingShare = 0.7
	// minChoice is the minimum number of chunks to choose candidates from: ranking fewer saves nothing.
	minChoice = 10 * textPool
)

// Weights of the days that a query names.
const (
	// maxSpans is the maximum number of spans of days that are searched for.
	maxSpans = 4
	// datePool is the number of candidates of such days, whatever they say.
	datePool = 200
	// dayBonus is added to the score of chunks of a named day or week. It equals the best text score, so that they come first.
	dayBonus = 1.0
	// spanBonus is added for longer spans, which name too much to come first.
	spanBonus = 0.3
	// onlyDatesBonus is added for a longer span if the query asks for nothing else. No text outweighs it in MMR either.
	onlyDatesBonus = 1.5
	// dayConfidence and spanConfidence are the confidence that such days give by themselves.
	dayConfidence  = 0.5
	spanConfidence = 0.3
)
