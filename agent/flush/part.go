package flush

import (
	"strings"
	"time"
	"unicode/utf8"

	"kioku/internal/text"
	"kioku/llm"
	"kioku/memory"
)

const (
	// roomOfUnknown is the size in tokens of a range if the window is unknown.
	roomOfUnknown = 24_000
	// maxAnswer is the maximum room for the answers of the model, in tokens; it is also at most 1/answerParts of the window.
	maxAnswer   = 4000
	answerParts = 8
	// minRoom is the minimum size of a range in tokens, unless the model refuses it.
	minRoom = 200
	// maxRoom is the maximum size of a range in tokens, of which each counts for at most tokenBytes bytes: a range goes through one
	// response of the service.
	maxRoom    = 250_000
	tokenBytes = 8
	// minLearnt is the size in tokens below which a range is not halved.
	minLearnt = 16
)

// ellipsis stands for the rest of a message that is shown in pieces.
const ellipsis = "…"

// roomOf returns how many tokens a range may have beside fixed tokens of a system prompt.
func roomOf(window, fixed int) int {
	if window <= 0 {
		return roomOfUnknown
	}
	prompts := text.EstimateTokens(SystemPrompt(Occasion{})) + text.EstimateTokens(UserPrompt(Occasion{}, time.Time{})) + llm.ToolTokens([]llm.Tool{Tool()})
	return min(max(window-fixed-prompts-answerRoom(window), minRoom), maxRoom)
}

// answerRoom returns how many tokens are left for the answers of the model.
func answerRoom(window int) int {
	if window <= 0 {
		return maxAnswer
	}
	return min(maxAnswer, window/answerParts)
}

// piece is a beginning of a message that a model was shown.
type piece struct {
	// Key of the message.
	Key string `json:"key"`
	// Bytes is the length of the beginning.
	Bytes int `json:"bytes"`
}

// end returns where the piece ends in the content of the message with a key; 0 if it is no beginning of it.
func (p *piece) end(key, content string) int {
	if p == nil || p.Key != key || p.Bytes < 0 || p.Bytes >= len(content) || !utf8.RuneStart(content[p.Bytes]) {
		return 0
	}
	return p.Bytes
}

// part collects what a model is shown of uncovered messages.
type part struct {
	count func(string) int
	room  int

	messages []llm.Message
	tokens   int
	// keys are those of the messages that are shown to their end, and through is the id of the last one.
	keys    []string
	through string
	// piece is the beginning that is shown of one more message; nil if there is none.
	piece *piece
	// place is the group in which all of it was said; empty if in private. origin says who has said it, beside the owner in private
	// if owner is set; nil if nobody else has.
	place  string
	origin *memory.Origin
	owner  bool
}

// fill adds uncovered messages until one does not fit. shown is the beginning of a message that was shown before.
func (p *part) fill(todo []Message, shown *piece) {
	for _, m := range todo {
		role, content := m.shown()
		from := shown.end(m.key(), content)
		if len(p.messages)+len(p.keys) > 0 && m.place() != p.place {
			return // who reads a range reads of one conversation
		}
		p.place = m.place()
		prefix := ""
		if from > 0 {
			prefix = m.label() + ellipsis
		}
		rest := prefix + content[from:]
		if rest != "" && p.tokens+p.sizeOf(rest) > p.room {
			if len(p.messages) > 0 {
				return
			}
			head := p.headThatFits(rest, prefix)
			if head != rest {
				p.add(role, head+ellipsis)
				p.heard(m)
				p.piece = &piece{Key: m.key(), Bytes: from + len(strings.TrimPrefix(head, prefix))}
				return
			}
		}
		if rest != "" {
			p.add(role, rest)
			p.heard(m)
		}
		p.keys, p.through = append(p.keys, m.key()), m.ID
	}
}

// heard notes who has said a message that is shown.
func (p *part) heard(m Message) {
	if m.Role == llm.RoleUser && m.label() == "" {
		p.owner = true
		return
	}
	if m.label() == "" && !m.Group {
		return // an answer in private
	}
	if p.origin == nil {
		p.origin = &memory.Origin{Channel: m.Channel}
	}
	if m.Role == llm.RoleUser {
		p.origin.Add(m.Origin().Authors[0])
	}
}

// originOf returns whose words are shown, nil if those of the owner in private.
func (p *part) originOf() *memory.Origin {
	switch {
	case p.origin == nil:
		return nil
	case p.owner:
		p.origin.Add(memory.Author{IsOwner: true})
	case len(p.origin.Authors) == 0:
		p.origin.Add(memory.Author{})
	}
	return p.origin
}

// add adds a text. Roles alternate in what is shown, because some models demand it.
func (p *part) add(role llm.Role, content string) {
	p.tokens += p.sizeOf(content)
	if last := len(p.messages) - 1; last >= 0 && p.messages[last].Role == role {
		p.messages[last].Text += "\n\n" + content
		return
	}
	p.messages = append(p.messages, llm.Message{Role: role, Text: content})
}

func (p *part) sizeOf(content string) int {
	return max(llm.MessageTokens(p.count, llm.Message{Text: content}), len(content)/tokenBytes)
}

// headThatFits returns the longest beginning of a text that fits, at least one character behind its prefix. It ends with a
// paragraph or a line if that costs no more than half of it.
func (p *part) headThatFits(content, prefix string) string {
	low, high := 0, len(content)
	for low < high {
		middle := (low + high + 1) / 2
		if p.sizeOf(text.HeadBytes(content, middle)+ellipsis) <= p.room {
			low = middle
		} else {
			high = middle - 1
		}
	}
	head := text.HeadBytes(content, low)
	for _, end := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(head, end); at > len(head)/2 && len(head) < len(content) {
			return head[:at+len(end)]
		}
	}
	start := strings.TrimPrefix(content, prefix)
	_, size := utf8.DecodeRuneInString(start)
	if least := len(content) - len(start) + size; len(head) < least {
		return content[:least]
	}
	return head
}
