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

// listPrefix matches what is before the text of an item of a list, a quotation or a heading.
var listPrefix = regexp.MustCompile(`^[ \t>]*(?:[-*+][ \t]+|\d+[.)][ \t]+|#+[ \t]+)?(?:\[[ xX]\][ \t]+)?`)

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
	if err == nil {
		err = f.mayHold(ctx, newText, r.Source)
	}
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
	gone := forgotten.Of(said)
	all := forgotten.Sentences(src)
	is := func(i int) bool { return gone.Says(all[i].Text) != "" }
	near := func(i, j int) bool { return j >= 0 && j < len(all) && all[i].Block == all[j].Block }
	firstGone := slices.IndexFunc(all, func(s forgotten.Sentence) bool { return gone.Says(s.Text) != "" })
	out = src
	for last := len(all) - 1; last >= 0; last-- {
		if !is(last) {
			continue
		}
		first := last
		for near(last, first-1) && is(first-1) {
			first--
		}
		from, to := all[first].From, all[last].To
		switch {
		case newText != "" && first <= firstGone:
			c := patch{from, to, newText}
			if source != "" {
				c = markedChange(out, c, source)
			}
			out, replaced = c.apply(out), true
		case near(last, last+1): // the next sentence takes its place
			out = patch{from, all[last+1].From, ""}.apply(out)
		case near(first, first-1):
			out = patch{all[first-1].To, to, ""}.apply(out)
		default:
			out = removal(out, from, to).apply(out)
		}
		last = first
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
				if err != nil && saysAll(src, c.Before) { // somebody has written it again
					err = errNothingUndone
				}
				return p, change{Undoes: []string{c.ID}}, err
			})
			if !errors.Is(err, errNothingUndone) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// saysAll reports whether a text has all sentences of another one.
func saysAll(src []byte, other string) bool {
	said := map[string]bool{}
	for _, s := range forgotten.Sentences(src) {
		said[s.Fingerprint()] = true
	}
	return !slices.ContainsFunc(forgotten.Sentences([]byte(other)), func(s forgotten.Sentence) bool { return !said[s.Fingerprint()] })
}

// PastForgotten returns what was forgotten and not taken back, the latest first.
func (f *Folder) PastForgotten() (past []memory.PastForgotten, err error) {
	all, undone, err := f.made()
	if err != nil {
		return nil, err
	}
	for _, t := range slices.Backward(f.Forgotten().Stones) {
		if t.Lifted || len(t.Said) == 0 {
			continue
		}
		p := memory.PastForgotten{ID: t.ID, Time: t.Time, Sentences: len(t.Said)}
		if until := t.Time.Add(ForgetUndo); until.After(f.opt.Now()) {
			p.Until = until
		}
		for _, c := range all {
			if c.Forgets == t.ID && !undone[c.ID] {
				p.Paths, p.Reason = append(p.Paths, c.Path), c.Reason
			}
		}
		past = append(past, p)
	}
	return past, nil
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
