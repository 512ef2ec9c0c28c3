package prompt

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"kioku/agent/bootstrap"
	"kioku/internal/text"
	"kioku/memory"
)

// Memory is a passage of a memory.
type Memory struct {
	// Agent is the agent whose memory contains the passage.
	Agent string `json:"agent"`
	// Shared says that a group may read the passage.
	Shared bool `json:"shared,omitempty"`
	// Path of the file.
	Path string `json:"path"`
	// StartLine and EndLine of Text in the file, 1-based and inclusive.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Score, 0 to 1.
	Score float64 `json:"score"`
	// VectorScore and TextScore are those of the meaning and the words, 0 to 1; 0 if a channel did not find the passage.
	VectorScore float64 `json:"vector_score,omitempty"`
	TextScore   float64 `json:"text_score,omitempty"`
	// Date of the note (YYYY-MM-DD), empty if it has none.
	Date string `json:"date,omitempty"`
	// Text of the passage.
	Text string `json:"text"`
	// Kind is memory.KindFact, memory.KindLoop or memory.KindSummary of what was derived from the place; empty for a passage.
	Kind string `json:"kind,omitempty"`
	// Quote is what stands at the place, if Text is derived from it; empty for a passage.
	Quote string `json:"quote,omitempty"`
	// Origin says whose words they are; nil if the owner's.
	Origin *memory.Origin `json:"origin,omitempty"`
	// Shown says that an earlier message is still sent with the passage, so that the frame only points to it.
	Shown bool `json:"shown,omitempty"`
	// Flags are set by Assemble: FlagInstruction, FlagRole, FlagHidden, FlagLookalike.
	Flags []string `json:"flags,omitempty"`
}

// Source returns the place of the memory: path#L3 or path#L3-L5.
func (m Memory) Source() string {
	if m.EndLine > m.StartLine {
		return fmt.Sprintf("%s#L%d-L%d", m.Path, m.StartLine, m.EndLine)
	}
	return fmt.Sprintf("%s#L%d", m.Path, m.StartLine)
}

// Key returns what tells the passage from others and from its own earlier text: its agent, its place and a hash of its text.
func (m Memory) Key() string {
	sum := sha256.Sum256([]byte(m.Text))
	return fmt.Sprintf("%s %s %x", cmp.Or(m.Agent, "main"), m.Source(), sum[:4])
}

// item is a memory in the frame, on one line.
type item struct {
	Source string      `json:"source"`
	Agent  string      `json:"agent"`
	Score  json.Number `json:"score"`
	Kind   string      `json:"kind,omitempty"`
	Date   string      `json:"date,omitempty"`
	SaidBy string      `json:"said_by,omitempty"`
	Flags  []string    `json:"flags,omitempty"`
	Text   string      `json:"text"`
}

// Frame returns the sections of standing instructions and preferences and of recalled memories as Assemble writes them, and the memories
// in both with their flags. With Input.Start they follow what the user keeps. It is for prompts that do not contain the files of the input: only what the recalled memories say is not said
// again. All is empty if no memory is for this session. Frame ignores the budget.
func Frame(in Input) (section string, shown []Memory) {
	a := &assembly{Input: in}
	if a.Mode == "" {
		a.Mode = bootstrap.Full
	}
	if a.Count == nil {
		a.Count = text.EstimateTokens
	}
	kept, data := a.kept()
	a.Recalled = slices.Concat(data, a.Recalled)
	a.admit()
	for _, m := range slices.Concat(kept, a.Recalled) {
		a.present += presentIn([]string{m.Text})
	}
	p := a.standingPart()
	sections := []string{a.keptSection(kept), p.text, a.frame(a.Recalled)}
	sections = slices.DeleteFunc(sections, func(s string) bool { return s == "" })
	return strings.Join(sections, "\n\n"), slices.Concat(kept, p.memories, a.Recalled)
}

// frame returns the section with memories, empty if there are none. Each memory is a line of JSON in which <, > and &, line ends
// and invisible characters are escaped. So no text can contain a tag, begin a line, or open a fence.
func (a *assembly) frame(memories []Memory) string {
	if len(memories) == 0 {
		return ""
	}
	if !slices.ContainsFunc(memories, func(m Memory) bool { return !m.Shown }) {
		return shownAgain(memories)
	}
	var lines strings.Builder
	for _, m := range memories {
		lines.WriteString(line(m) + "\n")
	}
	intro := memory.RecalledIntro
	if a.Start {
		intro = memory.StartIntro
	}
	return a.enclose(memory.RecalledHeading, intro, memory.RecalledTag, lines.String(), a.Now)
}

// enclose returns a section with lines between two tags.
func (a *assembly) enclose(heading, intro, tag, lines string, now time.Time) string {
	id := a.id(lines, now)
	return fmt.Sprintf("%s\n\n%s\n\n<%s id=%q>\n%s</%s id=%q>", heading, intro, tag, id, lines, tag, id)
}

// shownAgain points to memories whose texts are all with earlier messages. Their places are JSON, because anybody may name a file.
func shownAgain(memories []Memory) string {
	var places []string
	for _, m := range memories {
		places = append(places, m.Source())
	}
	return "- Recalled again, with their texts above: " + visible(places)
}

// line returns the line of a memory.
func line(m Memory) string {
	score := m.Score
	if math.IsNaN(score) {
		score = 0
	}
	said := strings.TrimSpace(m.Text)
	if m.Shown {
		said = memory.ShownAbove
	}
	return visible(item{ // strings and a formatted number
		Source: m.Source(), Agent: cmp.Or(m.Agent, "main"), Score: json.Number(fmt.Sprintf("%.2f", min(max(score, 0), 1))), Kind: m.Kind,
		Date: m.Date, SaidBy: m.Origin.String(), Flags: m.Flags, Text: said,
	})
}

// visible returns the JSON of a value, in which all hidden characters are escaped.
func visible(value any) string {
	raw, _ := json.Marshal(value) // the caller's values always have a JSON form
	var b strings.Builder
	for _, r := range string(raw) {
		if !Hidden(r) || r == joiner || r == nonJoiner {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// Emoji and several scripts need these two characters.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

// Hidden reports whether a character is invisible and no space, or changes how other characters look.
func Hidden(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Cc, unicode.Zl, unicode.Zp) || r >= 0xE0000 && r <= 0xE0FFF || r == '\u034f' || r == '\u115f' || r == '\u1160' || r == '\u3164'
}

// id returns the id of the frame around lines. It depends on the agent, the channel, a time and the lines, and cannot be
// predicted without the key.
func (a *assembly) id(lines string, now time.Time) string {
	mac := hmac.New(sha256.New, a.Key)
	moment := binary.BigEndian.AppendUint64(nil, uint64(now.UnixNano()))
	for _, part := range []string{a.Agent, a.Channel, string(moment), lines} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write([]byte(part))
	}
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// VisibleLine returns a text on one line, without characters that are hidden.
func VisibleLine(s string) string {
	return text.OneLine(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || Hidden(r) {
			return ' '
		}
		return r
	}, s))
}
