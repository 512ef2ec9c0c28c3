package note

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"kioku/internal/text"
	"kioku/memory"
)

// Origin is the origin of the lines of a note, from the first to the last one, from 1.
type Origin struct {
	// From and To are the lines.
	From, To int
	// Origin of the lines.
	Origin *memory.Origin
}

// JoinOrigins returns the origins of all notes with lines between two together, nil if there are none.
func JoinOrigins(notes []Origin, from, to int) *memory.Origin {
	var all *memory.Origin
	for _, n := range notes {
		switch {
		case n.To < from || n.From > to:
		case all == nil:
			all = &memory.Origin{Channel: n.Origin.Channel, Authors: slices.Clone(n.Origin.Authors)}
		default:
			if n.Origin.Channel != all.Channel {
				all.Channel = "" // several
			}
			for _, a := range n.Origin.Authors {
				all.Add(a)
			}
		}
	}
	return all
}

// originAt returns the origin of a line of a file, nil if it has none.
func originAt(src []byte, line int) *memory.Origin { return JoinOrigins(Origins(src), line, line) }

// lineMarker matches a marker at the end of a line; for its groups see text.MarkPattern.
var lineMarker = regexp.MustCompile(text.MarkPattern + `[ \t]*\r?$`)

// Origins returns the notes of a file that have an origin, in the order of their lines. What markers say holds for the lines
// between the two markers of a note. If a person has removed the first, the note begins with the heading or bullet above the second;
// if a crash has cut the second off, it ends before the next marker.
func Origins(src []byte) []Origin {
	if !bytes.Contains(src, []byte(authorMark)) {
		return nil
	}
	var notes []Origin
	var open *Origin // the note that has begun
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
			open, begun = &Origin{From: number, Origin: origin}, marker[1]
		case origin != nil:
			notes = append(notes, Origin{min(above, number), number, origin})
		}
		above = number + 1
	}
	if open != nil {
		open.To = len(lines)
		notes = append(notes, *open)
	}
	return notes
}
