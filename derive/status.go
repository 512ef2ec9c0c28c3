package derive

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"time"

	"kioku/derive/contract"
	"kioku/derive/decision"
	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/llm"
	"kioku/memory"
)

// maxParked bounds how many parked jobs the status lists.
const maxParked = 100

// Status tells how much is derived, what waits, what the model has cost, and what went wrong.
func (s *Service) Status(ctx context.Context) (unit.DeriveStatus, error) {
	now, st := s.opt.Now(), s.recall()
	stats, err := s.store.Stats(ctx, now)
	if err != nil {
		return unit.DeriveStatus{}, err
	}
	status := unit.DeriveStatus{
		Episodes: stats.Episodes, Pending: stats.Pending + stats.Uncut, Private: stats.Private, Secret: stats.Secret,
		Units: stats.Units, Entities: stats.Entities, Jobs: stats.Jobs, Conflicts: stats.Units[memory.KindFact+"/"+memory.StateConflict],
		Rejected: stats.Dropped, TokensToday: stats.TokensToday, CallsToday: stats.CallsToday,
		CallsThisHour: stats.CallsThisHour, CachedAnswers: stats.CachedAnswers, EditedViews: st.edited,
	}
	if s.writesViews() {
		status.ViewDir = s.opt.ViewDir
		status.Problem = st.viewProblem
	}
	var unread error
	if status.BadDecisions, unread = s.badDecisions(); unread != nil {
		status.Problem = unread.Error()
	}
	if s.opt.Model == nil {
		return status, nil
	}
	status.Model, status.MaxTokensPerDay, status.MaxCallsPerHour = s.opt.Model.Name(), max(s.opt.MaxTokensPerDay, 0), s.opt.MaxCallsPerHour
	if stats.Problem != "" {
		status.Problem, status.NextTry = stats.Problem, stats.NextTry
	}
	if !st.breaker.allows(now) {
		status.Problem, status.NextTry = st.breaker.problem, st.breaker.until
		status.BudgetExhausted = st.breaker.exhausted
	}
	if !s.asksModel() {
		status.Problem = "derive.maxTokensPerDay is 0, so that the model is not asked"
	}
	if status.Unextracted, err = s.countUnextracted(ctx); err != nil {
		return status, err
	}
	status.Parked, err = s.parked(ctx)
	return status, err
}

// badDecisions returns the lines of decisions.md that are no decisions, as they are now: who asks may never have derived.
func (s *Service) badDecisions() ([]string, error) {
	var file decision.File
	err := s.withRoot(func(root *os.Root) (err error) {
		file, err = decision.Read(root)
		return err
	})
	bad := make([]string, 0, len(file.Bad))
	for _, b := range file.Bad {
		bad = append(bad, b.String())
	}
	return bad, err
}

// countUnextracted returns how many episodes wait for the model, at most taskEpisodes times four.
func (s *Service) countUnextracted(ctx context.Context) (int, error) {
	waiting, err := s.unextracted(ctx, passOptions{now: true}, 4*taskEpisodes)
	return len(slices.DeleteFunc(waiting, s.withheld)), err
}

// parked returns the jobs that wait for a person.
func (s *Service) parked(ctx context.Context) ([]unit.ParkedJob, error) {
	jobs, err := s.store.Parked(ctx, maxParked)
	if err != nil {
		return nil, err
	}
	var all []unit.ParkedJob
	for _, j := range jobs {
		f := failureOf(j)
		p := unit.ParkedJob{ID: j.ID, Kind: j.Kind, ErrorClass: j.ErrorClass, Message: f.Message, Answer: f.Answer, ChangedAt: j.ParkedAt}
		episodes, err := s.episodesOf(ctx, j)
		if err != nil {
			return nil, err
		}
		for _, e := range episodes {
			if e.Sensitivity <= memory.Private {
				p.Episodes = append(p.Episodes, place(e.Path, e.StartLine, e.EndLine))
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// episodesOf returns the episodes that a parked job is about.
func (s *Service) episodesOf(ctx context.Context, j store.Job) ([]memory.Episode, error) {
	var in extractInput
	if json.Unmarshal([]byte(j.Input), &in) != nil || len(in.Episodes) == 0 {
		return nil, nil
	}
	return s.store.Episodes(ctx, in.Episodes...)
}

// Retry has parked jobs done again: one, or all if id is 0. It returns how many, and a *memory.InputError if there is no parked job with this
// id.
func (s *Service) Retry(ctx context.Context, id int64) (n int, err error) {
	jobs, err := s.store.Parked(ctx, math.MaxInt32)
	if err != nil {
		return 0, err
	}
	for _, j := range jobs {
		if id != 0 && j.ID != id {
			continue
		}
		if err := s.unread(ctx, j); err != nil {
			return n, err
		}
		n++
	}
	if n == 0 && id != 0 {
		return 0, &memory.InputError{Field: "id", Problem: "is no parked job; kioku derive status lists them"}
	}
	s.remember(func(st *state) { st.breaker.reset() })
	s.Wake()
	return n, nil
}

// unread makes the episodes of a parked job such that the model has not read them.
func (s *Service) unread(ctx context.Context, j store.Job) error {
	episodes, err := s.episodesOf(ctx, j)
	if err != nil {
		return err
	}
	read := s.newReader()
	var unread []unit.EpisodeClaims
	for _, e := range episodes {
		a, ok := read.episode(ctx, e)
		if !ok {
			continue // the file has changed, and comes anew
		}
		if err := s.store.PutAnswer(ctx, contract.NameExtract, s.modelID(), s.inputOf(a), "", nil, 0, 0); err != nil {
			return err
		}
		unread = append(unread, unit.EpisodeClaims{Episode: e})
	}
	if _, err := s.store.PutClaims(ctx, makerModel, extractVersion, unread); err != nil {
		return err
	}
	return s.store.Unpark(ctx, j.ID)
}

// Estimate tells what a run would send to the model at most, and sends nothing: the episodes that it has not read, and summaries of what is
// known now. Calls for people whom the model finds, and second calls after invalid answers, are not among them. With all it counts
// episodes of any age.
func (s *Service) Estimate(ctx context.Context, all bool) (unit.DeriveEstimate, error) {
	stats, err := s.store.Stats(ctx, s.opt.Now())
	if err != nil || s.opt.Model == nil {
		return unit.DeriveEstimate{Episodes: stats.Episodes}, err
	}
	waiting, err := s.unextracted(ctx, passOptions{now: true, all: all}, math.MaxInt32)
	if err != nil {
		return unit.DeriveEstimate{}, err
	}
	e := unit.DeriveEstimate{Model: s.opt.Model.Name()}
	sendable := slices.DeleteFunc(slices.Clone(waiting), s.withheld)
	e.Episodes, e.Withheld = len(sendable), len(waiting)-len(sendable)
	unknown, _, _, err := s.cachedOf(ctx, sendable)
	if err != nil {
		return e, err
	}
	add := func(p contract.Prompt, summaries int) {
		e.Calls, e.Summaries = e.Calls+1, e.Summaries+summaries
		e.TokensIn, e.TokensOut = e.TokensIn+llm.RequestTokens(p.Request()), e.TokensOut+p.MaxTokens
	}
	for _, batch := range batches(unknown) {
		q, err := s.questionAbout(ctx, batch)
		if err == nil {
			add(q.Prompt, 0)
		} else if !errors.Is(err, contract.ErrNoInput) {
			return e, err
		}
	}
	parked, err := s.parkedJobs(ctx)
	if err != nil {
		return e, err
	}
	due, err := s.dueSummaries(ctx, parked)
	if err != nil {
		return e, err
	}
	for _, c := range due {
		_, q, err := s.summaryQuestion(ctx, c)
		if errors.Is(err, contract.ErrNoInput) {
			continue
		}
		if err != nil {
			return e, err
		}
		if _, known, err := s.cachedSummary(ctx, q); err != nil {
			return e, err
		} else if !known {
			add(q.Prompt, 1)
		}
	}
	if limit := s.opt.MaxTokensPerDay; limit > 0 && e.Calls > 0 {
		byTokens := (e.TokensIn + e.TokensOut + limit - 1) / limit
		byCalls := (e.Calls + 24*s.opt.MaxCallsPerHour - 1) / (24 * s.opt.MaxCallsPerHour)
		e.Days = max(byTokens, byCalls)
	}
	return e, nil
}

// nextDay returns the beginning of the day after a time.
func nextDay(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, t.Location())
}
