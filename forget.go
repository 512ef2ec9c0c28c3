package kioku

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/internal/text"
	"kioku/memory"
	"kioku/note"
	"kioku/note/forgotten"
	"kioku/search/analysis"
)

const (
	// maxForgetHits is the number of passages in which Forget looks for what is to be forgotten, maxForgetPlaces how many places it offers,
	// and maxWeakPlaces how many of these are not certain.
	maxForgetHits, maxForgetPlaces, maxWeakPlaces = 10, 20, 8
)

// Forget finds the places that say something, forgets what some of them say, or takes that back; see memory.Forget and note.Folder.Forget.
// What was forgotten is shown by no search, excerpt and prompt any more, wherever it stands, and Append writes it for nobody but a person.
func (m *Memory) Forget(ctx context.Context, r memory.Forget) (done memory.Forgotten, err error) {
	switch {
	case r.Undo != "":
		done.ID = r.Undo
		err = m.writing(ctx, func() (bool, error) {
			return true, errors.Join(m.notes.UndoForget(ctx, r.Undo), m.derived.ReadAgain(ctx))
		})
		return done, err
	case len(r.Places) == 0 && strings.TrimSpace(r.Text) == "":
		return done, &memory.InputError{Field: "text", Problem: "must say what to forget, or places must name it"}
	case len(r.Places) == 0:
		return m.sayings(ctx, r.Text)
	}
	err = m.writing(ctx, func() (bool, error) {
		done, err = m.forget(ctx, r)
		return err == nil, err
	})
	return done, err
}

// sayings returns the sentences of the notes that say something, best first, what was derived from it, and where older versions are kept.
func (m *Memory) sayings(ctx context.Context, what string) (memory.Forgotten, error) {
	done := memory.Forgotten{Places: []memory.ForgottenPlace{}}
	found, err := m.Search(ctx, memory.Query{Text: what, MaxResults: maxForgetHits, Granularity: memory.GranularityPassage})
	if err != nil {
		return done, err
	}
	asked := analysis.ContentTerms(what)
	type scored struct {
		memory.ForgottenPlace
		score float64
	}
	var all []scored
	for _, h := range found.Hits {
		shown, err := m.indexer.Show(h.Path)
		if err != nil {
			continue // it went since
		}
		for _, s := range note.Sentences([]byte(shown)) {
			if s.Line < h.StartLine || s.Line > h.EndLine || m.notes.Forgotten().Says(s.Text) != "" {
				continue
			}
			p := m.placeOf(h.Path, s)
			has := 0
			words := analysis.ContentTerms(s.Text)
			for _, w := range asked {
				if slices.Contains(words, w) {
					has++
				}
			}
			if has == 0 && s.Heading {
				continue
			}
			p.Weak = h.Weak || has == 0 || has < len(asked)
			if !slices.ContainsFunc(all, func(other scored) bool { return other.Place == p.Place }) {
				all = append(all, scored{p, float64(has) + h.Score})
			}
		}
	}
	same, err := m.sayingSame(ctx, forgotten.Of([]string{what}), nil) // a search shows one of several that say the same
	if err != nil {
		return done, err
	}
	for _, p := range same {
		if i := slices.IndexFunc(all, func(other scored) bool { return other.Place == p.Place }); i < 0 && m.notes.Forgotten().Says(p.Text) == "" {
			all = append(all, scored{p, float64(len(asked)) + 1})
		} else if i >= 0 {
			all[i].Weak = false
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	if best := slices.IndexFunc(all, func(s scored) bool { return !s.Weak }); best >= 0 && len(same) == 0 {
		// Nothing says it as it was asked: several sentences with its words are several things, and which was meant is not certain.
		one := forgotten.Of([]string{all[best].Text})
		if slices.ContainsFunc(all, func(s scored) bool { return !s.Weak && one.Says(s.Text) == "" }) {
			for i := range all {
				all[i].Weak = true
			}
		}
	}
	var paths, said []string
	weak := 0
	for _, s := range all[:min(len(all), maxForgetPlaces)] {
		if s.Weak {
			if weak++; weak > maxWeakPlaces {
				continue
			}
		}
		done.Places = append(done.Places, s.ForgottenPlace)
		if !s.Weak && s.Kind == memory.PlaceNote {
			paths, said = append(paths, s.Path), append(said, s.Text)
		}
	}
	units, err := m.derived.SaidBy(ctx, said)
	for _, text := range units {
		done.Places = append(done.Places, memory.ForgottenPlace{Text: text, Kind: memory.PlaceDerived})
	}
	if err == nil && len(said) > 0 {
		done.Remaining, err = m.past.Kept(ctx, paths, said)
	}
	return done, err
}

// withoutForgotten returns hits without what people have had forgotten. One of which nothing is left that the query asks for is no hit.
func (m *Memory) withoutForgotten(hits []memory.Hit, query string) []memory.Hit {
	gone := m.notes.Forgotten()
	if gone.Empty() {
		return hits
	}
	asked := analysis.ContentTerms(query)
	kept := make([]memory.Hit, 0, len(hits))
	for _, h := range hits {
		h.Headings = string(gone.Mask([]byte(h.Headings)))
		before, after := h.Snippet, string(gone.Mask([]byte(h.Snippet)))
		if shown, err := m.indexer.Show(h.Path); err == nil && before == after { // a snippet may have a part of a sentence
			masked := string(gone.Mask([]byte(shown)))
			before, after = linesFrom(shown, h.SnippetStart, h.SnippetEnd), linesFrom(masked, h.SnippetStart, h.SnippetEnd)
		}
		if before == after {
			kept = append(kept, h)
			continue
		}
		left := analysis.ContentTerms(after)
		if slices.ContainsFunc(asked, func(w string) bool { return slices.Contains(left, w) }) {
			h.Snippet = text.Shorten(strings.TrimSpace(after), max(len(h.Snippet), 1))
			kept = append(kept, h)
		}
	}
	return kept
}

// linesFrom returns lines of a text, from 1, end inclusive.
func linesFrom(text string, first, last int) string {
	lines := strings.Split(text, "\n")
	first = min(max(first-1, 0), len(lines))
	return strings.Join(lines[first:max(first, min(last, len(lines)))], "\n")
}

// placeOf returns a sentence of a file as a place.
func (m *Memory) placeOf(path string, s note.Sentence) memory.ForgottenPlace {
	p := memory.ForgottenPlace{Place: fmt.Sprintf("%s#L%d:%s", path, s.Line, s.Fingerprint()), Path: path, Line: s.Line, Text: s.Text, Kind: memory.PlaceOther}
	if m.ownsNote(path) {
		p.Kind = memory.PlaceNote
	}
	return p
}

// resolve returns the sentence of a place. It returns a *memory.InputError for a place that is not, or no longer, there.
func (m *Memory) resolve(place string) (memory.ForgottenPlace, error) {
	bad := func(problem string) error {
		return &memory.InputError{Field: "places", Problem: fmt.Sprintf("%.120q %s", place, problem)}
	}
	path, rest, ok := strings.Cut(place, "#L")
	line, print, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 || memory.CheckPath(path) != nil {
		return memory.ForgottenPlace{}, bad("is no place; take those that a search for the text has returned")
	}
	shown, err := m.indexer.Show(path)
	if err != nil {
		return memory.ForgottenPlace{}, bad("is in no file that can be read")
	}
	var best *memory.ForgottenPlace
	for _, s := range note.Sentences([]byte(shown)) {
		if s.Fingerprint() != print {
			continue
		}
		if p := m.placeOf(path, s); best == nil || fmt.Sprint(s.Line) == line {
			best = &p
		}
	}
	if best == nil {
		return memory.ForgottenPlace{}, bad("was changed since it was found; search for the text again")
	}
	return *best, nil
}

// forget forgets places and what else says the same.
func (m *Memory) forget(ctx context.Context, r memory.Forget) (memory.Forgotten, error) {
	done := memory.Forgotten{Places: []memory.ForgottenPlace{}}
	order := note.Forget{ID: m.notes.NewID(), NewText: strings.TrimSpace(r.NewText), Reason: r.Reason, Source: r.Source}
	for _, place := range r.Places {
		p, err := m.resolve(place)
		if err != nil {
			return done, err
		}
		done.Places = append(done.Places, p)
		order.Said = append(order.Said, p.Text)
	}
	same := forgotten.Of(order.Said)
	if order.NewText != "" && same.Says(order.NewText) != "" {
		return done, &memory.InputError{Field: "new_text", Problem: "says the same in other words; write what is true"}
	}
	more, err := m.sayingSame(ctx, same, done.Places)
	if err != nil {
		return done, err
	}
	done.Places = append(done.Places, more...)
	for _, p := range done.Places {
		order.Said = append(order.Said, p.Text)
		if p.Kind == memory.PlaceNote && !slices.Contains(order.Paths, p.Path) {
			order.Paths = append(order.Paths, p.Path)
		}
	}
	slices.Sort(order.Said)
	order.Said = slices.Compact(order.Said)
	if order.NewText != "" && len(order.Paths) == 0 {
		return done, &memory.InputError{Field: "new_text", Problem: "has no place: none of the places is in a note; append a note instead"}
	}
	if done.Remaining, err = m.past.Forget(ctx, order.Paths, order.Said); err != nil {
		return done, err
	}
	if err := m.notes.Forget(ctx, order); err != nil {
		return done, err
	}
	if err := m.derived.ForgetSaid(ctx); err != nil {
		return done, err
	}
	done.ID, done.Until = order.ID, m.opt.Now().Add(note.ForgetUndo).UTC().Truncate(time.Second)
	return done, nil
}

// sayingSame returns the sentences of the index that say the same as some places, but for these.
func (m *Memory) sayingSame(ctx context.Context, same *forgotten.Set, places []memory.ForgottenPlace) (more []memory.ForgottenPlace, err error) {
	seen := map[string]bool{}
	for _, p := range places {
		seen[p.Path] = true
	}
	err = m.store.EachText(ctx, func(path, text string) {
		if id, _ := same.SaysAny(text); id != "" {
			seen[path] = true
		}
	})
	for path := range seen {
		shown, readErr := m.indexer.Show(path)
		if readErr != nil {
			if !errors.Is(readErr, memory.ErrNotFound) {
				err = errors.Join(err, readErr)
			}
			continue
		}
		for _, s := range note.Sentences([]byte(shown)) {
			p := m.placeOf(path, s)
			if same.Says(s.Text) != "" && !slices.ContainsFunc(places, func(other memory.ForgottenPlace) bool { return other.Place == p.Place }) {
				more = append(more, p)
			}
		}
	}
	slices.SortFunc(more, func(a, b memory.ForgottenPlace) int { return cmp.Or(cmp.Compare(a.Path, b.Path), a.Line-b.Line) })
	return more, err
}

// Tidy returns the entries of MEMORY.md and USER.md that say what others say, or the contrary. Those that are accepted, by their ids, are
// removed first. Nothing is ever changed that nobody has accepted.
func (m *Memory) Tidy(ctx context.Context, accept []string) (done memory.Tidied, err error) {
	if len(accept) > 0 {
		err = m.writing(ctx, func() (bool, error) {
			updates, err := m.notes.TidyUp(ctx, accept)
			for _, u := range updates {
				done.Revisions = append(done.Revisions, u.Revision)
			}
			return len(updates) > 0, err
		})
		if err != nil {
			return done, err
		}
	}
	done.Entries, err = inCall(m, func() ([]memory.Untidy, error) { return m.notes.Untidy(ctx) })
	return done, err
}
