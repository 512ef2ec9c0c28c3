package tokenizer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
	"unicode/utf8"
)

// unknownPenalty is how much less likely an unknown character is than the least likely token.
const unknownPenalty = 10

// unigram is the model of SentencePiece (Kudo, 2018): of all ways to cut a word into tokens, the most likely one.
type unigram struct {
	tokens   []string // in alphabetical order
	ids      []int32  // of tokens
	scores   []float64
	first    [257]int32 // where the tokens that begin with a byte are
	byToken  vocabulary
	unk      int32 // -1 if there is none
	unkToken string
	unkScore float64
	states   sync.Pool // of *[]bestEnd
}

type unigramFile struct {
	Vocab        []scored `json:"vocab"`
	UnkID        *int64   `json:"unk_id"`
	ByteFallback *bool    `json:"byte_fallback"`
}

// scored is a token and the logarithm of its probability, ["token", -9.5] in tokenizer.json.
type scored struct {
	token string
	score float64
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *scored) UnmarshalJSON(data []byte) error {
	return unmarshalPair(data, &s.token, &s.score)
}

func newUnigram(f unigramFile) (model, error) {
	if len(f.Vocab) == 0 || len(f.Vocab) > maxID {
		return nil, fmt.Errorf("the vocabulary has %d tokens", len(f.Vocab))
	}
	if orElse(f.ByteFallback, false) {
		return nil, errors.New("a Unigram with byte_fallback is not supported")
	}
	u := &unigram{byToken: make(vocabulary, len(f.Vocab)), unk: -1, unkScore: math.Inf(1)}
	if f.UnkID != nil {
		if *f.UnkID < 0 || *f.UnkID >= int64(len(f.Vocab)) {
			return nil, fmt.Errorf("unk_id %d is no token: the vocabulary has %d", *f.UnkID, len(f.Vocab))
		}
		u.unk = int32(*f.UnkID)
		u.unkToken = f.Vocab[u.unk].token
	}
	for id, s := range f.Vocab {
		u.byToken[s.token] = int32(id) // of equal tokens the last counts
		u.unkScore = min(u.unkScore, s.score)
	}
	u.unkScore -= unknownPenalty
	for token := range u.byToken {
		if token != "" {
			u.tokens = append(u.tokens, token)
		}
	}
	slices.Sort(u.tokens)
	for _, token := range u.tokens {
		id := u.byToken[token]
		u.ids = append(u.ids, id)
		u.scores = append(u.scores, f.Vocab[id].score)
	}
	for b := range u.first {
		u.first[b] = int32(sort.Search(len(u.tokens), func(i int) bool { return int(u.tokens[i][0]) >= b }))
	}
	return u, nil
}

// unknown implements model.
func (u *unigram) unknown() string { return u.unkToken }

// id implements model.
func (u *unigram) id(token string) (int32, bool) { return u.byToken.id(token) }

// highest implements model.
func (u *unigram) highest() int32 { return u.byToken.highest() }

// bestEnd is the best way to cut a word that ends at one of its bytes.
type bestEnd struct {
	score float64
	start int32 // of the last token; -1 if nothing ends here
	id    int32
}

var errNoUnknown = errors.New("the text has a character that the tokenizer lacks, and it has no token for unknown ones")

// appendTokens implements model. It finds the best cut by the algorithm of Viterbi.
func (u *unigram) appendTokens(ids []int32, word string) ([]int32, error) {
	pooled, _ := u.states.Get().(*[]bestEnd)
	if pooled == nil {
		pooled = new([]bestEnd)
	}
	defer u.states.Put(pooled)
	*pooled = slices.Grow((*pooled)[:0], len(word)+1)[:len(word)+1]
	best := *pooled
	for i := range best {
		best[i] = bestEnd{start: -1}
	}
	for from, r := range word {
		end := from + utf8.RuneLen(r)
		single := u.extend(best, word, from, end)
		if single {
			continue
		}
		if u.unk < 0 {
			return nil, errNoUnknown
		}
		best[end].offer(best[from].score+u.unkScore, from, u.unk)
	}
	return u.appendPath(ids, word, best)
}

// extend offers the tokens that begin at from to their ends, and reports whether one of them is the single character up to end.
func (u *unigram) extend(best []bestEnd, word string, from, end int) (single bool) {
	score := best[from].score
	lo, hi := int(u.first[word[from]]), int(u.first[int(word[from])+1])
	for depth := 1; lo < hi; depth++ {
		if len(u.tokens[lo]) == depth { // the shortest comes first
			best[from+depth].offer(score+u.scores[lo], from, u.ids[lo])
			single = single || from+depth == end
			lo++
		}
		if from+depth == len(word) {
			break
		}
		lo, hi = u.narrow(lo, hi, depth, word[from+depth])
	}
	return single
}

// narrow returns the part of the tokens from lo to hi, all longer than depth, that have the byte c there.
func (u *unigram) narrow(lo, hi, depth int, c byte) (int, int) {
	lo += sort.Search(hi-lo, func(i int) bool { return u.tokens[lo+i][depth] >= c })
	hi = lo + sort.Search(hi-lo, func(i int) bool { return u.tokens[lo+i][depth] > c })
	return lo, hi
}

// offer takes a way to cut if it is the first or better than the one before.
func (e *bestEnd) offer(score float64, start int, id int32) {
	if e.start < 0 || score > e.score {
		*e = bestEnd{score, int32(start), id}
	}
}

// appendPath appends the tokens of the best cut. Neighbouring unknown characters are one token.
func (u *unigram) appendPath(ids []int32, word string, best []bestEnd) ([]int32, error) {
	before := len(ids)
	unknownEnd := -1
	flush := func(start int) {
		if unknownEnd >= 0 {
			id, ok := u.byToken[word[start:unknownEnd]]
			if !ok {
				id = u.unk
			}
			ids = append(ids, id)
			unknownEnd = -1
		}
	}
	for end := len(word); end > 0; {
		e := best[end]
		if e.id == u.unk {
			if unknownEnd < 0 {
				unknownEnd = end
			}
		} else {
			flush(end)
			ids = append(ids, e.id)
		}
		end = int(e.start)
	}
	flush(0)
	slices.Reverse(ids[before:])
	return ids, nil
}
