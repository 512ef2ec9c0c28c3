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
	// episodes that it is made of, by time, and input, the hash of them.
	episodes []memory.Episode
	input    string
	// before is the summary that there is, the zero value if there is none.
	before memory.Unit
	// shares is the relationship of the same week if the model is asked for both at once; nil otherwise.
	shares *scope
}

// uid returns the UID of the summary.
func (c scope) uid() string { return vocab.UnitUID(memory.KindSummary, c.kind, c.key) }

// inputOf returns the hash of what a summary of the scope is made of.
func (c scope) inputOf() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", c.kind, c.key)
	for _, e := range c.episodes {
		fmt.Fprintf(h, "%s %x\n", e.UID, e.TextSHA256)
		if e.Sensitivity > memory.Normal {
			fmt.Fprintln(h, e.Sensitivity)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// greatest returns the greatest sensitivity of episodes.
func greatest(episodes []memory.Episode) memory.Sensitivity {
	most := memory.Normal
	for _, e := range episodes {
		most = max(most, e.Sensitivity)
	}
	return most
}

// uidsOf returns the UIDs of episodes.
func uidsOf(episodes []memory.Episode) []string {
	var uids []string
	for _, e := range episodes {
		uids = append(uids, e.UID)
	}
	return uids
}

// scopes returns what there are summaries of, with the episodes up to a ceiling. What has no episodes, and what people have had forgotten, is left
// out.
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
		if c.kind == memory.ScopeWeekly && slices.ContainsFunc(c.episodes, isConversation) {
			c.kind = memory.ScopeRelationship // of the same answer, and therefore of the same episodes
			all = append(all, c)
		}
	}
	about, err := s.aboutScopes(ctx, now, ceiling)
	if err != nil {
		return nil, err
	}
	have, err := s.summaryUnits(ctx)
	forgotten := map[string]bool{}
	for _, d := range s.recall().decisions {
		forgotten[d.Target] = forgotten[d.Target] || d.Verb == unit.DecideForget
	}
	all = slices.DeleteFunc(append(all, about...), func(c scope) bool {
		return len(c.episodes) == 0 || forgotten[resolve.SummaryKey(c.kind, c.key)]
	})
	for i := range all {
		all[i].input, all[i].before = all[i].inputOf(), have[all[i].uid()]
	}
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

// isConversation reports whether both the user and the assistant speak in an episode.
func isConversation(e memory.Episode) bool {
	return slices.Contains(e.Speakers, memory.SpeakerUser) && slices.Contains(e.Speakers, memory.SpeakerAssistant)
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
	if err := s.raiseStale(ctx, now.Location()); err != nil {
		return err
	}
	scopes, err := s.scopes(ctx, now, memory.Private)
	read := s.newReader()
	for _, c := range scopes {
		before := c.before.Summary
		if c.kind == memory.ScopeRelationship || c.before.Pinned || c.before.Source == makerModel && s.asksModel() ||
			before != nil && before.InputSHA256 == c.input && !before.Stale {
			continue
		}
		var episodes []unit.EpisodeText
		for _, e := range c.episodes {
			if a, ok := read.episode(ctx, e); ok {
				episodes = append(episodes, a)
			}
		}
		summary, ok := view.SumUp(c.name, episodes)
		if !ok || len(episodes) < len(c.episodes) { // a file that has changed comes anew
			continue
		}
		if err := s.putSummary(ctx, c, summary, makerRule); err != nil {
			return err
		}
	}
	return err
}

// raiseStale gives each stale summary the greatest sensitivity of its days until it is made anew: what it was made of has changed, and
// may be private now.
func (s *Service) raiseStale(ctx context.Context, zone *time.Location) error {
	have, err := s.summaryUnits(ctx)
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
		if most := greatest(episodes); most > u.Sensitivity {
			s.remember(func(st *state) { st.viewsStale = true })
			if err := s.store.RaiseSummary(ctx, u.UID, most); err != nil {
				return err
			}
		}
	}
	return err
}

// putSummary writes a summary of a scope. The store applies what people have decided about it.
func (s *Service) putSummary(ctx context.Context, c scope, summary memory.Summary, source string) error {
	s.remember(func(st *state) { st.viewsStale = true })
	summary.Scope, summary.Key, summary.From, summary.To, summary.InputSHA256 = c.kind, c.key, c.from, c.to, c.input
	u := memory.Unit{
		UID: c.uid(), Kind: memory.KindSummary, State: memory.StateValidated, Source: source, Trust: memory.SpeakerAssistant, Confidence: 0.7,
		Sensitivity: greatest(c.episodes), Summary: &summary,
	}
	for _, e := range c.episodes {
		u.Salience = max(u.Salience, e.Salience)
		if e.OccurredAt.After(u.OccurredAt) {
			u.OccurredAt = e.OccurredAt
		}
	}
	return s.store.PutSummary(ctx, u, uidsOf(c.episodes), "claims")
}
