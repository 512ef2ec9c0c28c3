package derive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kioku/derive/contract"
	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/llm"
	"kioku/memory"
)

const (
	// maxSummaryTokens bounds what of the episodes one summary is made of.
	maxSummaryTokens = 6000
	// rollingPause and aboutPause are the least times between two summaries of a scope; weekPause is that of a week that changes.
	rollingPause, weekPause, aboutPause = 6 * time.Hour, 24 * time.Hour, 12 * time.Hour
	// rollingEpisodes are the new episodes for which the rolling summary is made before rollingWait is over.
	rollingEpisodes, rollingWait = 5, 24 * time.Hour
	// maxAboutJobs bounds how many people and how many topics are summed up at a time.
	maxAboutJobs = 3
)

// summaryTasks returns the tasks for summaries that are due.
func (s *Service) summaryTasks(ctx context.Context, _ passOptions, parked map[string]store.Job) (tasks []task, err error) {
	due, err := s.dueSummaries(ctx, parked)
	for _, c := range due {
		t := c.task()
		t.ID = parked[t.id()].ID
		t.run = func(ctx context.Context) error { return s.makeSummary(ctx, c) }
		tasks = append(tasks, t)
	}
	return tasks, err
}

// task returns the task to make a summary, without what it does.
func (c scope) task() task {
	return task{Job: store.Job{Kind: jobSummary, Key: c.kind + ":" + c.key, Input: fmt.Sprintf(`{"input":%q}`, c.input)}}
}

// dueSummaries returns the summaries whose episodes have changed, unless the last one, or the last attempt that failed, is too new.
func (s *Service) dueSummaries(ctx context.Context, parked map[string]store.Job) ([]scope, error) {
	now, jobs := s.opt.Now(), map[string]int{}
	scopes, err := s.scopes(ctx, now, s.opt.Ceiling)
	due := slices.DeleteFunc(scopes, func(c scope) bool {
		failed, isParked := parked[c.task().id()]
		byPerson := c.before.Pinned || c.before.Source != "" && c.before.Source != makerModel && c.before.Source != makerRule
		if byPerson || c.before.Source == makerModel && !summaryIsDue(now, c) ||
			isParked && (failed.Input == c.task().Input || now.Sub(failed.ParkedAt) < pauseOf(c)) {
			return true
		}
		jobs[c.kind]++
		return jobs[c.kind] > maxAboutJobs && (c.kind == memory.ScopePerson || c.kind == memory.ScopeTopic)
	})
	return together(due), err
}

// together has one question serve a week and the relationship of it.
func together(due []scope) (asked []scope) {
	for _, c := range due {
		week := slices.IndexFunc(asked, func(w scope) bool {
			return c.kind == memory.ScopeRelationship && w.kind == memory.ScopeWeekly && w.key == c.key
		})
		if week < 0 {
			asked = append(asked, c)
		} else {
			asked[week].shares = &c
		}
	}
	return asked
}

// pauseOf returns the least time between two summaries of a scope.
func pauseOf(c scope) time.Duration {
	switch c.kind {
	case memory.ScopeRolling:
		return rollingPause
	case memory.ScopeWeekly, memory.ScopeRelationship:
		return weekPause
	}
	return aboutPause
}

// summaryIsDue reports whether a summary of the model is made again.
func summaryIsDue(now time.Time, c scope) bool {
	age := now.Sub(c.before.ChangedAt)
	if c.before.Summary.InputSHA256 == c.input || age < pauseOf(c) {
		return false
	}
	if c.kind != memory.ScopeRolling || age >= rollingWait {
		return true
	}
	fresh := 0
	for _, e := range c.episodes {
		if e.OccurredAt.After(c.before.OccurredAt) {
			fresh++
		}
	}
	return fresh >= rollingEpisodes
}

// makeSummary asks the model for a summary and stores it, unless the episodes have changed meanwhile. An answer that is cached costs no call.
func (s *Service) makeSummary(ctx context.Context, c scope) error {
	shown, q, err := s.summaryQuestion(ctx, c)
	if errors.Is(err, contract.ErrNoInput) {
		return nil
	}
	if err != nil {
		return err
	}
	summary, known, err := s.cachedSummary(ctx, q)
	if err == nil && !known {
		var answer string
		var tokens used
		if summary, answer, tokens, err = askModel(ctx, s, q); err == nil {
			err = s.store.PutAnswer(ctx, contract.NameSummary, s.modelID(), q.Input, answer, uidsOf(c.episodes), tokens.in, tokens.out)
		}
	}
	if err != nil {
		return err
	}
	c.episodes = shown
	err = s.putSummary(ctx, c, summary, makerModel)
	if err == nil && c.shares != nil {
		c.shares.episodes = shown
		err = s.putSummary(ctx, *c.shares, summary, makerModel)
	}
	return err
}

// cachedSummary returns what the model has said to the same question before, and false if that is not known, or of another contract.
func (s *Service) cachedSummary(ctx context.Context, q contract.Question[memory.Summary]) (memory.Summary, bool, error) {
	answer, err := s.store.CachedAnswer(ctx, contract.NameSummary, s.modelID(), q.Input)
	if err != nil || answer == "" {
		return memory.Summary{}, false, err
	}
	summary, _, err := q.Read(answer, llm.StopEnd)
	return summary, err == nil, nil
}

// summaryQuestion returns what the model is asked about a scope: the most salient and then the newest episodes that fit, in the order
// of time, and the facts about a person or topic. Its error is contract.ErrNoInput if there is nothing to ask about.
func (s *Service) summaryQuestion(ctx context.Context, c scope) (shown []memory.Episode, q contract.Question[memory.Summary], err error) {
	in := contract.SummaryInput{Scope: c.kind, Key: c.key, From: c.from, To: c.to, Name: c.name}
	chosen := slices.Clone(c.episodes)
	slices.SortStableFunc(chosen, func(a, b memory.Episode) int {
		return cmp.Or(cmp.Compare(b.Salience, a.Salience), b.OccurredAt.Compare(a.OccurredAt))
	})
	read, tokens := s.newReader(), 0
	fits := map[string]unit.EpisodeText{}
	for _, e := range chosen {
		a, ok := read.episode(ctx, e)
		n := tokensOf(a.Lines)
		if !ok || tokens+n > maxSummaryTokens {
			continue
		}
		tokens += n
		fits[e.UID] = a
	}
	for _, e := range c.episodes {
		if a, ok := fits[e.UID]; ok {
			in.Episodes, shown = append(in.Episodes, a), append(shown, e)
		}
	}
	in.HadEvents = c.before.Source == makerModel && len(c.before.Summary.Events) > 0
	if c.name != "" {
		if in.Facts, err = s.factsAbout(ctx, c.key); err != nil {
			return nil, q, err
		}
	}
	q, err = s.contracts().Summary(in)
	return shown, q, err
}

// maxFacts bounds the facts that a summary of a person or topic is made of.
const maxFacts = 20

// factsAbout returns facts about an entity that hold now, one sentence each, in the order of the alphabet, so that the same facts
// make the same question. None is private: the summary would be, too.
func (s *Service) factsAbout(ctx context.Context, entity string) ([]string, error) {
	list, err := s.store.Units(ctx, memory.UnitQuery{
		Kinds: []string{memory.KindFact}, States: []string{memory.StateValidated}, Entity: entity, MaxSensitivity: memory.Normal, Limit: 1000,
	})
	var facts []string
	for _, u := range list.Units {
		facts = append(facts, vocab.Text(u))
	}
	slices.Sort(facts)
	return facts[:min(len(facts), maxFacts)], err
}
