package history

import (
	"fmt"
	"slices"
	"strings"

	"kioku/memory"
)

const (
	// around is the number of equal lines that a difference has around what differs.
	around = 3
	// maxEdits is the number of lines above which the difference of two parts is that one takes the place of the other.
	maxEdits = 2000
)

// DiffText returns what two texts of a file differ in; Text is empty if they are equal. A file that was not there is nil, one that is
// empty is not.
func DiffText(name string, before, after []byte) memory.FileDiff {
	d := memory.FileDiff{Path: name, Change: memory.FileChanged}
	switch {
	case before == nil:
		d.Change = memory.FileAdded
	case after == nil:
		d.Change = memory.FileRemoved
	}
	edits := editsOf(splitLines(before), splitLines(after))
	for _, e := range edits {
		switch e.kind {
		case '+':
			d.Added++
		case '-':
			d.Removed++
		}
	}
	d.Text = unified(edits)
	return d
}

// edit is a line that is in both texts (' '), only in the one before ('-'), or only in the one after ('+').
type edit struct {
	kind byte
	line string
}

// splitLines returns the lines of a text with their line breaks.
func splitLines(text []byte) []string {
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// editsOf returns the shortest list of edits that turns a into b, unless that takes too long to find.
func editsOf(a, b []string) []edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := linesAs(' ', a[:head])
	out = append(out, shortest(a[head:len(a)-tail], b[head:len(b)-tail])...)
	return append(out, linesAs(' ', a[len(a)-tail:])...)
}

// linesAs returns lines as edits of one kind.
func linesAs(kind byte, lines []string) []edit {
	var out []edit
	for _, l := range lines {
		out = append(out, edit{kind, l})
	}
	return out
}

// shortest is the algorithm of Myers, "An O(ND) difference algorithm and its variations" (1986): v has for each diagonal the furthest
// line of a that so many edits reach, and trace each v.
func shortest(a, b []string) []edit {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return append(linesAs('-', a), linesAs('+', b)...)
	}
	most := min(n+m, maxEdits)
	v := make([]int, 2*most+2)
	at := func(k int) *int { return &v[k+most] }
	var trace [][]int
	for d := 0; d <= most; d++ {
		trace = append(trace, slices.Clone(v[most-d:most+d+2]))
		for k := -d; k <= d; k += 2 {
			x := 0
			if k == -d || k != d && *at(k - 1) < *at(k + 1) {
				x = *at(k + 1)
			} else {
				x = *at(k - 1) + 1
			}
			for x < n && x-k < m && x-k >= 0 && a[x] == b[x-k] {
				x++
			}
			*at(k) = x
			if x >= n && x-k >= m {
				return walkBack(a, b, trace)
			}
		}
	}
	return append(linesAs('-', a), linesAs('+', b)...)
}

// walkBack returns the edits of the path that a trace has found.
func walkBack(a, b []string, trace [][]int) []edit {
	x, y := len(a), len(b)
	var out []edit
	for d := len(trace) - 1; d > 0; d-- {
		v, k := trace[d], x-y // v[i] is diagonal i-d
		before := k - 1
		if k == -d || k != d && v[k-1+d] < v[k+1+d] {
			before = k + 1
		}
		fromX := v[before+d]
		fromY := fromX - before
		for x > fromX && y > fromY && x > 0 && y > 0 {
			x, y = x-1, y-1
			out = append(out, edit{' ', a[x]})
		}
		if x == fromX {
			y--
			out = append(out, edit{'+', b[y]})
		} else {
			x--
			out = append(out, edit{'-', a[x]})
		}
	}
	for x > 0 {
		x--
		out = append(out, edit{' ', a[x]})
	}
	slices.Reverse(out)
	return out
}

// unified returns edits in the unified format; empty if nothing differs.
func unified(edits []edit) string {
	var b strings.Builder
	for i := 0; i < len(edits); {
		first := slices.IndexFunc(edits[i:], func(e edit) bool { return e.kind != ' ' })
		if first < 0 {
			break
		}
		start := max(i+first-around, i)
		end, equal := i+first, 0
		for end < len(edits) && equal <= 2*around {
			if equal++; edits[end].kind != ' ' {
				equal = 0
			}
			end++
		}
		end -= max(equal-around, 0)
		writeHunk(&b, edits, start, end)
		i = end
	}
	return b.String()
}

// writeHunk writes a part of edits with its line numbers.
func writeHunk(b *strings.Builder, edits []edit, start, end int) {
	lineA, lineB := 1+count(edits[:start], '-'), 1+count(edits[:start], '+')
	lenA, lenB := count(edits[start:end], '-'), count(edits[start:end], '+')
	if lenA == 0 {
		lineA--
	}
	if lenB == 0 {
		lineB--
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", lineA, lenA, lineB, lenB)
	for _, e := range edits[start:end] {
		b.WriteByte(e.kind)
		b.WriteString(e.line)
		if !strings.HasSuffix(e.line, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// count returns how many lines of edits are in the text before (kind '-') or after ('+').
func count(edits []edit, kind byte) int {
	n := 0
	for _, e := range edits {
		if e.kind == ' ' || e.kind == kind {
			n++
		}
	}
	return n
}
