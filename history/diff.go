package history

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/aymanbagabas/go-udiff/myers"

	"kioku/memory"
)

// around is the number of equal lines that a difference has around what differs.
const around = 3

// maxExact is the number of lines of two texts above which a difference of more than some 100 places need not be the shortest: the
// shortest one takes memory with the square of it, 64 MB at most.
const maxExact = 2000

// DiffText returns what two texts of a file differ in; Text is empty if they are equal. A file that was not there is nil, one that is
// empty is not.
func DiffText(name string, before, after []byte) (memory.FileDiff, error) {
	d := memory.FileDiff{Path: name, Change: memory.FileChanged}
	switch {
	case before == nil:
		d.Change = memory.FileAdded
	case after == nil:
		d.Change = memory.FileRemoved
	}
	a, b := string(before), string(after)
	shortest := udiff.Lines
	if strings.Count(a, "\n")+strings.Count(b, "\n") <= maxExact {
		//lint:ignore SA1019 udiff.Lines gives up after 100 edits, and this one finds them all
		shortest = myers.ComputeEdits
	}
	unified, err := udiff.ToUnifiedDiff("", "", a, shortest(a, b), around)
	if err != nil {
		return d, fmt.Errorf("compare the versions of %s: %w", name, err)
	}
	var text strings.Builder
	for _, h := range unified.Hunks {
		var lines strings.Builder
		count := map[udiff.OpKind]int{}
		for _, l := range h.Lines {
			count[l.Kind]++
			lines.WriteByte(map[udiff.OpKind]byte{udiff.Equal: ' ', udiff.Insert: '+', udiff.Delete: '-'}[l.Kind])
			lines.WriteString(l.Content)
			if !strings.HasSuffix(l.Content, "\n") {
				lines.WriteString("\n\\ No newline at end of file\n")
			}
		}
		added, removed, equal := count[udiff.Insert], count[udiff.Delete], count[udiff.Equal]
		d.Added, d.Removed = d.Added+added, d.Removed+removed
		from, to := h.FromLine, h.ToLine
		if removed+equal == 0 {
			from--
		}
		if added+equal == 0 {
			to--
		}
		fmt.Fprintf(&text, "@@ -%d,%d +%d,%d @@\n%s", from, removed+equal, to, added+equal, lines.String())
	}
	d.Text = text.String()
	return d, nil
}
