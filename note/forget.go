package note

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"kioku/internal/text"
	"kioku/memory"
	"kioku/note/forgotten"
)

// ForgetUndo is how long what was forgotten can be taken back. Then its text is removed from the change log.
const ForgetUndo = 30 * 24 * time.Hour

// Sentence is a sentence of a text, without the mark of a list before it and the marker behind it.
type Sentence struct {
	Line     int    // from 1
	From, To int    // offsets
	Text     string // without white space around it
	Heading  bool   // it is one, or in one
}

// listPrefix matches what is before the text of an item of a list, a quotation or a heading.
var listPrefix = regexp.MustCompile(`^[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+|#+[ \t]+)?(?:\[[ xX]\][ \t]+)?`)

// Sentences returns the sentences of a text in order, but not those of fences.
func Sentences(src []byte) (all []Sentence) {
	at := 0
	for n, line := range linesOf(src) {
		from := at
		at = endOfLine(src, at)
		if line.Fence != "" {
			continue
		}
		raw := strings.TrimRight(string(src[from:at]), "\r\n")
		if m := markerPattern.FindStringIndex(raw); m != nil {
			raw = raw[:m[0]]
		}
		from += len(listPrefix.FindString(raw))
		for _, s := range text.Sentences(raw[len(listPrefix.FindString(raw)):], len(raw)+1) {
			if text := strings.TrimSpace(s); text != "" {
				start := from + strings.Index(s, text)
				all = append(all, Sentence{Line: n + 1, From: start, To: start + len(text), Text: text, Heading: line.Level > 0})
			}
			from += len(s)
		}
	}
	return all
}

// Fingerprint names a sentence.
func (s Sentence) Fingerprint() string { return fingerprint(s.Text)[:8] }

// Forget is what is to be forgotten in a folder.
type Forget struct {
	ID string // see NewID
	// Said are the sentences, and Paths the files of the folder that have some of them.
	Said, Paths []string
	// NewText takes the place of the first of them in the first of the files; empty for none.
	NewText        string
	Reason, Source string
}

// Forget removes sentences from files of the folder, those of days too, and keeps them from coming back: no search, prompt or derivation has
// them any more, and no model stores them again. UndoForget takes it back. After an error, what was forgotten before it stays so, and the
// same call goes on.
func (f *Folder) Forget(ctx context.Context, r Forget) error {
	newText, reason, err := checkNewText(r.NewText, r.Reason)
	if err := errors.Join(err, checkSource(r.Source)); err != nil {
		return err
	}
	secrets := redaction{}
	newText, reason = secrets.redact(text.OneLine(newText), strings.Join(r.Said, "\n")), secrets.redactAll(reason)
	if err := f.bury(ctx, r.ID, r.Said); err != nil {
		return fmt.Errorf("forget: %w", err)
	}
	for _, name := range r.Paths {
		_, err := f.edit(ctx, name, func(src []byte) (patch, change, error) {
			out, replaced := forgetIn(src, r.Said, newText, r.Source)
			if string(out) == string(src) {
				return patch{}, change{}, errNothingUndone
			}
			if replaced {
				newText = ""
			}
			return narrow(patch{0, len(src), string(out)}, src), change{Reason: reason, Source: r.Source, Forgets: r.ID}, nil
		})
		if err != nil && !errors.Is(err, errNothingUndone) {
			return err
		}
	}
	if newText != "" {
		return &memory.InputError{Field: "new_text", Problem: "was written nowhere, since the notes were changed meanwhile; append it as a note"}
	}
	return nil
}

// forgetIn returns a text without some sentences. newText takes the place of the first of them, with its source in the marker of the note
// that it changes; see markedChange.
func forgetIn(src []byte, said []string, newText, source string) (out []byte, replaced bool) {
	out = src
	all := Sentences(src)
	for i, s := range slices.Backward(all) {
		if !slices.Contains(said, s.Text) {
			continue
		}
		first := newText != "" && !slices.ContainsFunc(all[:i], func(other Sentence) bool { return slices.Contains(said, other.Text) })
		if first {
			c := patch{s.From, s.To, newText}
			if source != "" {
				c = markedChange(out, c, source)
			}
			out, replaced = c.apply(out), true
			continue
		}
		from, to := s.From, s.To
		for to < len(out) && out[to] == ' ' {
			to++
		}
		out = removal(out, from, to).apply(out)
	}
	return withoutEmptySections(out), replaced
}

// noteHeading is the heading of a note of a day.
var noteHeading = regexp.MustCompile(`^## \d\d:\d\d - `)

// withoutEmptySections removes the headings of notes of a day of which nothing is left.
func withoutEmptySections(src []byte) []byte {
	lines := linesOf(src)
	for n, line := range slices.Backward(lines) {
		if !noteHeading.MatchString(line.Text) {
			continue
		}
		end := n + 1
		for end < len(lines) && strings.TrimSpace(lines[end].Text) == "" {
			end++
		}
		if end == len(lines) || lines[end].Level > 0 {
			src = withoutLines(src, n, end).apply(src)
		}
	}
	return src
}

// UndoForget brings back what was forgotten: the sentences stand where they stood, unless these lines were changed since, and are found
// again.
func (f *Folder) UndoForget(ctx context.Context, id string) error {
	stones := f.Forgotten().Stones
	at := slices.IndexFunc(stones, func(t forgotten.Stone) bool { return t.ID == id })
	bad := func(problem string) error { return &memory.InputError{Field: "undo", Problem: problem} }
	switch {
	case at < 0:
		return bad(fmt.Sprintf("nothing was forgotten as %.80q", id))
	case stones[at].Lifted:
		return bad(fmt.Sprintf("%s was taken back already", id))
	case f.opt.Now().Sub(stones[at].Time) > ForgetUndo:
		return bad(fmt.Sprintf("%s was forgotten more than %d days ago, and its text is kept nowhere", id, int(ForgetUndo.Hours()/24)))
	}
	all, undone, err := f.made()
	if err != nil {
		return err
	}
	if err := f.addTombstone(ctx, forgotten.Stone{ID: id, Time: f.opt.Now().UTC(), Lifted: true}); err != nil {
		return err
	}
	var errs []error
	for _, c := range slices.Backward(all) {
		if c.Forgets == id && !undone[c.ID] {
			_, err := f.edit(ctx, c.Path, func(src []byte) (patch, change, error) {
				p, err := c.inverse(src)
				return p, change{Undoes: []string{c.ID}}, err
			})
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// DropForgotten removes the texts of what was forgotten so long ago that it cannot be taken back.
func (f *Folder) DropForgotten(ctx context.Context) error {
	long := map[string]bool{}
	for _, t := range f.Forgotten().Stones {
		long[t.ID] = f.opt.Now().Sub(t.Time) > ForgetUndo
	}
	if len(long) == 0 {
		return nil
	}
	_, err := f.changes.purge(ctx, func(c change) bool { return c.Forgets != "" && long[c.Forgets] })
	return err
}
