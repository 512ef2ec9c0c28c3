package repl

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"kioku/agent/flush"
	"kioku/cmd/kioku/internal/render"
)

// view shows a chat: answers on standard output, events in dim lines on standard error. Its methods may be called
// concurrently.
type view struct {
	out, notes io.Writer
	// dim is true if notes are shown dim.
	dim bool

	mu sync.Mutex
	// open is true if the last line of out has no line end yet.
	open   bool
	answer answer
	clean  render.Stream
}

func newView(o *render.Output) *view {
	return &view{out: o.Stdout, notes: o.Stderr, dim: o.Colors(o.Stderr)}
}

// say shows the next part of an answer.
func (v *view) say(piece string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.write(v.clean.Add(v.answer.write(piece)))
}

// done ends an answer.
func (v *view) done() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endAnswer()
}

// note shows a dim line.
func (v *view) note(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endAnswer()
	text := "· " + render.CleanLine(fmt.Sprintf(format, args...))
	if v.dim {
		text = render.Dim(text).On(true)
	}
	fmt.Fprintln(v.notes, text)
}

// endAnswer shows what was held back of an answer and ends its line. The caller holds mu.
func (v *view) endAnswer() {
	v.write(v.clean.Add(v.answer.finishText()) + v.clean.End())
	if v.open {
		v.write("\n")
	}
}

func (v *view) write(text string) {
	if text == "" {
		return
	}
	fmt.Fprint(v.out, text)
	v.open = !strings.HasSuffix(text, "\n")
}

// answer holds back the part of an answer that may become flush.NoReply, by which a model says that it has nothing for the
// user.
type answer struct{ text, held string }

// write takes the next piece and returns what may be shown now.
func (a *answer) write(piece string) string {
	a.text += piece
	text := a.held + piece
	a.held = ""
	switch begin := strings.TrimSpace(a.text); {
	case strings.HasPrefix(flush.NoReply, begin), strings.HasPrefix(begin, flush.NoReply) && flush.Silent(a.text):
		a.held = text
		return ""
	}
	n := wordBegun(text)
	a.held = text[n:]
	return text[:n]
}

// finishText returns what was held back if it is for the user after all.
func (a *answer) finishText() string {
	held := a.held
	if flush.Silent(a.text) {
		held = ""
	}
	*a = answer{}
	return held
}

// wordBegun returns where a beginning of NoReply, followed by white space, starts at the end of a text. If there is none, it
// returns the length of the text.
func wordBegun(text string) int {
	trimmed := strings.TrimRight(text, " \t\r\n")
	for n := min(len(flush.NoReply), len(trimmed)); n > 0; n-- {
		if strings.HasSuffix(trimmed, flush.NoReply[:n]) && (n == len(flush.NoReply) || trimmed == text) {
			return len(trimmed) - n
		}
	}
	return len(text)
}
