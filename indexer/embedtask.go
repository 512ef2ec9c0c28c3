package indexer

import (
	"iter"
	"strings"

	"kioku/chunker"
	"kioku/embed"
)

// wholeText is the window number of the part that is the whole text.
const wholeText = -1

// embedTask is a text that is being embedded: as a whole, and in the windows of its body.
type embedTask struct {
	Text
	lines   []chunker.Window
	windows []embed.Embedding // the outcomes for lines
	left    int               // parts without an outcome

	err       error // why the provider refused the whole text; nil if it did not
	shortened bool  // the vector is of the beginning of the text
}

// taskPart is a part of a task: a window by its number, or wholeText.
type taskPart struct {
	task   *embedTask
	window int
}

// newEmbedTask returns the task of a text.
func newEmbedTask(text Text) *embedTask {
	t := &embedTask{Text: text, lines: chunker.Windows(text.Body)}
	t.windows = make([]embed.Embedding, len(t.lines))
	return t
}

// parts returns what is to be embedded: the whole text unless its vector is known, and the windows unless the only one is the
// whole text.
func (t *embedTask) parts() []taskPart {
	var parts []taskPart
	if t.Vector == nil {
		parts = append(parts, taskPart{t, wholeText})
	}
	if t.isWindow() {
		t.windows[0].Vector = t.Vector
	} else {
		for i := range t.lines {
			parts = append(parts, taskPart{t, i})
		}
	}
	t.left = len(parts)
	return parts
}

// isWindow reports whether the only window of the text is the whole text.
func (t *embedTask) isWindow() bool {
	return len(t.lines) == 1 && t.lines[0].Text == strings.TrimSpace(t.Text.Text)
}

// text returns the text of a part, without white space at its ends.
func (p taskPart) text() string {
	if p.window == wholeText {
		return strings.TrimSpace(p.task.Text.Text)
	}
	w := p.task.lines[p.window]
	if w.Above == "" {
		return w.Text
	}
	return w.Above + "\n" + w.Text
}

// add takes the outcome for a part, and reports whether it was the last.
func (t *embedTask) add(window int, e embed.Embedding) (complete bool) {
	switch {
	case window != wholeText:
		t.windows[window] = e
	case e.Err != nil:
		t.err = e.Err
	default:
		t.Vector, t.shortened = e.Vector, e.Bytes > 0
		if t.isWindow() {
			t.windows[0] = e
		}
	}
	t.left--
	return t.left == 0
}

// truncated reports whether a part of the text of a complete task is in none of its vectors. A text that is too long for the
// model is whole in its windows, unless one is too long itself or was refused.
func (t *embedTask) truncated() bool {
	isCovered := len(t.windows) > 0
	for _, w := range t.windows {
		if w.Bytes > 0 {
			return true
		}
		isCovered = isCovered && w.Vector != nil
	}
	return t.shortened && !isCovered
}

// vectors returns the vectors of a complete task. A window that the provider refused has none.
func (t *embedTask) vectors() Vectors {
	v := Vectors{Vector: t.Vector, Windows: []embed.Window{}}
	for i, w := range t.windows {
		if w.Vector != nil {
			v.Windows = append(v.Windows, embed.QuantizeWindow(t.lines[i].From, t.lines[i].To, w.Vector))
		}
	}
	return v
}

// TextsToEmbed yields what a provider is asked for a text of the backlog: the whole text unless its vector is known, and its
// windows. Equal ones are asked for once.
func TextsToEmbed(t Text) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, part := range newEmbedTask(t).parts() {
			if !yield(part.text()) {
				return
			}
		}
	}
}
