package recall

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kioku/derive/vocab"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/search/analysis"
	"kioku/search/dates"
)

const (
	// maxUnits is the maximum number of units of an answer, and maxOfName that of units about one name.
	maxUnits, maxOfName = 30, 40
	// Scores of a unit: what its words give, and what it gives that the message or only its background names what it is about.
	shareWords, shareNamed, shareBackground = 0.65, 0.35, 0.15
	// shareAsked is the score of what the message asks for without naming it: open loops, the summary of a week.
	shareAsked = 0.5
	// leastCoverage is the share of the words of a message that a unit has that the message does not name.
	leastCoverage = 0.5
	// certain is the score from which on a unit shows that the message is about something known.
	certain = 0.3
)

// foundUnits are the units of an answer.
type foundUnits struct {
	units    []memory.FoundUnit
	withheld int
}

var (
	// asksForLoops matches messages that ask what is still to be done.
	asksForLoops = regexp.MustCompile(`(?i)\b(?:to-?dos?|open (?:items?|tasks?|loops?|points?|questions?|things)|(?:still|left|remains?) (?:open|to (?:be )?do(?:ne)?)|pending|outstanding|unfinished|what(?:'s| is| remains) open)\b` +
		`|未完了|やること|やり残|残って|残りの(?:タスク|作業)|宿題|未対応|待办|待辦|未完成|没做完|沒做完|还要做|還要做|还没(?:做|办|处理)`)
	// asksOfUser matches messages of the owner about themselves.
	asksOfUser = regexp.MustCompile(`(?i)\b(?:i|me|my|mine|i'm|i've)\b|私|僕|俺|自分|我`)
)

// startUnits looks up the names of the message and its background, and finds the units that the query asks for, in the background.
func (s *state) startUnits(ctx context.Context) {
	wantsUnits := s.wants(memory.KindFact) || s.wants(memory.KindLoop) || s.wants(memory.KindSummary)
	if !wantsUnits && !(s.merges() && s.inContext) {
		return
	}
	s.names = sync.OnceValue(func() result[[]name] {
		return await(ctx, background(func() ([]name, error) { return findNames(ctx, s.Recaller.units, s.query.Text, s.background, s.ceiling) }))
	})
	if wantsUnits {
		s.units = background(func() (foundUnits, error) {
			names := s.names()
			if names.err != nil {
				return foundUnits{}, names.err
			}
			return s.findUnits(ctx, names.value)
		})
	}
}

// unitSearch collects the units of one search.
type unitSearch struct {
	*state
	// terms are the content terms of the message, with the names of its background if it is read in context, and thirds what they are in the third person, as facts are phrased: live and lives.
	terms, thirds []string
	found         map[string]memory.FoundUnit
	out           foundUnits
}

// findUnits returns the units that are about the names, share the words of the message, or are what the message asks for.
func (s *state) findUnits(ctx context.Context, names []name) (foundUnits, error) {
	u := &unitSearch{state: s, found: map[string]memory.FoundUnit{}}
	u.terms = analysis.ContentTerms(cmp.Or(u.namedMessage(names), s.query.Text))
	for _, term := range u.terms {
		u.thirds = append(u.thirds, thirdPerson(term))
	}
	for _, n := range names {
		if err := u.addOf(ctx, n.uid, n.surface, n.inMessage); err != nil {
			return foundUnits{}, err
		}
	}
	if asksOfUser.MatchString(s.query.Text) {
		if err := u.addOf(ctx, vocab.EntityUID(vocab.User()), memory.UserName, false); err != nil {
			return foundUnits{}, err
		}
	}
	if err := u.addMatching(ctx); err != nil {
		return foundUnits{}, err
	}
	if err := u.addAskedFor(ctx); err != nil {
		return foundUnits{}, err
	}
	for _, f := range u.found {
		u.out.units = append(u.out.units, f)
	}
	now := s.query.Now
	slices.SortFunc(u.out.units, func(a, b memory.FoundUnit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Worth(now), a.Worth(now)), cmp.Compare(a.UID, b.UID))
	})
	u.out.units = u.out.units[:min(len(u.out.units), maxUnits)]
	return u.out, nil
}

// unitQuery returns the query for units of the kinds that are asked for, or of those among them that are given.
func (s *state) unitQuery(kinds ...string) memory.UnitQuery {
	q := memory.UnitQuery{Filter: s.query.Filter, AsOf: s.query.AsOf, IncludeSuperseded: s.query.IncludeSuperseded, MaxSensitivity: s.ceiling, Limit: maxOfName}
	for _, kind := range []string{memory.KindFact, memory.KindLoop, memory.KindSummary} {
		if s.wants(kind) && (len(kinds) == 0 || slices.Contains(kinds, kind)) {
			q.Kinds = append(q.Kinds, kind)
		}
	}
	return q
}

// addOf adds the units about an entity.
func (u *unitSearch) addOf(ctx context.Context, uid, surface string, inMessage bool) error {
	q := u.unitQuery()
	q.Entity = uid
	list, err := u.Recaller.units.Units(ctx, q)
	if err != nil {
		return fmt.Errorf("units about %s: %w", surface, err)
	}
	u.out.withheld += list.Withheld
	named := shareBackground
	if inMessage {
		named = shareNamed
	}
	for _, unit := range list.Units {
		if unit.Summary != nil && unit.Summary.Scope != memory.ScopePerson && unit.Summary.Scope != memory.ScopeTopic {
			continue // every week in which somebody is mentioned says little about her
		}
		covered, _ := u.coverage(unit, surface)
		u.add(unit, named+shareWords*covered, surface)
	}
	return nil
}

// addMatching adds the units that have all words that are asked for, or half of them and at least two.
func (u *unitSearch) addMatching(ctx context.Context) error {
	if len(u.terms) == 0 {
		return nil
	}
	matches, err := u.Recaller.units.MatchUnits(ctx, slices.Concat(u.terms, u.thirds), u.unitQuery())
	if err != nil {
		return fmt.Errorf("units with the words of the query: %w", err)
	}
	for _, m := range matches {
		if covered, shared := u.coverage(m.Unit, ""); covered == 1 || covered >= leastCoverage && shared >= 2 {
			u.add(m.Unit, shareWords*covered, "")
		}
	}
	return nil
}

// thirdPerson returns the term of the third person of an English verb; of other words it returns what no text has, or the word itself.
func thirdPerson(term string) string {
	if strings.ContainsFunc(term, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return term
	}
	return cmp.Or(strings.Join(analysis.Terms(term+"s"), " "), term)
}

// namedMessage returns the message with the names of its background, empty if it is not read in context or there are none.
func (u *unitSearch) namedMessage(names []name) string {
	if !u.inContext {
		return ""
	}
	return nameQuery(names, u.query.Text)
}

// addAskedFor adds open loops to a message that asks what is open, and the summaries of the days that a message names.
func (u *unitSearch) addAskedFor(ctx context.Context) error {
	if u.wants(memory.KindLoop) && asksForLoops.MatchString(u.query.Text) {
		if err := u.addAll(ctx, memory.KindLoop, func(memory.Unit) bool { return true }); err != nil {
			return err
		}
	}
	spans, _ := dates.Parse(analysis.Normalize(u.query.Text), u.query.Now)
	if !u.wants(memory.KindSummary) || len(spans) == 0 {
		return nil
	}
	return u.addAll(ctx, memory.KindSummary, func(unit memory.Unit) bool {
		return unit.Summary != nil && slices.ContainsFunc(spans, func(span dates.Span) bool { return isAbout(*unit.Summary, span) })
	})
}

// addAll adds the units of a kind that are selected.
func (u *unitSearch) addAll(ctx context.Context, kind string, selected func(memory.Unit) bool) error {
	list, err := u.Recaller.units.Units(ctx, u.unitQuery(kind))
	if err != nil {
		return fmt.Errorf("units that are asked for: %w", err)
	}
	for _, unit := range list.Units {
		if selected(unit) {
			u.add(unit, shareAsked, "")
		}
	}
	return nil
}

// isAbout reports whether a summary is one of the days of a span: they share half of the days of the shorter one, and of the longer one
// no less than a third.
func isAbout(s memory.Summary, span dates.Span) bool {
	if s.From == "" || s.To == "" {
		return false
	}
	own := dates.Span{First: s.From, Last: s.To}
	common := dates.Span{First: max(s.From, span.First), Last: min(s.To, span.Last)}
	if common.First > common.Last {
		return false
	}
	return 2*common.Len() >= min(own.Len(), span.Len()) && 3*common.Len() >= max(own.Len(), span.Len())
}

// add adds a unit, or raises the score of one that is there.
func (u *unitSearch) add(unit memory.Unit, score float64, surface string) {
	f, known := u.found[unit.UID]
	if !known {
		f = memory.FoundUnit{Unit: unit, Text: vocab.Text(unit)}
	}
	f.Score = max(f.Score, min(score, 1))
	if surface != "" && !slices.Contains(f.Names, surface) {
		f.Names = append(f.Names, surface)
	}
	u.found[unit.UID] = f
}

// coverage returns the share of the content terms of the message that a unit and its quotes have, and their number. The words of the
// surface under which the unit was found do not count, because all units about it have them, unless the message has no others.
func (u *unitSearch) coverage(unit memory.Unit, surface string) (share float64, shared int) {
	text := vocab.Text(unit)
	for _, e := range unit.Evidence {
		text += "\n" + e.Quote
	}
	has, named, asked := vocab.Terms(text), vocab.Terms(surface), 0
	for i, term := range u.terms {
		if !named[term] {
			asked++
			shared += one(has[term] || has[u.thirds[i]])
		}
	}
	if asked == 0 {
		return float64(one(len(u.terms) > 0)), len(u.terms)
	}
	return float64(shared) / float64(asked), shared
}

// addUnits adds the units to the answer.
func (s *state) addUnits(ctx context.Context) {
	if s.units == nil {
		return
	}
	got := await(ctx, s.units)
	if got.err != nil {
		s.degrade(memory.UnitsMissing, "Facts, loops and summaries could not be searched: "+strings.TrimSpace(text.FirstLine(got.err.Error())))
		return
	}
	s.answer.Units = got.value.units
	s.answer.Withheld += got.value.withheld
	s.dropFillers()
}

// dropFillers leaves out units about what only the background or the person of the message names, if nothing shows that the message is
// about something known.
func (s *state) dropFillers() {
	known := slices.ContainsFunc(s.answer.Hits, isAnswer) ||
		slices.ContainsFunc(s.answer.Units, func(f memory.FoundUnit) bool { return f.Score >= certain })
	if !known {
		s.answer.Units = nil
	}
}

// shownLines returns the lines of the snippet of a hit and the number of the first one in the file; nil if the snippet is not made of
// whole lines of it.
func shownLines(h memory.Hit) (lines []string, first int) {
	lines = strings.Split(strings.TrimRight(h.Snippet, "\n"), "\n")
	if h.SnippetStart == 0 || len(lines) != h.SnippetEnd-h.SnippetStart+1 {
		return nil, 0
	}
	return lines, h.SnippetStart
}
