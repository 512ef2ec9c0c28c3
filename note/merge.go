package note

import (
	"bytes"
	"slices"
	"strings"
)

// Merge returns notes that two machines have changed since base: each entry that one of them has added is there once, and one that either has
// removed is gone. An entry that both have changed is there as each has it. Entries are the sections of the files of days, and elsewhere
// headings, items of lists and paragraphs.
func Merge(base, ours, theirs []byte) []byte {
	before, all, other := blocksOf(base), blocksOf(ours), blocksOf(theirs)
	has := func(list []string, b string) bool { return slices.Contains(list, b) }
	all = slices.DeleteFunc(all, func(b string) bool { return has(before, b) && !has(other, b) })
	at := 0 // behind the entry of theirs that was placed last
	for _, b := range other {
		switch {
		case has(all, b):
			at = slices.Index(all, b) + 1
		case has(before, b): // ours has removed it
		default:
			for at < len(all) && !has(before, all[at]) && !has(other, all[at]) { // behind what ours has added in this place
				at++
			}
			all = slices.Insert(all, at, b)
			at++
		}
	}
	return []byte(joinBlocks(all))
}

// blocksOf cuts a text into entries without blank lines around them.
func blocksOf(src []byte) (blocks []string) {
	ofDay := bytes.HasPrefix(src, []byte("## ")) || bytes.Contains(src, []byte("\n## ")) && noteHeading.Match(src[bytes.Index(src, []byte("\n## "))+1:])
	var open []string
	end := func() {
		if text := strings.Trim(strings.Join(open, "\n"), "\n"); text != "" {
			blocks = append(blocks, text)
		}
		open = nil
	}
	for _, line := range linesOf(src) {
		text := strings.TrimRight(line.Text, "\r\n")
		isItem := inList(text) && text != "" && text[0] != ' ' && text[0] != '\t'
		switch {
		case ofDay && line.Level > 0 && line.Level <= 2, !ofDay && line.Fence == "" && (line.Level > 0 || isItem):
			end()
		case !ofDay && line.Fence == "" && strings.TrimSpace(text) == "" && len(open) > 0 && !inList(open[0]):
			end()
		}
		open = append(open, text)
		if !ofDay && line.Level > 0 {
			end()
		}
	}
	end()
	return blocks
}

// joinBlocks returns entries as a text: items of a list follow each other, and a blank line is between others.
func joinBlocks(blocks []string) string {
	var b strings.Builder
	for i, block := range blocks {
		if i > 0 && !(inList(block) && inList(blocks[i-1])) {
			b.WriteString("\n")
		}
		b.WriteString(block + "\n")
	}
	return b.String()
}
