package note

import (
	"bytes"
	"regexp"
	"strings"

	"kioku/internal/text"
	"kioku/memory"
)

// originAt returns the origin of a line of a file, nil if it has none.
func originAt(src []byte, line int) *memory.Origin {
	return memory.JoinOrigins(Origins(src), line, line)
}

// lineMarker matches a marker at the end of a line; for its groups see text.MarkPattern.
var lineMarker = regexp.MustCompile(text.MarkPattern + `[ \t]*\r?$`)

// Origins returns the notes of a file that have an origin, in the order of their lines. What markers say holds for the lines
// between the two markers of a note. If a person has removed the first, the note begins with the heading or bullet above the second;
// if a crash has cut the second off, it ends before the next marker.
func Origins(src []byte) []memory.LineOrigin {
	if !bytes.Contains(src, []byte(authorMark)) {
		return nil
	}
	var notes []memory.LineOrigin
	var open *memory.LineOrigin // the note that has begun
	begun, above := "", 1
	lines := strings.Split(string(src), "\n")
	for i, line := range lines {
		number := i + 1
		marker := lineMarker.FindStringSubmatch(line)
		if marker == nil {
			if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "- ") {
				above = number
			}
			continue
		}
		origin := originOf(marker[0])
		switch {
		case open != nil && marker[3]+marker[4] == begun:
			open.To = number
			notes, open, origin = append(notes, *open), nil, nil
		case open != nil:
			open.To = number - 1
			notes, open = append(notes, *open), nil
		}
		switch {
		case marker[1] != "" && origin != nil:
			open, begun = &memory.LineOrigin{From: number, Origin: origin}, marker[1]
		case origin != nil:
			notes = append(notes, memory.LineOrigin{From: min(above, number), To: number, Origin: origin})
		}
		above = number + 1
	}
	if open != nil {
		open.To = len(lines)
		notes = append(notes, *open)
	}
	return notes
}
