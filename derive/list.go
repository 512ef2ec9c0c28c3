package derive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/search/analysis"
)

const (
	// minID and shortID are the digits that an id must have at least, and that it is shown with.
	minID   = 6
	shortID = 8
	// maxCandidates bounds how many units an error about an ambiguous id names.
	maxCandidates = 5
)

// List returns the units that q selects. If words is not blank, it returns those that share analysed words with it, best first, and
// q.After is not used. q.UIDs and q.Entity may be beginnings.
func (s *Service) List(ctx context.Context, q memory.UnitQuery, words string) (memory.UnitList, error) {
	if q.Entity != "" {
		e, err := s.entity(ctx, "entity", q.Entity, q.MaxSensitivity)
		if err != nil {
			return memory.UnitList{}, err
		}
		q.Entity = e.UID
	}
	if strings.TrimSpace(words) == "" {
		list, err := s.store.Units(ctx, q)
		return list, errors.Join(err, s.nameSummaries(ctx, list.Units, q.MaxSensitivity))
	}
	q.After = ""
	found, err := s.store.MatchUnits(ctx, analysis.Terms(words), q)
	if err != nil {
		return memory.UnitList{}, err
	}
	list := memory.UnitList{Total: len(found)}
	for _, f := range found {
		list.Units = append(list.Units, f.Unit)
	}
	return list, s.nameSummaries(ctx, list.Units, q.MaxSensitivity)
}

// nameSummaries sets the names of what summaries are about, if they do not lie above a ceiling.
func (s *Service) nameSummaries(ctx context.Context, units []memory.Unit, ceiling memory.Sensitivity) error {
	about := map[string][]*memory.Summary{}
	for i := range units {
		if m := units[i].Summary; m != nil && (m.Scope == memory.ScopePerson || m.Scope == memory.ScopeTopic) {
			about[m.Key] = append(about[m.Key], m)
		}
	}
	if len(about) == 0 {
		return nil
	}
	entities, err := s.store.Entities(ctx, store.EntityQuery{UIDs: slices.Sorted(maps.Keys(about)), Limit: len(about), MaxSensitivity: ceiling})
	for _, e := range entities {
		for _, m := range about[e.UID] {
			m.Name = e.Name
		}
	}
	return err
}

// Unit returns a unit in whatever state by its UID, or a beginning of at least 6 digits. It returns memory.ErrNoUnit for one that is
// not known, has no evidence any more or lies above the ceiling, and a *memory.InputError for a beginning of several.
func (s *Service) Unit(ctx context.Context, id string, ceiling memory.Sensitivity) (memory.Unit, error) {
	id, err := checkID("id", id)
	if err != nil {
		return memory.Unit{}, err
	}
	list, err := s.store.Units(ctx, memory.UnitQuery{UIDs: []string{id}, IncludeSuperseded: true, MaxSensitivity: ceiling, Limit: maxCandidates + 1})
	if err != nil {
		return memory.Unit{}, err
	}
	u, err := theOne("id", id, list.Units, func(u memory.Unit) string { return u.UID })
	if err != nil {
		return u, err
	}
	one := []memory.Unit{u}
	err = errors.Join(s.nameSummaries(ctx, one, ceiling), s.quoteEpisodes(ctx, u, ceiling), s.addReflections(ctx, u.Evidence, ceiling))
	return one[0], err
}

// maxEpisodeQuote is how many characters of an episode are quoted.
const maxEpisodeQuote = 100

// quoteEpisodes sets the quotes of the evidence of a summary, which is made of whole episodes: the beginning of each.
func (s *Service) quoteEpisodes(ctx context.Context, u memory.Unit, ceiling memory.Sensitivity) error {
	if u.Summary == nil {
		return nil
	}
	uids := make([]string, len(u.Evidence))
	for i, e := range u.Evidence {
		uids[i] = e.EpisodeUID
	}
	episodes, err := s.store.Episodes(ctx, uids...)
	read := s.newReader()
	for _, e := range episodes {
		a, ok := read.episode(ctx, e)
		if !ok || e.Sensitivity > ceiling {
			continue
		}
		var said []string
		for _, l := range a.Lines {
			if !strings.HasPrefix(l.Text, "#") {
				said = append(said, strings.Fields(l.Text)...)
			}
		}
		for i := range u.Evidence {
			if u.Evidence[i].EpisodeUID == e.UID && u.Evidence[i].Quote == "" {
				u.Evidence[i].Quote = text.Shorten(strings.Join(said, " "), maxEpisodeQuote)
			}
		}
	}
	return err
}

// theOne returns the thing of a list that has an id, or the only one whose id begins with it. Its errors are those of Unit.
func theOne[T any](field, id string, list []T, uid func(T) string) (none T, err error) {
	uids := make([]string, len(list))
	for i, one := range list {
		if uids[i] = uid(one); uids[i] == id {
			return one, nil
		}
	}
	switch len(list) {
	case 0:
		return none, memory.ErrNoUnit
	case 1:
		return list[0], nil
	}
	return none, ambiguous(field, id, uids)
}

// checkID returns an id in lower case, or a *memory.InputError if it is none.
func checkID(field, id string) (string, error) {
	id = strings.ToLower(strings.TrimSpace(id))
	if len(id) < minID {
		return "", &memory.InputError{Field: field, Problem: fmt.Sprintf("must have at least %d hexadecimal digits", minID)}
	}
	if strings.Trim(id, "0123456789abcdef") != "" {
		return "", &memory.InputError{Field: field, Problem: "must be hexadecimal digits, as kioku derive list shows them"}
	}
	return id, nil
}

// ambiguous returns the error for the beginning of several ids, which it names with as many digits as tell them apart.
func ambiguous(field, id string, uids []string) error {
	slices.Sort(uids)
	digits := shortID
	for i := 1; i < len(uids); i++ {
		n := 0
		for n < min(len(uids[i]), len(uids[i-1])) && uids[i][n] == uids[i-1][n] {
			n++
		}
		digits = max(digits, n+1)
	}
	named := make([]string, 0, len(uids))
	for _, uid := range uids[:min(len(uids), maxCandidates)] {
		named = append(named, uid[:min(digits, len(uid))])
	}
	list := strings.Join(named, ", ")
	if len(uids) > maxCandidates {
		list += " and more"
	}
	return &memory.InputError{Field: field, Problem: fmt.Sprintf("%s is the beginning of several: %s", id, list)}
}

// History returns the versions of a unit whose content does not lie above the ceiling, newest first. Its errors are those of Unit.
func (s *Service) History(ctx context.Context, id string, ceiling memory.Sensitivity) ([]unit.Version, error) {
	u, err := s.Unit(ctx, id, ceiling)
	if err != nil {
		return nil, err
	}
	versions, err := s.store.History(ctx, u.UID)
	if err != nil {
		return nil, err
	}
	hides := func(uid string) bool {
		_, err := s.Unit(ctx, uid, ceiling)
		return err != nil
	}
	var shown []unit.Version
	for _, v := range versions {
		was, err := v.Was()
		if err != nil || was.Sensitivity > ceiling {
			continue
		}
		if was.State == memory.StateConflict && ceiling < memory.Secret && !slices.ContainsFunc(was.Fact.Opposes, func(uid string) bool { return !hides(uid) }) {
			continue // that it was in conflict tells of what is hidden
		}
		v.Unit = was
		shown = append(shown, v)
	}
	return shown, nil
}
