package compact

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"kioku/agent/session"
	"kioku/internal/text"
	"kioku/llm"
)

const (
	// resultHead and resultTail are the numbers of characters at the ends of a long result or input that the model is shown.
	resultHead = 3000
	resultTail = 1000
)

// block is a message, or a part of a long one, as the model reads it.
type block struct {
	text string
	// weight of an identifier in it. What people say counts more than what tools print.
	weight int
}

// render returns messages as blocks of at most most tokens each. A block begins with its speaker. The other lines are indented,
// so that no text can pass for another speaker or for the end of the conversation.
func render(v session.View, until, most int, count func(string) int) []block {
	var out []block
	for i, m := range v.Named()[:until] {
		speaker, weight := speakerOf(m)
		if i == 0 && v.Compactions > 0 {
			speaker, weight = "summary of what came before", 3
		}
		for _, part := range split(body(m), most, count) {
			out = append(out, block{text: "[" + speaker + "]\n" + indent(part) + "\n", weight: weight})
		}
	}
	return out
}

func speakerOf(m llm.Message) (name string, weight int) {
	switch {
	case m.Role == llm.RoleUser:
		return "user", 4
	case m.Role == llm.RoleAssistant:
		return "assistant", 3
	case m.Failed:
		return "error of the tool " + text.OneLine(m.ToolName), 1
	}
	return "result of the tool " + text.OneLine(m.ToolName), 1
}

// body returns the text, the images and the calls of a message.
func body(m llm.Message) string {
	said := m.Text
	if m.Role == llm.RoleTool {
		said = clip(said)
	}
	var parts []string
	if said != "" {
		parts = append(parts, said)
	}
	if n := len(m.Images); n > 0 {
		parts = append(parts, fmt.Sprintf("(images: %d)", n))
	}
	for _, c := range m.ToolCalls {
		parts = append(parts, fmt.Sprintf("(calls the tool %s with %s)", text.OneLine(c.Name), clip(string(c.Input))))
	}
	return strings.Join(parts, "\n")
}

// clip cuts the middle out of a long text.
func clip(s string) string {
	left := utf8.RuneCountInString(s) - resultHead - resultTail
	if left <= 0 {
		return s
	}
	return fmt.Sprintf("%s\n(%d characters left out)\n%s", text.Head(s, resultHead), left, text.Tail(s, resultTail))
}

// indent indents each line by two columns.
func indent(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}

// split halves a text until no part has more than most tokens, if possible at the end of a line.
func split(text string, most int, count func(string) int) []string {
	if utf8.RuneCountInString(text) < 2 || count(text) <= most {
		return []string{text}
	}
	at := len(text) / 2
	if i := strings.LastIndexByte(text[:at], '\n'); i > len(text)/4 {
		at = i + 1
	}
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	if at == 0 {
		_, at = utf8.DecodeRuneInString(text)
	}
	return append(split(text[:at], most, count), split(text[at:], most, count)...)
}

// pack joins texts in order into groups of at most most tokens each. A longer text is a group of its own.
func pack(texts []string, most int, count func(string) int) [][]string {
	var out [][]string
	size := 0
	for _, text := range texts {
		n := count(text)
		if len(out) == 0 || size+n > most {
			out, size = append(out, nil), 0
		}
		out[len(out)-1] = append(out[len(out)-1], text)
		size += n
	}
	return out
}
