package transcripts

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"kioku/internal/secrets"
	"kioku/llm"
)

// Said is what somebody said on a line of a transcript.
type Said struct {
	// ID is unique in the transcript.
	ID string
	// Role is llm.RoleUser or llm.RoleAssistant.
	Role llm.Role
	// Text is what was said, with references in the places of secrets.
	Text string
	// Secrets is how many secrets were left out.
	Secrets int
	// At is when; zero if the line does not tell.
	At time.Time
	// Dir is the folder in which the conversation goes on from this line on; empty if the line does not tell. It is set on lines
	// on which nobody speaks too.
	Dir string
}

// What is wrong with a line of a transcript.
const (
	// NoJSON: the line is no JSON object.
	NoJSON = "no JSON"
	// TooLong: the line has more than MaxLine bytes, as those with images do.
	TooLong = "too long"
	// Unknown: the line is of a type that this package does not know.
	Unknown = "of an unknown type"
)

// MaxLine is the maximum length in bytes of a line that is read.
const MaxLine = 1 << 20

// Line returns what somebody said on a line; its Text is empty if nobody said anything. problem is NoJSON, TooLong or Unknown if the
// line is not understood, and else empty.
func (p Program) Line(line []byte) (said Said, problem string) {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return Said{}, ""
	case len(line) > MaxLine:
		return Said{Dir: p.dir(line)}, TooLong
	}
	said, problem = p.read(line)
	said.Dir = p.dir(line)
	if strings.TrimSpace(said.Text) == "" {
		return Said{Dir: said.Dir}, problem
	}
	text, found := secrets.Redact(said.Text)
	said.Text, said.Secrets = text, len(found)
	return said, problem
}

// timeOf returns the time of a line, zero if it has none that is understood.
func timeOf(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// block is a part of the content of a message.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// textOf returns the text of a content, which is a text or a list of blocks.
func textOf(content json.RawMessage) string {
	var whole string
	if json.Unmarshal(content, &whole) == nil {
		return whole
	}
	var blocks []json.RawMessage
	_ = json.Unmarshal(content, &blocks) // what is not understood is left out
	var texts []string
	for _, raw := range blocks {
		var b block
		if json.Unmarshal(raw, &b) == nil && strings.EqualFold(b.Type, "text") && b.Text != "" && !isInserted(b.Text) {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}
