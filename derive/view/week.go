package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	// maxChars is the maximum number of characters of a summary.
	maxChars = 600
	// maxEvents is the maximum number of episodes that are quoted, and maxOfDay how many of one day come before those of other days.
	maxEvents, maxOfDay = 5, 2
	// maxWhy is the maximum number of characters of the sentence of an event.
	maxWhy = 200
)

// SumUp returns a summary of episodes by rule, in no other words than those of the notes: its Text, of at most 600 characters, quotes one sentence of each of at most five episodes
// in the order of time, and its Events are these episodes. The most salient ones are chosen, then the newest, and from different days
// if there are several. It returns false if there is no sentence to quote. Scope, Key and days are left to the caller. The order of
// the episodes does not matter. With the name of a person or topic it quotes of each episode a sentence with the name, if there is one.
func SumUp(name string, episodes []unit.EpisodeText) (memory.Summary, bool) {
	var all []event
	for _, e := range episodes {
		if s, ok := quote(vocab.Norm(name), e.Lines); ok {
			all = append(all, event{e.Episode, s})
		}
	}
	slices.SortFunc(all, func(a, b event) int {
		return cmp.Or(cmp.Compare(b.Salience, a.Salience), b.OccurredAt.Compare(a.OccurredAt), cmp.Compare(a.UID, b.UID))
	})
	chosen := chooseEvents(all)
	if len(chosen) == 0 {
		return memory.Summary{}, false
	}
	slices.SortFunc(chosen, func(a, b event) int { return cmp.Or(a.OccurredAt.Compare(b.OccurredAt), cmp.Compare(a.UID, b.UID)) })
	return summaryOf(chosen), true
}

// event is an episode and what is quoted of it.
type event struct {
	memory.Episode
	sentence
}

// chooseEvents returns the first events that say different things, not more than maxOfDay of one day as long as there are others.
func chooseEvents(all []event) []event {
	var chosen, later []event
	said, days := map[string]bool{}, map[string]int{}
	for _, e := range all {
		if n := vocab.Norm(e.text); said[n] {
			continue
		} else {
			said[n] = true
		}
		if days[e.Date]++; days[e.Date] > maxOfDay {
			later = append(later, e)
			continue
		}
		chosen = append(chosen, e)
	}
	chosen = append(chosen, later...)
	return chosen[:min(len(chosen), maxEvents)]
}

// summaryOf returns the summary of the events.
func summaryOf(events []event) memory.Summary {
	var s memory.Summary
	room := maxChars / len(events)
	var lines []string
	for _, e := range events {
		begin, end := "", ""
		if e.Date != "" {
			begin = e.Date + " "
		}
		if !vocab.ByOwner(e.speaker) {
			end = fmt.Sprintf(" (%s)", text.Shorten(text.OneLine(e.speaker), 20))
		}
		frame := utf8.RuneCountInString(begin+end) + len("“”\n") - 4 // the quotation marks have 3 bytes each
		lines = append(lines, begin+"“"+text.Shorten(e.text, room-frame)+"”"+end)
		s.Events = append(s.Events, memory.KeyEvent{EpisodeUID: e.UID, Why: text.Shorten(e.text, maxWhy)})
	}
	s.Text = strings.Join(lines, "\n")
	return s
}
