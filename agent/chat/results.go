package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"kioku/agent/tools"
	"kioku/internal/text"
	"kioku/llm"
)

const (
	// A result has at most 1/resultParts of the window, and those of one answer together at most 1/answerParts.
	resultParts = 4
	answerParts = 2
	// resultChars are the most characters of a result if the window is not known.
	resultChars = 50_000
	// mostCharsPerToken is how many characters a token has at most in what is counted, so that counting costs no more than
	// what fits.
	mostCharsPerToken = 8
)

// resultMessage tells the model what came of one of several calls. An output that is one JSON string is shown as its text, and
// one that is too long as its beginning and its end.
func (t *turn) resultMessage(r Result, calls int) llm.Message {
	m := llm.Message{Role: llm.RoleTool, ToolCallID: r.Call.ID, ToolName: r.Call.Name, Text: string(r.Output)}
	var text string
	switch {
	case r.Err != nil:
		m.Text, m.Failed = r.Err.Error(), true
	case json.Unmarshal(r.Output, &text) == nil:
		m.Text = text
	}
	m.Text = t.shorten(m.ToolName, m.Text, calls)
	return m
}

// shorten returns what is kept of the result of a tool.
func (t *turn) shorten(tool, text string, calls int) string {
	window := t.window()
	if window <= 0 {
		return cutResult(tool, text, min(resultChars, resultParts*resultChars/answerParts/calls))
	}
	limit := min(window/resultParts, window/answerParts/calls)
	for chars := mostCharsPerToken * limit; ; {
		cut := cutResult(tool, text, chars)
		n := t.opt.Sidecar.Count(cut)
		if n <= limit || chars == 0 {
			return cut
		}
		chars = min(chars-1, utf8.RuneCountInString(cut)) * limit / n
	}
}

// cutResult returns a result if it has at most so many characters, and otherwise its beginning and its end, or if
// there is no room for these no more than how long it is.
func cutResult(tool, output string, chars int) string {
	if utf8.RuneCountInString(output) <= chars {
		return output
	}
	more := "[Ask " + tool + " for less to see what is left out.]"
	if slices.Contains([]string{tools.Search, tools.Get}, tool) {
		more = "[memory_get with from and lines shows what is left out.]"
	}
	if cut := text.CutMiddle("this result", output, chars-len(more)-1); cut != "" {
		return cut + "\n" + more
	}
	return fmt.Sprintf("[This result of %d characters does not fit.] %s", utf8.RuneCountInString(output), more)
}
