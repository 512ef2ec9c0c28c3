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
	"strings"
	"unicode"
	"unicode/utf16"

	"kioku/agent/bootstrap"
	"kioku/memory"
)

// Memory is a passage that was found in memory.
type Memory struct {
	// Agent whose memory it is from. Shared memories may be shown to more people than the one whom the agent is for.
	Agent  string
	Shared bool
	Path   string
	// StartLine and EndLine of Text in the file, 1-based and inclusive.
	StartLine, EndLine int
	// Score in [0,1].
	Score float64
	// Date of the note (YYYY-MM-DD), empty if it has none.
	Date string
	Text string
	// Flags are set by Assemble: FlagInstruction, FlagRole, FlagHidden, FlagLookalike.
	Flags []string
}

// Source is where the memory is from: path#L3 or path#L3-L5.
func (m Memory) Source() string {
	if m.EndLine > m.StartLine {
		return fmt.Sprintf("%s#L%d-L%d", m.Path, m.StartLine, m.EndLine)
	}
	return fmt.Sprintf("%s#L%d", m.Path, m.StartLine)
}

// item is a memory in the frame, on one line.
type item struct {
	Source string      `json:"source"`
	Agent  string      `json:"agent"`
	Score  json.Number `json:"score"`
	Date   string      `json:"date,omitempty"`
	Flags  []string    `json:"flags,omitempty"`
	Text   string      `json:"text"`
}

// Frame returns what Assemble writes of the recalled memories of in: a section with its heading, and the memories in it
// with their flags. It is empty if none are for this session. The budget does not count.
func Frame(in Input) (section string, shown []Memory) {
	a := &assembly{Input: in}
	if a.Mode == "" {
		a.Mode = bootstrap.Full
	}
	a.admit()
	return a.frame(a.Recalled), a.Recalled
}

// frame returns memories as a section of the prompt, nothing if there are none. Each is a line of JSON in which <, >
// and & as well as all that ends a line or cannot be seen are escaped. So no text can hold a tag, begin a line, or open a
// fence.
func (a *assembly) frame(memories []Memory) string {
	if len(memories) == 0 {
		return ""
	}
	var lines strings.Builder
	for _, m := range memories {
		lines.WriteString(line(m) + "\n")
	}
	id := a.id(lines.String())
	return fmt.Sprintf("%s\n\n%s\n\n<%s id=%q>\n%s</%s id=%q>", memory.RecalledHeading, memory.RecalledIntro, memory.RecalledTag, id, lines.String(), memory.RecalledTag, id)
}

// line writes a memory.
func line(m Memory) string {
	score := m.Score
	if math.IsNaN(score) {
		score = 0
	}
	raw, _ := json.Marshal(item{ // strings and a formatted number always have a JSON form
		Source: m.Source(), Agent: cmp.Or(m.Agent, "main"), Score: json.Number(fmt.Sprintf("%.2f", min(max(score, 0), 1))),
		Date: m.Date, Flags: m.Flags, Text: strings.TrimSpace(m.Text),
	})
	var b strings.Builder
	for _, r := range string(raw) {
		if !hidden(r) || r == joiner || r == nonJoiner {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// Emoji and several scripts need these two.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

// hidden reports whether a character cannot be seen although it is no blank space, or changes how others are seen.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Cc, unicode.Zl, unicode.Zp) || r >= 0xE0000 && r <= 0xE0FFF || r == '\u034f' || r == '\u115f' || r == '\u1160' || r == '\u3164'
}

// id returns the id of the frame around lines: other for another agent, time or text, and unknown without the key.
func (a *assembly) id(lines string) string {
	mac := hmac.New(sha256.New, a.Key)
	moment := binary.BigEndian.AppendUint64(nil, uint64(a.Now.UnixNano()))
	for _, part := range []string{a.Agent, a.Channel, string(moment), lines} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write([]byte(part))
	}
	return hex.EncodeToString(mac.Sum(nil)[:8])
}
