package rule

import (
	"net/url"
	"strings"

	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

var (
	// lineMark matches a mark of Kioku at the end of a line; for its groups see text.MarkPattern.
	lineMark = text.NewRegexp(text.MarkPattern + `[ \t]*\r?$`)
	markFrom = text.NewRegexp(` from=([a-z]+)`)
	// dialogue is a line of a conversation in a note: "**Ana:** ...", "- User: ...".
	dialogue = text.NewRegexp(`^((?:[-*]\s+)?(?:\[?\d{1,2}:\d{2}(?::\d{2})?\]?\s+)?(?:\*\*([^*\n:：]{1,24})(?::\*\*|：\*\*|\*\*\s*[:：])|([\p{L}][\p{L}\d .'-]{0,23})[:：])\s+)\S`)
)

// setSpeakers sets the speakers of the lines of a Markdown file: whoever wrote a note by its marks, a tool for quotations, and who
// speaks in conversations if the file may have some.
func setSpeakers(raw []string, lines []line, talks bool) {
	for i := range lines {
		lines[i].speaker = memory.SpeakerNote
	}
	setMarked(raw, lines)
	if talks {
		setDialogues(lines)
	}
	for i := range lines {
		if l := &lines[i]; l.role == prose && strings.HasPrefix(strings.TrimLeft(l.text, " \t"), ">") {
			l.speaker = memory.SpeakerTool
		}
	}
}

// setMarked sets the speakers of notes with marks. What a mark says holds for the lines between the two marks of a note; without the
// first, the note begins with the heading or bullet above.
func setMarked(raw []string, lines []line) {
	begun, speaker, above := -1, "", 0
	for i, text := range raw {
		if i >= len(lines) {
			break
		}
		if !strings.Contains(text, "<!-- kioku") {
			if beginsNote(text) {
				above = i
			}
			if begun >= 0 {
				lines[i].speaker = speaker
			}
			continue
		}
		mark := lineMark.FindStringSubmatch(text)
		if mark == nil {
			continue
		}
		said := markSpeaker(mark[0])
		if mark[1] != "" { // it begins a note
			begun, speaker = i, said
			lines[i].speaker = said
			continue
		}
		from := min(above, i)
		if beginsNote(text) {
			from = i
		}
		if begun >= 0 {
			from = begun
			if speaker != memory.SpeakerAssistant && authorOf(mark[0]) == "" && speaker != memory.SpeakerNote {
				said = speaker // the first mark names the author
			}
		}
		for j := from; j <= i; j++ {
			lines[j].speaker = said
		}
		begun, above = -1, i+1
	}
}

// beginsNote reports whether a line begins a note as Kioku writes it: a section or an item.
func beginsNote(text string) bool {
	return strings.HasPrefix(text, "## ") || strings.HasPrefix(text, "- ")
}

// markSpeaker returns the speaker of a note with a mark.
func markSpeaker(mark string) string {
	if author := authorOf(mark); author != "" {
		return author
	}
	from := markFrom.FindStringSubmatch(mark)
	if from == nil {
		return memory.SpeakerNote
	}
	switch from[1] {
	case memory.NoteFromUser:
		return memory.SpeakerUser
	case memory.NoteFromTool:
		return memory.SpeakerTool
	}
	return memory.SpeakerAssistant
}

// authorOf returns the name of the author in a mark who is not the owner, the first if there are several; empty if there is none.
func authorOf(mark string) string {
	_, after, found := strings.Cut(mark, " author=")
	if !found {
		return ""
	}
	list, _, _ := strings.Cut(after, " ")
	for part := range strings.SplitSeq(list, ",") {
		if strings.HasPrefix(part, "owner:") {
			continue
		}
		id, name, _ := strings.Cut(part, "/")
		if name == "" {
			name = id
		}
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		if name == "" || name == "?" {
			return unknownSpeaker
		}
		return otherSpeaker(memory.Author{Name: name}.Label())
	}
	return ""
}

// unknownSpeaker is somebody who is not known.
const unknownSpeaker = "unknown"

// otherSpeaker returns the name of a speaker who is neither the owner nor the agent, and never one of the words for those.
func otherSpeaker(name string) string {
	switch name {
	case memory.SpeakerNote, memory.SpeakerUser, memory.SpeakerAssistant, memory.SpeakerTool, "":
		return name + "?"
	}
	return name
}

// isOther reports whether a speaker is somebody with a name.
func isOther(speaker string) bool {
	switch speaker {
	case memory.SpeakerNote, memory.SpeakerUser, memory.SpeakerAssistant, memory.SpeakerTool, unknownSpeaker, "":
		return false
	}
	return true
}

// setDialogues sets who speaks in the conversations of a note: where at least two speakers alternate in a section of which most lines
// begin with a name.
func setDialogues(lines []line) {
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && lines[to].headings == lines[from].headings && lines[to].role != heading {
			to++
		}
		setDialogue(lines[from:to])
		from = to
	}
}

func setDialogue(lines []line) {
	said, total, names := 0, 0, map[string]int{}
	for i := range lines {
		if lines[i].role != prose || lines[i].text == "" {
			continue
		}
		total++
		if name, _ := dialogueName(lines[i].text); name != "" {
			said++
			names[name]++
		}
	}
	if said < 3 || said*2 < total || len(names) < 2 || len(names) > said/2+1 || len(names) > 6 {
		return
	}
	speaker := ""
	for i := range lines {
		l := &lines[i]
		if l.role != prose {
			continue
		}
		if name, label := dialogueName(l.text); name != "" {
			speaker, l.label = dialogueSpeaker(name), label
		}
		if speaker != "" && (l.speaker == memory.SpeakerNote || speaker == memory.SpeakerAssistant) {
			l.speaker = speaker
		}
	}
}

// dialogueName returns the name with which a line of a conversation begins, and the length of what comes before the words.
func dialogueName(text string) (name string, label int) {
	m := dialogue.FindStringSubmatch(text)
	if m == nil {
		return "", 0
	}
	name = strings.TrimSpace(m[2] + m[3])
	if !isPersonName(name) && isOther(dialogueSpeaker(name)) {
		return "", 0
	}
	return name, len(m[1])
}

func dialogueSpeaker(name string) string {
	switch strings.ToLower(name) {
	case "user", "me", "human", "i", "私", "我", "ユーザー", "用户":
		return memory.SpeakerUser
	case "assistant", "agent", "ai", "bot", "アシスタント", "助手":
		return memory.SpeakerAssistant
	case "system", "tool":
		return memory.SpeakerTool
	}
	return otherSpeaker(name)
}

// setOrders marks the lines that give orders to a program, also those that do so together with the next one. What the owner has written
// into a file of what stays true is for such programs.
func setOrders(lines []line, longTerm bool) {
	for i := range lines {
		l := &lines[i]
		if l.role != prose && l.role != heading || longTerm && vocab.ByOwner(l.speaker) {
			continue
		}
		switch {
		case vocab.OrdersProgram(l.text):
			l.role = order
		case i > 0 && lines[i-1].role == prose && vocab.OrdersProgram(lines[i-1].text+" "+l.text):
			lines[i-1].role, l.role = order, order
		}
	}
}
