package derive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"kioku/derive/resolve"
	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/derive/view"
	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	// rollingDays is how far back the rolling summary goes, and aboutDays what of a person or topic is summed up.
	rollingDays, aboutDays = 7, 14
	// weeks is how many finished weeks have a summary, up to the last one with notes.
	weeks = 8
	// weekHour is the hour of Monday at which a week is over: notes of Sunday are written until then.
	weekHour = 4
	// minMentions is how often somebody or something is mentioned at least to be summed up, and maxAbout how many people and how
	// many topics are.
	minMentions, maxAbout = 3, 12
	// maxSummed is how many episodes a summary is made of, the most salient ones.
	maxSummed = 200
	// maxOfDays is how many episodes are looked at for the sensitivity of their days.
	maxOfDays = 10_000
)

// scope is what a summary is about.
type scope struct {
	// kind is one of the constants memory.Scope..., and key says which one of it.
	kind, key string
	// from and to are the days that it is about.
	from, to string
	// name of the person or topic; empty for other scopes.
	name string
	// episodes that it is made of, by time.
	episodes []memory.Episode
}

// uid returns the UID of the summary.
func (c scope) uid() string { return vocab.UnitUID(memory.KindSummary, c.kind, c.key) }

// inputSHA returns the hash of what the summary is made of.
func (c scope) inputSHA() [32]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", c.kind, c.key)
	for _, e := range c.episodes {
		fmt.Fprintf(h, "%s %x\n", e.UID, e.TextSHA256)
		if e.Sensitivity > memory.Normal {
			fmt.Fprintln(h, e.Sensitivity)
		}
	}
	return [32]byte(h.Sum(nil))
}

// sensitivity returns the greatest sensitivity of the episodes.
func (c scope) sensitivity() memory.Sensitivity {
	most := memory.Normal
	for _, e := range c.episodes {
		most = max(most, e.Sensitivity)
	}
	return most
}

// newest returns the time of the newest episode.
func (c scope) newest() time.Time {
	var at time.Time
	for _, e := range c.episodes {
		if e.OccurredAt.After(at) {
			at = e.OccurredAt
		}
	}
	return at
}

// unit returns the summary as a unit.
func (c scope) unit(summary memory.Summary, source string) memory.Unit {
	summary.Scope, summary.Key, summary.InputSHA256 = c.kind, c.key, fmt.Sprintf("%x", c.inputSHA())
	summary.From, summary.To = c.from, c.to
	u := memory.Unit{
		UID: c.uid(), Kind: memory.KindSummary, State: memory.StateValidated, OccurredAt: c.newest(), Source: source,
		Trust: memory.SpeakerAssistant, Confidence: 0.7, Sensitivity: c.sensitivity(), Summary: &summary,
	}
	for _, e := range c.episodes {
		u.Salience = max(u.Salience, e.Salience)
	}
	return u
}

// episodeUIDs returns the UIDs of the episodes.
func (c scope) episodeUIDs() []string {
	var uids []string
	for _, e := range c.episodes {
		uids = append(uids, e.UID)
	}
	return uids
}

// scopes returns what there are summaries of, with the episodes up to a ceiling. What has no episodes is left out.
func (s *Service) scopes(ctx context.Context, now time.Time, ceiling memory.Sensitivity) ([]scope, error) {
	start := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	all := []scope{{kind: memory.ScopeRolling, key: fmt.Sprintf("%dd", rollingDays), from: day(start.AddDate(0, 0, 1-rollingDays)), to: day(start)}}
	monday := mondayOf(now.Add(-weekHour * time.Hour))
	newest, err := s.store.NewestEpisode(ctx, monday)
	if err != nil {
		return nil, err
	}
	if after := mondayOf(newest.In(now.Location())).AddDate(0, 0, 7); after.Before(monday) {
		monday = after
	}
	for range weeks {
		monday = monday.AddDate(0, 0, -7)
		year, week := monday.ISOWeek()
		all = append(all, scope{kind: memory.ScopeWeekly, key: fmt.Sprintf("%d-W%02d", year, week), from: day(monday), to: day(monday.AddDate(0, 0, 6))})
	}
	for i := range all {
		from, _ := time.ParseInLocation(time.DateOnly, all[i].from, now.Location())
		to, _ := time.ParseInLocation(time.DateOnly, all[i].to, now.Location())
		episodes, err := s.store.EpisodesBetween(ctx, from, to.AddDate(0, 0, 1), maxSummed)
		if err != nil {
			return nil, err
		}
		all[i].episodes = summable(episodes, ceiling)
	}
	for _, c := range all {
		if c.kind == memory.ScopeWeekly {
			c.kind, c.episodes = memory.ScopeRelationship, conversations(c.episodes)
			all = append(all, c)
		}
	}
	about, err := s.aboutScopes(ctx, now, ceiling)
	all = slices.DeleteFunc(append(all, about...), func(c scope) bool { return len(c.episodes) == 0 })
	return all, err
}

// aboutScopes returns the people and topics that are mentioned most now.
func (s *Service) aboutScopes(ctx context.Context, now time.Time, ceiling memory.Sensitivity) ([]scope, error) {
	since := now.AddDate(0, 0, -aboutDays)
	var all []scope
	for _, about := range []struct{ etype, scope string }{{vocab.Person, memory.ScopePerson}, {vocab.Topic, memory.ScopeTopic}} {
		entities, err := s.store.Entities(ctx, store.EntityQuery{Type: about.etype, Limit: 10 * maxAbout, MaxSensitivity: ceiling})
		if err != nil {
			return nil, err
		}
		found := 0
		for _, e := range entities {
			if found >= maxAbout || e.Mentions < minMentions || e.MergedInto != "" || e.LastSeen.Before(since) || e.Name == memory.UserName {
				continue
			}
			episodes, err := s.store.EpisodesOf(ctx, e.UID, maxSummed)
			if err != nil {
				return nil, err
			}
			episodes = slices.DeleteFunc(summable(episodes, ceiling), func(e memory.Episode) bool { return e.OccurredAt.Before(since) })
			if len(episodes) < minMentions {
				continue
			}
			found++
			all = append(all, scope{kind: about.scope, key: e.UID, name: e.Name, from: day(since), to: day(now), episodes: episodes})
		}
	}
	return all, nil
}

// summable returns the episodes up to a ceiling in the order of time. Secrets are in no summary.
func summable(episodes []memory.Episode, ceiling memory.Sensitivity) []memory.Episode {
	episodes = slices.DeleteFunc(slices.Clone(episodes), func(e memory.Episode) bool { return e.Sensitivity > min(ceiling, memory.Private) })
	slices.SortStableFunc(episodes, func(a, b memory.Episode) int {
		return cmp.Or(a.OccurredAt.Compare(b.OccurredAt), cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.UID, b.UID))
	})
	return episodes
}

// conversations returns the episodes in which both the user and the assistant speak.
func conversations(episodes []memory.Episode) []memory.Episode {
	return slices.DeleteFunc(slices.Clone(episodes), func(e memory.Episode) bool {
		return !slices.Contains(e.Speakers, memory.SpeakerUser) || !slices.Contains(e.Speakers, memory.SpeakerAssistant)
	})
}

// day returns a day as it is written.
func day(t time.Time) string { return t.Format(time.DateOnly) }

// mondayOf returns the beginning of the week of a time.
func mondayOf(t time.Time) time.Time {
	back := (int(t.Weekday()) + 6) % 7
	return time.Date(t.Year(), t.Month(), t.Day()-back, 0, 0, 0, 0, t.Location())
}

// summaryUnits returns the summaries by UID.
func (s *Service) summaryUnits(ctx context.Context) (map[string]memory.Unit, error) {
	list, err := s.store.Units(ctx, memory.UnitQuery{
		Kinds: []string{memory.KindSummary}, IncludeSuperseded: true, MaxSensitivity: memory.Secret, Limit: 1000,
	})
	units := map[string]memory.Unit{}
	for _, u := range list.Units {
		units[u.UID] = u
	}
	return units, err
}

// summarize makes the summaries by rule whose episodes have changed. Those of a model and those that a person has pinned stay; what user
// and assistant are about together is left to a model.
func (s *Service) summarize(ctx context.Context, now time.Time) error {
	scopes, err := s.scopes(ctx, now, memory.Private)
	if err != nil {
		return err
	}
	have, err := s.summaryUnits(ctx)
	if err != nil {
		return err
	}
	if err := s.raiseStale(ctx, have, now.Location()); err != nil {
		return err
	}
	read, forgotten := s.newReader(), s.forgottenSummaries()
	for _, c := range scopes {
		before, known := have[c.uid()]
		if c.kind == memory.ScopeRelationship || forgotten[resolve.SummaryKey(c.kind, c.key)] || known && (before.Pinned || before.Source == makerModel && s.asksModel() || before.Summary.InputSHA256 == fmt.Sprintf("%x", c.inputSHA()) && !before.Summary.Stale) {
			continue
		}
		summary, ok := read.summaryByRule(ctx, c)
		if !ok {
			continue
		}
		if err := s.putSummary(ctx, c, c.unit(summary, makerRule)); err != nil {
			return err
		}
	}
	return nil
}

// raiseStale gives each stale summary the greatest sensitivity of its days until it is made anew: what it was made of has changed, and
// may be private now.
func (s *Service) raiseStale(ctx context.Context, have map[string]memory.Unit, zone *time.Location) error {
	for _, u := range have {
		if !u.Summary.Stale || u.Sensitivity == memory.Secret {
			continue
		}
		from, _ := time.ParseInLocation(time.DateOnly, u.Summary.From, zone)
		to, _ := time.ParseInLocation(time.DateOnly, u.Summary.To, zone)
		episodes, err := s.store.EpisodesBetween(ctx, from, to.AddDate(0, 0, 1), maxOfDays)
		if err != nil {
			return err
		}
		if most := (scope{episodes: episodes}).sensitivity(); most > u.Sensitivity {
			s.remember(func(st *state) { st.viewsStale = true })
			if err := s.store.RaiseSummary(ctx, u.UID, most); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgottenSummaries returns the keys of the summaries that people have had forgotten.
func (s *Service) forgottenSummaries() map[string]bool {
	keys := map[string]bool{}
	for _, d := range s.recall().decisions {
		if d.Verb == unit.DecideForget && d.Kind == memory.KindSummary {
			keys[d.Target] = true
		}
	}
	return keys
}

// putSummary writes a summary. The store applies what people have decided about it.
func (s *Service) putSummary(ctx context.Context, c scope, u memory.Unit) error {
	s.remember(func(st *state) { st.viewsStale = true })
	return s.store.PutSummary(ctx, u, c.episodeUIDs(), "claims")
}

// summaryByRule returns the summary that the rules make of a scope. It returns false if there is nothing to quote.
func (r *reader) summaryByRule(ctx context.Context, c scope) (memory.Summary, bool) {
	var episodes []unit.EpisodeText
	for _, e := range c.episodes {
		a, ok := r.episode(ctx, e)
		if !ok {
			return memory.Summary{}, false // the file has changed, and comes anew
		}
		episodes = append(episodes, a)
	}
	return view.SumUp(c.name, episodes)
}
