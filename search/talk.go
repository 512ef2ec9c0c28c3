package search

import (
	"strings"
	"unicode/utf8"

	"kioku/chunker"
)

// isTalk reports whether most lines of a text are turns of a conversation: each begins with the name of its speaker, "- Ann: ".
func isTalk(lines []chunker.Line) bool {
	speakers := make(map[string]bool)
	turns, others := 0, 0
	for _, l := range lines {
		switch name := speaker(l); {
		case name != "":
			speakers[name] = true
			turns++
		case l.Level == 0 && strings.TrimSpace(l.Text) != "":
			others++
		}
	}
	return turns > others && turns >= turnsPerSpeaker*len(speakers)
}

// speaker returns the name at the start of a line before a colon, empty if there is none.
func speaker(l chunker.Line) string {
	if l.Level > 0 || l.Block > 0 {
		return ""
	}
	text := strings.TrimLeft(l.Text, " \t-*+>")
	at := strings.IndexAny(text, ":：")
	if at <= 0 || strings.ContainsAny(text[:at], ".,;!?。、，`/|[]()=\"") {
		return ""
	}
	name := strings.Trim(text[:at], "* \t")
	if utf8.RuneCountInString(name) > maxSpeakerRunes {
		return ""
	}
	return name
}
