// Package tokenizer turns text into the token ids of a model, as its tokenizer.json says, the file in which Hugging Face
// publishes tokenizers. The ids are those of Hugging Face's own library.
//
// A text passes through five stages: added tokens such as [SEP] are cut out, the rest is normalised, split into words, each word is
// looked up by the model (WordPiece, Unigram or BPE), and a template puts special tokens around the result. What a
// file asks for and this package does not know is an error when it is opened, never another result.
package tokenizer

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
)

// maxFile is the largest tokenizer.json that is read, in bytes; the largest that are published have about 35 MB.
const maxFile = 256 << 20

// maxID is the limit of token ids, far above the largest vocabulary that is published.
const maxID = 1 << 24

// ErrFormat is wrapped by the error for a tokenizer.json that contradicts itself or uses what this package does not know.
var ErrFormat = errors.New("not a usable tokenizer.json")

// Tokenizer tokenizes texts. It is safe for concurrent use.
type Tokenizer struct {
	added       addedTokens
	normalizers []normalizer
	splitters   []splitter
	model       model
	cache       *wordCache
	template    template
	// unknown is the id of the token for unknown words, -1 if there is none.
	unknown int32
	// most is the largest number of tokens that the file itself asks for; 0 means no limit.
	most int
	// highest is the largest id.
	highest int32
}

// model looks up the tokens of a word.
type model interface {
	// appendTokens appends the ids of the tokens of a word that is not empty.
	appendTokens(ids []int32, word string) ([]int32, error)
	// id returns the id of a token.
	id(token string) (int32, bool)
	// highest returns the largest id.
	highest() int32
	// unknown returns the token for unknown words, "" if there is none.
	unknown() string
}

// Open reads a tokenizer.json. The error wraps ErrFormat if its content is at fault.
func Open(path string) (*Tokenizer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%w: %d bytes are more than any tokenizer has, or it is no regular file", ErrFormat, info.Size())
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(content)
}

// Encoding is the tokens of a text, or of a pair of texts.
type Encoding struct {
	// IDs are the ids of the tokens in their order.
	IDs []int32
	// Types tell the first text of a pair (0) from the second (1), one number a token; nil if all are 0.
	Types []int32
	// Truncated is true if the text has more tokens than were asked for.
	Truncated bool
}

// Tokens returns the ids of the tokens of text, without those of the template. If limit is above 0, it returns at most limit
// of them, and truncated tells that there are more.
func (t *Tokenizer) Tokens(text string, limit int) (ids []int32, truncated bool, err error) {
	if limit <= 0 {
		limit = math.MaxInt - 1
	}
	ids = make([]int32, 0, min(limit, len(text)/3+8))
	if ids, err = t.appendText(ids, strings.ToValidUTF8(text, "\uFFFD"), limit); err != nil {
		return nil, false, err
	}
	if len(ids) > limit {
		return ids[:limit], true, nil
	}
	return ids, false, nil
}

// Encode returns the tokens of text with those of the template, at most limit (0 means no limit) of them together.
func (t *Tokenizer) Encode(text string, limit int) (Encoding, error) {
	room := 0
	if limit > 0 {
		room = max(1, limit-t.template.single.special())
	}
	ids, truncated, err := t.Tokens(text, room)
	if err != nil {
		return Encoding{}, err
	}
	e := t.template.single.apply(ids, nil)
	e.Truncated = truncated
	return e, nil
}

// EncodePair returns the tokens of two texts as one sequence, for a model that compares them. At most limit tokens (0 means
// no limit) are returned; the longer text loses its end first.
func (t *Tokenizer) EncodePair(first, second string, limit int) (Encoding, error) {
	room := 0
	if limit > 0 {
		room = max(2, limit-t.template.pair.special())
	}
	a, longA, err := t.Tokens(first, room)
	if err != nil {
		return Encoding{}, err
	}
	b, longB, err := t.Tokens(second, room)
	if err != nil {
		return Encoding{}, err
	}
	truncated := longA || longB
	if room > 0 && len(a)+len(b) > room {
		keepA, keepB := longestFirst(len(a), len(b), room)
		a, b, truncated = a[:keepA], b[:keepB], true
	}
	e := t.template.pair.apply(a, b)
	e.Truncated = truncated
	return e, nil
}

// longestFirst returns how many tokens of two texts of n and m tokens to keep, room together, as Hugging Face's strategy of that
// name: the shorter one is kept whole if it fits into half of the room.
func longestFirst(n, m, room int) (keepN, keepM int) {
	swapped := n > m
	if swapped {
		n, m = m, n
	}
	if n > room {
		m = n
	} else {
		m = max(n, room-n)
	}
	if n+m > room {
		n = room / 2
		m = n + room%2
	}
	if swapped {
		return m, n
	}
	return n, m
}

// Unknown returns the id of the token for unknown words, -1 if the tokenizer has none.
func (t *Tokenizer) Unknown() int32 { return t.unknown }

// Limit returns the largest number of tokens that the file itself cuts texts to, 0 if it sets none.
func (t *Tokenizer) Limit() int { return t.most }

// MaxID returns the largest token id.
func (t *Tokenizer) MaxID() int { return int(t.highest) }

// appendText appends the tokens of a text of valid UTF-8 until there are more than limit.
func (t *Tokenizer) appendText(ids []int32, text string, limit int) ([]int32, error) {
	raw := t.added.literal.cut(nil, text)
	for _, segment := range raw {
		if segment.id >= 0 {
			ids = append(ids, segment.id)
			continue
		}
		var err error
		if segment.text, err = t.normalize(segment.text); err != nil {
			return nil, err
		}
		if ids, err = t.appendSegment(ids, segment, limit); err != nil {
			return nil, err
		}
		if len(ids) > limit {
			break
		}
	}
	return ids, nil
}

// appendSegment appends the tokens of a normalised part of the text.
func (t *Tokenizer) appendSegment(ids []int32, segment piece, limit int) ([]int32, error) {
	pieces := *piecePool.Get().(*[]piece)
	defer func() {
		clear(pieces[:cap(pieces)])
		pieces = pieces[:0]
		piecePool.Put(&pieces)
	}()
	pieces = t.added.normalized.cut(pieces, segment.text)
	for i := range pieces {
		pieces[i].first = pieces[i].first && segment.first
	}
	pieces = t.split(pieces)
	for _, p := range pieces {
		var err error
		switch {
		case p.id >= 0:
			ids = append(ids, p.id)
		case p.text != "":
			if ids, err = t.cache.appendTokens(ids, p.text, t.model); err != nil {
				return nil, err
			}
		}
		if len(ids) > limit {
			break
		}
	}
	return ids, nil
}
