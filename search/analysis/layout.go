package analysis

import (
	"encoding/binary"
	"strings"
)

// Layout says where the tokens of the text of a chunk are among all of its tokens. With it, the occurrences of a term are
// known by the numbers of their tokens, without analysing the text.
type Layout struct {
	// Above is the number of the tokens before the text.
	Above int
	// Ends contains, for each line of the text, the number of tokens of the text up to its end.
	Ends []int
	// Joined are the numbers of the tokens of the text that are made of others, ascending; the first token has the number 0.
	Joined []int
}

// layoutOf returns the layout of the text that was added last to a, whose first tokens are those above. It returns no layout if
// normalising the text changed the number of its lines.
func (a *Analyzer) layoutOf(text string, above int) Layout {
	l := Layout{Above: above}
	if strings.Count(a.Text, "\n") != strings.Count(text, "\n") {
		return Layout{}
	}
	tokens := a.Tokens[above:]
	n, end := 0, 0
	// Split, because a last line that normalises to nothing still is a line of the text.
	for line := range strings.SplitAfterSeq(a.Text, "\n") {
		for end += len(line); n < len(tokens) && int(tokens[n].Start) < end; n++ {
			if !tokens[n].IsLeaf() {
				l.Joined = append(l.Joined, n)
			}
		}
		l.Ends = append(l.Ends, n)
	}
	return l
}

// Encode returns the layout as bytes, nil if it has no lines: as varints, Above, the number of lines, the number of
// tokens in each line, and the differences between the numbers in Joined.
func (l Layout) Encode() []byte {
	if len(l.Ends) == 0 {
		return nil
	}
	b := binary.AppendUvarint(make([]byte, 0, 2+len(l.Ends)+len(l.Joined)), uint64(l.Above))
	b = binary.AppendUvarint(b, uint64(len(l.Ends)))
	b = appendDifferences(b, l.Ends)
	return appendDifferences(b, l.Joined)
}

// maxDifference is the largest difference between two numbers of a layout that is believed.
const maxDifference = 1 << 24

// appendDifferences appends the differences between ascending numbers.
func appendDifferences(b []byte, numbers []int) []byte {
	before := 0
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(n-before))
		before = n
	}
	return b
}

// DecodeLayout returns the layout that Encode has encoded. It returns false if the bytes are no layout.
func DecodeLayout(b []byte) (Layout, bool) {
	var l Layout
	above, size := binary.Uvarint(b)
	if size <= 0 || above > maxDifference {
		return Layout{}, false
	}
	b = b[size:]
	lines, size := binary.Uvarint(b)
	if size <= 0 || lines == 0 || lines > uint64(len(b)-size) {
		return Layout{}, false
	}
	l.Above = int(above)
	ends, rest, ok := readDifferences(b[size:], int(lines))
	if !ok {
		return Layout{}, false
	}
	l.Ends = ends
	l.Joined, _, ok = readDifferences(rest, -1)
	return l, ok
}

// readDifferences returns the first n numbers of which b contains the differences, all if n is negative, and the rest of b.
func readDifferences(b []byte, n int) (numbers []int, rest []byte, ok bool) {
	size := n
	if n < 0 {
		size = len(b)
	}
	if size == 0 {
		return nil, b, true
	}
	numbers = make([]int, 0, size)
	sum := 0
	for ; n != 0 && len(b) > 0; n-- {
		d, size := binary.Uvarint(b)
		if size <= 0 || d > maxDifference {
			return nil, nil, false
		}
		sum += int(d)
		numbers, b = append(numbers, sum), b[size:]
	}
	return numbers, b, n <= 0
}
