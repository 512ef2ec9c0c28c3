package member

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"kioku/agent/prompt"
)

// frameTag marks text that others have written.
const frameTag = "council-data"

// tag matches what looks like a mark of this package or of recalled memories.
var tag = regexp.MustCompile(`(?i)<(\s*/?\s*(?:council-data|recalled-memories))`)

// origin says where a text in a frame is from.
type origin struct {
	Kind   string `json:"kind"`
	Name   string `json:"name,omitempty"`
	Source string `json:"source,omitempty"`
	Author string `json:"author,omitempty"`
	Trust  string `json:"trust,omitempty"`
}

// framer puts texts between marks that nobody can guess without its key.
type framer struct{ key []byte }

// frame returns text between two marks, with a line of JSON about it. What would be a mark or is hidden in text is escaped, so that
// the text neither ends its frame nor shows a person something else than a model. The same text has the same marks.
func (f framer) frame(about origin, text string) string {
	head, _ := json.Marshal(about) // strings always have a JSON form
	line := escapeHidden(string(head))
	text = escapeHidden(tag.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "&lt;$1"))
	mac := hmac.New(sha256.New, f.key)
	mac.Write([]byte(line + "\n" + text))
	id := hex.EncodeToString(mac.Sum(nil)[:8])
	return fmt.Sprintf("<%s id=%q>\n%s\n%s\n</%s id=%q>", frameTag, id, line, strings.TrimSpace(text), frameTag, id)
}

// escapeHidden returns s with \u{...} in place of characters that cannot be seen or change how others look. Line ends, tabs and the
// two joiners that scripts and emoji need stay.
func escapeHidden(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, `\u{%04x}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hidden(r rune) bool { return prompt.Hidden(r) && !strings.ContainsRune("\n\t\u200c\u200d", r) }
