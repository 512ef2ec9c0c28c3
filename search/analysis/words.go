package analysis

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
	"unicode/utf8"
)

// ChunkWords are the terms by which a chunk is found.
type ChunkWords struct {
	// Terms in order, duplicates included: those of the headings and the date, of the text, and of the names and folders of the file.
	Terms []string
	// Above is the number of the terms before those of the text.
	Above int
	// Ends contains, for each line of the text, the number of its terms up to the end of the line; nil if this is not known.
	Ends []int
	// Joined are the numbers of the terms of the text that are made of others, ascending; the first term of the text has the number 0.
	Joined []int
}

// findLines sets Ends and Joined from the text that was added last to a, whose first tokens are those above. They stay nil if
// normalising the text changed the number of its lines.
func (w *ChunkWords) findLines(a *Analyzer, text string) {
	if strings.Count(a.Text, "\n") != strings.Count(text, "\n") {
		return
	}
	tokens := a.Tokens[w.Above:]
	n, end := 0, 0
	// Split, because a last line that normalises to nothing still is a line of the text.
	for line := range strings.SplitAfterSeq(a.Text, "\n") {
		for end += len(line); n < len(tokens) && int(tokens[n].Start) < end; n++ {
			if !tokens[n].IsLeaf() {
				w.Joined = append(w.Joined, n)
			}
		}
		w.Ends = append(w.Ends, n)
	}
}

// Encoded words begin with Above and the number of lines as varints. Then come the terms in order, and the ends of the lines between
// them. A term begins with a byte.
const (
	codeLineEnd = 0 // the end of a line
	codeJoined  = 1 // the next term is made of others
	// A new term of up to shortTerm bytes: its size is added to codeNew. The bytes of the term follow.
	codeNew   = 2
	shortTerm = 64
	// A new term that begins with the last character of the term before, as bigrams do: the size of the rest is added.
	codeChained  = codeNew + shortTerm
	shortChained = 8
	// A new term whose size follows as a varint.
	codeLong = codeChained + shortChained
	// A term that was there before: its number among the new terms is added. A number from nearRefs on has its lower byte after that byte.
	codeNear = codeLong + 1
	nearRefs = 150
	codeFar  = codeNear + nearRefs
	// farRefs are the numbers that have a second byte; for larger ones, codeVeryFar is followed by the number as a varint.
	codeVeryFar = 0xff
	farRefs     = (codeVeryFar - codeFar) << 8
)

// wordEncoders keeps buffers from one use to the next.
var wordEncoders = sync.Pool{New: func() any { return &wordEncoder{numbers: map[string]int{}} }}

// wordEncoder encodes the words of a chunk.
type wordEncoder struct {
	b       []byte
	numbers map[string]int // of the terms so far
	before  string         // the term before
}

// Encode returns the words as bytes, which WordReader reads.
func (w ChunkWords) Encode() []byte {
	e := wordEncoders.Get().(*wordEncoder)
	defer wordEncoders.Put(e)
	e.b = binary.AppendUvarint(e.b[:0], uint64(w.Above))
	e.b = binary.AppendUvarint(e.b, uint64(len(w.Ends)))
	line, joined := 0, w.Joined
	for i, term := range w.Terms {
		at := i - w.Above
		for line < len(w.Ends) && at >= w.Ends[line] {
			e.b = append(e.b, codeLineEnd)
			line++
		}
		if len(joined) > 0 && joined[0] == at {
			e.b, joined = append(e.b, codeJoined), joined[1:]
		}
		e.addTerm(term)
	}
	for ; line < len(w.Ends); line++ {
		e.b = append(e.b, codeLineEnd)
	}
	e.before = ""
	clear(e.numbers) // so that no text stays alive
	return bytes.Clone(e.b)
}

// addTerm appends a term.
func (e *wordEncoder) addTerm(term string) {
	n, ok := e.numbers[term]
	switch {
	case ok && n < nearRefs:
		e.b = append(e.b, byte(codeNear+n))
	case ok && n-nearRefs < farRefs:
		e.b = append(e.b, byte(codeFar+(n-nearRefs)>>8), byte(n-nearRefs))
	case ok:
		e.b = binary.AppendUvarint(append(e.b, codeVeryFar), uint64(n))
	default:
		e.numbers[term] = len(e.numbers)
		e.addNew(term)
	}
	e.before = term
}

// addNew appends a term that was not there before.
func (e *wordEncoder) addNew(term string) {
	_, size := utf8.DecodeLastRuneInString(e.before)
	rest, chained := strings.CutPrefix(term, e.before[len(e.before)-size:])
	switch {
	case size > 1 && chained && 0 < len(rest) && len(rest) <= shortChained:
		e.b = append(append(e.b, byte(codeChained+len(rest)-1)), rest...)
	case 0 < len(term) && len(term) <= shortTerm:
		e.b = append(append(e.b, byte(codeNew+len(term)-1)), term...)
	default:
		e.b = append(binary.AppendUvarint(append(e.b, codeLong), uint64(len(term))), term...)
	}
}

// WordReader reads encoded words. It is reused for many chunks.
type WordReader struct {
	// Above is that of ChunkWords.
	Above int
	// Order contains, for each term of the chunk in order, its number among the distinct ones, doubled, plus 1 if it is made of others.
	Order []uint32
	// Ends are those of ChunkWords, counted from the first term of the chunk; empty if the lines are not known.
	Ends []int

	text []byte // the distinct terms, one after the other
	ends []int  // offsets in text
}

// Distinct returns the number of distinct terms.
func (r *WordReader) Distinct() int { return len(r.ends) }

// Term returns the i-th of the distinct terms, which are in the order of their first places. It is valid until the next Read.
func (r *WordReader) Term(i int) []byte {
	if i == 0 {
		return r.text[:r.ends[0]]
	}
	return r.text[r.ends[i-1]:r.ends[i]]
}

// Read reads encoded words. It returns false if they are damaged.
func (r *WordReader) Read(b []byte) bool {
	r.Order, r.Ends, r.text, r.ends = r.Order[:0], r.Ends[:0], r.text[:0], r.ends[:0]
	above, b, ok := readUvarint(b)
	lines, b, known := readUvarint(b)
	if !ok || !known {
		return false
	}
	r.Above = above
	joined := uint32(0)
	for len(b) > 0 {
		code := int(b[0])
		b = b[1:]
		switch {
		case code == codeLineEnd:
			r.Ends = append(r.Ends, len(r.Order))
			continue
		case code == codeJoined:
			joined = 1
			continue
		}
		n, rest, ok := r.readTerm(code, b)
		if !ok {
			return false
		}
		r.Order, b, joined = append(r.Order, uint32(n)<<1|joined), rest, 0
	}
	return len(r.Ends) == lines && (lines == 0 || above <= r.Ends[0])
}

// readTerm reads a term that begins with a code before b, and returns its number and the rest of b.
func (r *WordReader) readTerm(code int, b []byte) (n int, rest []byte, ok bool) {
	size, chained := 0, 0
	switch {
	case code < codeChained:
		size = code - codeNew + 1
	case code < codeLong:
		size, chained = code-codeChained+1, r.lastRune()
	case code == codeLong:
		if size, b, ok = readUvarint(b); !ok {
			return 0, nil, false
		}
	case code < codeFar:
		n = code - codeNear
		return n, b, n < len(r.ends)
	case code < codeVeryFar:
		if len(b) == 0 {
			return 0, nil, false
		}
		n = nearRefs + (code-codeFar)<<8 + int(b[0])
		return n, b[1:], n < len(r.ends)
	default:
		n, b, ok = readUvarint(b)
		return n, b, ok && n < len(r.ends)
	}
	if size > len(b) {
		return 0, nil, false
	}
	if chained > 0 {
		last := r.Term(int(r.Order[len(r.Order)-1] >> 1))
		r.text = append(r.text, last[len(last)-chained:]...)
	}
	r.text = append(r.text, b[:size]...)
	r.ends = append(r.ends, len(r.text))
	return len(r.ends) - 1, b[size:], true
}

// lastRune returns the size of the last character of the term before, 0 if there is none.
func (r *WordReader) lastRune() int {
	if len(r.Order) == 0 {
		return 0
	}
	_, size := utf8.DecodeLastRune(r.Term(int(r.Order[len(r.Order)-1] >> 1)))
	return size
}

// maxNumber is the largest number of encoded words that is believed.
const maxNumber = 1 << 28

// readUvarint reads a varint, and returns the rest of b.
func readUvarint(b []byte) (n int, rest []byte, ok bool) {
	v, size := binary.Uvarint(b)
	if size <= 0 || v > maxNumber {
		return 0, nil, false
	}
	return int(v), b[size:], true
}
