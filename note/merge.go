package note

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// SettleConflicts returns notes that git merge-file --diff3 has merged, with marks of size characters, without the conflicts. In their places
// is each entry that one side has added, none that one has removed and the other left, and one that both have changed as each has it. Entries
// are notes of a day, headings, items of lists and paragraphs.
func SettleConflicts(merged []byte, size int) []byte {
	var out []byte
	var sides [3][]byte // ours, base, theirs
	side := -1          // outside of conflicts
	for line := range bytes.Lines(merged) {
		switch next := strings.IndexByte("<|=>", line[0]); {
		case next < 0 || !bytes.HasPrefix(line, bytes.Repeat(line[:1], size)):
			if side < 0 {
				out = append(out, line...)
			} else {
				sides[side] = append(sides[side], line...)
			}
		case next < len(sides):
			side = next
		default:
			out = append(out, settled(out, sides)...)
			sides, side = [3][]byte{}, -1
		}
	}
	return out
}

// mergeEntry is a note, a heading, an item of a list or a paragraph on one side of a conflict.
type mergeEntry struct {
	lead, text string // the blank lines above it, and its lines
	// key tells it from others of its side, parent is the key of the heading above it, path that or its own if it is a heading, and after the
	// key of the entry before it; empty for none in the conflict.
	key, parent, path, after string
	level, indent            int  // level is 0 for all but notes and headings
	listed, inList           bool // whether it is an item or more of one, and whether one is before it
	open                     bool // whether it is a heading whose section goes on behind the conflict
}

var (
	// listLine begins a line of a list.
	listLine = regexp.MustCompile(`^(\s+|[-*+]\s|\d+[.)]\s)+`)
	// listEnd is a text that ends in a list.
	listEnd = regexp.MustCompile(`(^|\n)([ \t]|[-*+]\s|\d+[.)]\s)[^\n]*\s*$`)
)

// sideOf cuts one side of a conflict into entries. above is what stands above the conflict, and tail the blank lines at the end.
func sideOf(above, side []byte) (list []mergeEntry, tail string) {
	lines, skip := linesOf(slices.Concat(above, side)), bytes.Count(above, []byte("\n"))
	inNote, inList := false, listEnd.Match(above)
	for n, text := range slices.Collect(strings.Lines(string(side))) {
		line := lines[skip+n]
		if strings.TrimSpace(text) == "" {
			tail += text
			continue
		}
		e := mergeEntry{lead: tail, text: text, level: line.Level, indent: len(text) - len(strings.TrimLeft(text, " \t")), listed: listLine.MatchString(text), inList: inList}
		if last := len(list) - 1; last >= 0 {
			open := &list[last]
			begins := e.level > 0 || open.level > 0 || (e.listed || tail != "") && (!open.listed || e.indent <= open.indent)
			if inNote {
				begins = e.level == 1 || e.level == 2
			}
			if line.Fence != "" || line.Underline || !begins {
				open.text, tail = open.text+tail+text, ""
				continue
			}
		}
		list, tail, inNote, inList = append(list, e), "", line.IsEntry(), e.listed
	}
	if last := len(list) - 1; last >= 0 {
		list[last].open = list[last].level > 0 && !inNote
	}
	seen := map[string]int{}
	for i := range list {
		e := &list[i]
		for _, h := range slices.Backward(list[:i]) {
			e.after = cmp.Or(e.after, h.key)
			if h.level > 0 && (e.level == 0 || h.level < e.level) {
				e.parent = h.key
				break
			}
		}
		e.key = e.parent + strings.Join(strings.Fields(listLine.ReplaceAllString(e.text, "")), " ")
		seen[e.key]++
		e.key += strings.Repeat("\x01", seen[e.key]) + "\x00"
		if e.path = e.parent; e.level > 0 {
			e.path = e.key
		}
	}
	return list, tail
}

// settled returns what stands in the place of a conflict of three sides: what ours has, and in its sections what theirs has added. above is
// what stands above it.
func settled(above []byte, sides [3][]byte) string {
	ours, tail := sideOf(above, sides[0])
	base, _ := sideOf(above, sides[1])
	theirs, itsTail := sideOf(above, sides[2])
	if len(ours) == 0 {
		tail = itsTail
	}
	all := entriesFor(ours, func(e mergeEntry) bool { return !hasEntry(base, e) || hasEntry(theirs, e) })
	for _, e := range entriesFor(theirs, func(e mergeEntry) bool { return !hasEntry(base, e) && !hasEntry(ours, e) }) {
		if !hasEntry(all, e) {
			all = slices.Insert(all, placeIn(all, e), e)
		}
	}
	end, _, _ := strings.Cut(string(slices.Concat(above, sides[0], sides[2])), "\n")
	end = end[len(strings.TrimSuffix(end, "\r")):] + "\n"
	var b strings.Builder
	for i, e := range all {
		switch {
		case i == 0 && (len(above) == 0 || bytes.HasSuffix(above, []byte("\n"+end))):
			e.lead = ""
		case i == 0 || e.after == all[i-1].key: // as on its side
		case !e.listed || !all[i-1].listed:
			e.lead = cmp.Or(e.lead, end)
		case !e.inList:
			e.lead = ""
		}
		b.WriteString(e.lead + e.text)
	}
	if len(all) > 0 {
		b.WriteString(tail)
	}
	return strings.ReplaceAll(strings.ReplaceAll(b.String(), "\r\n", "\n"), "\n", end)
}

// hasEntry reports whether a side has an entry.
func hasEntry(side []mergeEntry, e mergeEntry) bool {
	return slices.ContainsFunc(side, func(x mergeEntry) bool { return x.key == e.key })
}

// entriesFor returns the entries of a side that are wanted, with the headings above them.
func entriesFor(side []mergeEntry, wanted func(mergeEntry) bool) (list []mergeEntry) {
	for _, e := range side {
		if slices.ContainsFunc(side, func(x mergeEntry) bool {
			return strings.HasPrefix(x.path, e.path) && (x.key == e.key || e.level > 0) && wanted(x)
		}) {
			list = append(list, e)
		}
	}
	return list
}

// placeIn returns where an entry of the other side goes: to the end of its section, but lines of an item that is above the conflict before
// what is not of it, and a new section to the end of the one that it is in.
func placeIn(all []mergeEntry, e mergeEntry) (at int) {
	for i, x := range all {
		if e.level == 0 && x.level == 0 && x.path == e.path && x.indent < e.indent || x.open && !e.open && !strings.HasPrefix(e.parent, x.key) {
			break
		}
		if x.path == e.parent || e.level > 0 && strings.HasPrefix(x.path, e.parent) {
			at = i + 1
		}
	}
	return at
}
