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
	case r.List:
		done.Places = []memory.ForgottenPlace{}
		done.Past, err = inCall(m, m.notes.PastForgotten)
		return done, err
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

// sayings returns the sentences of the notes that say something, best first, what was derived from it, and where older versions are kept. A
// sentence is certain if it is what is asked for, in the same words; if none is, those with all that is asked for and little else are, unless they
// say several things.
func (m *Memory) sayings(ctx context.Context, what string) (memory.Forgotten, error) {
	done := memory.Forgotten{Places: []memory.ForgottenPlace{}}
	if err := m.enterToWrite(); err != nil {
		return done, err
	}
	caughtUp := m.catchUp(ctx) // what was written a moment ago is meant too
	m.leave()
	select {
	case <-caughtUp:
	case <-ctx.Done():
		return done, ctx.Err()
	}
	found, err := m.Search(ctx, memory.Query{Text: what, MaxResults: maxForgetHits, Granularity: memory.GranularityPassage})
	if err != nil {
		return done, err
	}
	all, err := m.sayingSame(ctx, forgotten.Of([]string{what}), nil) // a search shows one of several that say the same
	if err != nil {
		return done, err
	}
	all = slices.DeleteFunc(all, func(p memory.ForgottenPlace) bool { return m.notes.Forgotten().Says(p.Text) != "" })
	literal := len(all) > 0
	asked := analysis.ContentTerms(what)
	score := map[string]float64{}
	for _, p := range all {
		score[p.Place] = float64(len(asked)) + 2
	}
	for _, h := range found.Hits {
		shown, err := m.indexer.Show(h.Path)
		if err != nil {
			continue // it went since
		}
		for _, s := range forgotten.Sentences([]byte(shown)) {
			if s.Line < h.StartLine || s.Line > h.EndLine || m.notes.Forgotten().Says(s.Text) != "" {
				continue
			}
			p, words, has := m.placeOf(h.Path, s), analysis.ContentTerms(s.Text), 0
			for _, w := range asked {
				if slices.Contains(words, w) {
					has++
				}
			}
			if _, known := score[p.Place]; known || has == 0 && (s.Heading || h.Weak || len(words) == 0) {
				continue
			}
			p.Weak = literal || h.Weak || has < max(1, len(asked)) || len(words) > 3*len(asked)
			score[p.Place] = float64(has) + h.Score
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b memory.ForgottenPlace) int { return cmp.Compare(score[b.Place], score[a.Place]) })
	if i := slices.IndexFunc(all, isCertain); i >= 0 && !literal {
		one := forgotten.Of([]string{all[i].Text})
		if slices.ContainsFunc(all, func(p memory.ForgottenPlace) bool { return isCertain(p) && one.Restated(p.Text) == "" }) {
			for i := range all {
				all[i].Weak = true
			}
		}
	}
	var paths, said []string
	weak := 0
	for _, p := range all[:min(len(all), maxForgetPlaces)] {
		if !isCertain(p) {
			if weak++; weak > maxWeakPlaces {
				continue
			}
		} else if p.Kind == memory.PlaceNote {
			paths, said = append(paths, p.Path), append(said, p.Text)
		}
		done.Places = append(done.Places, p)
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

// isCertain reports whether a place surely says what is asked for.
func isCertain(p memory.ForgottenPlace) bool { return !p.Weak }

// withoutForgotten returns hits without what people have had forgotten. One of which nothing is left that the query asks for is no hit.
func (m *Memory) withoutForgotten(hits []memory.Hit, query string) []memory.Hit {
	gone := m.notes.Forgotten()
	if gone.Empty() {
		return hits
	}
	asked := analysis.ContentTerms(query)
	kept := make([]memory.Hit, 0, len(hits))
	for _, h := range hits {
		h.Headings = m.unsaid(h.Headings)
		before, after := h.Snippet, string(gone.Mask([]byte(h.Snippet)))
		if shown, err := m.indexer.Show(h.Path); err == nil { // a snippet may have a part of a sentence
			masked := string(gone.Mask([]byte(shown)))
			if all, kept := linesFrom(shown, h.SnippetStart, h.SnippetEnd), linesFrom(masked, h.SnippetStart, h.SnippetEnd); all != kept {
				before, after = all, kept
			}
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

// unsaid returns a title or the path of headings without what people have had forgotten.
func (m *Memory) unsaid(title string) string {
	gone := m.notes.Forgotten()
	if gone.Empty() {
		return title
	}
	parts := strings.Split(title, " > ")
	for i, part := range parts {
		parts[i] = string(gone.Mask([]byte(part)))
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " > ")
}

// hide has n titles, headings or texts of links without what people have had forgotten.
func (m *Memory) hide(n int, at func(i int) *string) {
	if m.notes.Forgotten().Empty() {
		return
	}
	known := map[string]string{}
	for i := range n {
		title := at(i)
		if _, ok := known[*title]; !ok {
			known[*title] = m.unsaid(*title)
		}
		*title = known[*title]
	}
}

// hideLinks is hide for links.
func (m *Memory) hideLinks(l *memory.Links) {
	m.hide(len(l.Out), func(i int) *string { return &l.Out[i].Text })
	m.hide(len(l.In), func(i int) *string { return &l.In[i].Text })
}

// unsaidDiff returns the lines of a difference without what people have had forgotten.
func (m *Memory) unsaidDiff(diff string) string {
	gone := m.notes.Forgotten()
	if gone.Empty() {
		return diff
	}
	lines := strings.Split(diff, "\n")
	texts := make([]string, len(lines))
	for i, line := range lines {
		texts[i] = line[min(1, len(line)):]
	}
	for i, masked := range strings.Split(string(gone.Mask([]byte(strings.Join(texts, "\n")))), "\n") {
		lines[i] = lines[i][:min(1, len(lines[i]))] + masked
	}
	return strings.Join(lines, "\n")
}

// linesFrom returns lines of a text, from 1, end inclusive.
func linesFrom(text string, first, last int) string {
	lines := strings.Split(text, "\n")
	first = min(max(first-1, 0), len(lines))
	return strings.Join(lines[first:max(first, min(last, len(lines)))], "\n")
}

// placeOf returns a sentence of a file as a place.
func (m *Memory) placeOf(path string, s forgotten.Sentence) memory.ForgottenPlace {
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
	for _, s := range forgotten.Sentences([]byte(shown)) {
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
		return done, &memory.InputError{Field: "new_text", Problem: "says the same; write what is true"}
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
		for _, s := range forgotten.Sentences([]byte(shown)) {
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
