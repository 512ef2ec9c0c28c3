package prompt

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// MaterialTag marks text that others have written.
const MaterialTag = "council-data"

// tag matches what looks like a mark of this package or of recalled memories.
var tag = regexp.MustCompile(`(?i)<(\s*/?\s*(?:council-data|recalled-memories))`)

// Origin says where a text in a frame is from.
type Origin struct {
	Kind   string `json:"kind"`             // such as task, comment, opinion
	Name   string `json:"name,omitempty"`   // title or name of a file
	Source string `json:"source,omitempty"` // where it lies
	Author string `json:"author,omitempty"` // who has written it
	Trust  string `json:"trust,omitempty"`  // how far its author is known
}

// Material puts texts between marks that nobody can guess without its key.
type Material struct {
	// Key makes the marks unpredictable for those who do not have it.
	Key []byte
}

// Frame returns text between two marks, with a line of JSON about it. What would be a mark or is hidden in text is escaped, so that
// the text neither ends its frame nor shows a person something else than a model. The same text has the same marks.
func (m Material) Frame(about Origin, text string) string {
	head, _ := json.Marshal(about) // strings always have a JSON form
	line := EscapeHidden(string(head))
	text = EscapeHidden(tag.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "&lt;$1"))
	mac := hmac.New(sha256.New, m.Key)
	mac.Write([]byte(line + "\n" + text))
	id := hex.EncodeToString(mac.Sum(nil)[:8])
	return fmt.Sprintf("<%s id=%q>\n%s\n%s\n</%s id=%q>", MaterialTag, id, line, strings.TrimSpace(text), MaterialTag, id)
}

// EscapeHidden returns s with \u{...} in place of characters that cannot be seen or change how others look. Line ends, tabs and the
// two joiners that scripts and emoji need stay.
func EscapeHidden(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, hiding) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hiding(r) {
			fmt.Fprintf(&b, `\u{%04x}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hiding(r rune) bool { return Hidden(r) && !strings.ContainsRune("\n\t\u200c\u200d", r) }
