package derive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/internal/modelhttp"
	"kioku/llm"
)

// maxRefusals is how often a server refuses a task before it is parked.
const maxRefusals = 5

// Kinds of tasks, which are the purposes of their calls.
const (
	jobExtract = "extract"
	jobSummary = "summary"
)

// Classes of errors of parked jobs.
const (
	classContract = "contract"
	classRefused  = "refused"
	classTooLong  = "too_long"
	classSecret   = "secret"
	classCrashed  = "crashed"
)

// failure is what is kept of a parked job, as JSON in its LastError.
type failure struct {
	Message string `json:"message"`
	// Answer of the model, bounded and without secrets.
	Answer string `json:"answer,omitempty"`
}

// task is something to ask the model. Tasks follow from the notes and from what is derived: only one that fails for good is kept, as the
// parked job that it has.
type task struct {
	store.Job
	run func(ctx context.Context) error
}

// id tells tasks apart.
func (t task) id() string { return t.Kind + " " + t.Key }

// setback is what is remembered of a task that has failed on the way or was refused: since when, until when it waits, and how often it was
// refused.
type setback struct {
	since, until time.Time
	refusals     int
}

// asksModel reports whether a model derives.
func (s *Service) asksModel() bool { return s.opt.Model != nil && s.opt.MaxTokensPerDay > 0 }

// byModel does the tasks that there are, each once, until there are none, or the breaker keeps the model from being asked. Notes that change
// meanwhile are read by rule between two tasks.
func (s *Service) byModel(ctx context.Context, o passOptions) error {
	if !s.asksModel() {
		return nil
	}
	if o.now {
		s.remember(func(st *state) { st.setbacks = map[string]setback{} })
	}
	begun, done := map[string]bool{}, 0
	for {
		tasks, err := s.tasks(ctx, o, begun)
		if st := s.recall(); err == nil && len(tasks) == 0 && len(st.setbacks) == 0 && st.breaker.allows(s.opt.Now()) {
			return s.store.SetProblem(ctx, "", time.Time{})
		}
		if err != nil || len(tasks) == 0 {
			return err
		}
		for _, t := range tasks {
			begun[t.id()] = true
			if err := s.settle(ctx, t, s.attempt(ctx, t)); err != nil {
				return err
			}
			done++
			o.tell(unit.StepModel, done, 0, fmt.Sprintf("did %d jobs of the model", done))
			if err := errors.Join(s.resolveSlots(ctx, passOptions{}), s.meanwhile(ctx)); err != nil {
				return err
			}
			if b := s.recall().breaker; !b.allows(s.opt.Now()) {
				o.tell(unit.StepModel, done, 0, b.problem)
				return nil
			}
		}
	}
}

// tasks returns what the model can be asked now, without what this pass has begun: what it is to read, and if there is nothing, what it is
// to sum up.
func (s *Service) tasks(ctx context.Context, o passOptions, begun map[string]bool) (all []task, err error) {
	if b := s.recall().breaker; !b.allows(s.opt.Now()) {
		o.tell(unit.StepModel, 0, 0, b.problem)
		return nil, nil
	}
	parked, err := s.parkedJobs(ctx)
	if err != nil {
		return nil, err
	}
	for _, list := range []func(context.Context, passOptions, map[string]store.Job) ([]task, error){s.extractTasks, s.summaryTasks} {
		all, err = list(ctx, o, parked)
		if err = errors.Join(err, s.resolveSlots(ctx, passOptions{})); err != nil {
			return nil, err
		}
		now := s.opt.Now()
		s.remember(func(st *state) {
			all = slices.DeleteFunc(all, func(t task) bool { return begun[t.id()] || now.Before(st.setbacks[t.id()].until) })
		})
		if len(all) > 0 {
			break
		}
	}
	return all, nil
}

// parkedJobs returns the parked jobs by the ids of their tasks.
func (s *Service) parkedJobs(ctx context.Context) (map[string]store.Job, error) {
	list, err := s.store.Parked(ctx, 1000)
	parked := map[string]store.Job{}
	for _, j := range list {
		parked[task{Job: j}.id()] = j
	}
	return parked, err
}

// meanwhile reads by rule what has changed since the pass began.
func (s *Service) meanwhile(ctx context.Context) error {
	select {
	case <-s.wake:
		return s.byRule(ctx, passOptions{})
	default:
		return nil
	}
}

// attempt does a task. What crashes on it is an *invalidError, so that it does not crash on it again and again.
func (s *Service) attempt(ctx context.Context, t task) (err error) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("derive: a task has crashed", "task", t.id(), "panic", v, "stack", string(debug.Stack()))
			err = &invalidError{class: classCrashed, err: fmt.Errorf("panic: %.200v", v)}
		}
	}()
	return t.run(ctx)
}

// settle draws the consequences of the outcome of a task. Its error is one of the store, or that ctx has ended.
func (s *Service) settle(ctx context.Context, t task, err error) error {
	now := s.opt.Now()
	var invalid *invalidError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		s.remember(func(st *state) {
			st.breaker.failures = 0
			delete(st.setbacks, t.id())
		})
		return errors.Join(s.store.SetProblem(ctx, "", time.Time{}), s.store.Unpark(ctx, t.ID))
	case errors.As(err, &invalid):
		return s.park(ctx, t, invalid)
	case errors.Is(err, errBudget) || llm.KindOf(err) == llm.KindBudget:
		until := s.nextBudget(ctx, now)
		s.remember(func(st *state) { st.breaker.exhaust(until, err.Error()+", until "+until.Format("2006-01-02 15:04")) })
		return nil
	}
	back := s.setBack(t, now, err)
	next := s.recall().breaker
	s.log.Warn(fmt.Sprintf("derive: the model was not reached: %s; it is asked again after %s; kioku derive status tells more", inWords(err),
		next.until.Format("2006-01-02 15:04")))
	if err := s.store.SetProblem(ctx, next.problem, next.until); err != nil {
		return err
	}
	if back.refusals >= maxRefusals {
		return s.park(ctx, t, &invalidError{class: classRefused, err: err})
	}
	return nil
}

// setBack lets a task wait until the server is to be asked again, or half as long again as it has waited, and then behind those that have
// not failed, so that it holds up no others. A failure at the server or on the way to it is no refusal.
func (s *Service) setBack(t task, now time.Time, err error) (back setback) {
	s.remember(func(st *state) {
		until := st.breaker.fail(now, err)
		back = st.setbacks[t.id()]
		if back.since.IsZero() {
			back.since = now
		}
		if own := now.Add(min(now.Sub(back.since)/2, longestPause)); own.After(until) {
			until = own
		}
		back.until = until.Add(tick) // the others are due at the next tick
		if isRefused(err) {
			back.refusals++
		}
		st.setbacks[t.id()] = back
	})
	return back
}

// park leaves a task to people.
func (s *Service) park(ctx context.Context, t task, invalid *invalidError) error {
	raw, err := json.Marshal(failure{Message: invalid.Error(), Answer: invalid.answer})
	if err != nil {
		return err
	}
	t.ErrorClass, t.LastError = invalid.class, string(raw)
	if len(invalid.episodes) > 0 {
		t.Input = episodesInput(invalid.episodes)
	}
	s.remember(func(st *state) { delete(st.setbacks, t.id()) })
	return s.store.Park(context.WithoutCancel(ctx), t.Job)
}

// failureOf returns what is kept of a parked job.
func failureOf(job store.Job) failure {
	var f failure
	if json.Unmarshal([]byte(job.LastError), &f) != nil {
		f.Message = job.LastError
	}
	return f
}

// kindWords are the kinds of errors of a model in words.
var kindWords = map[string]string{
	llm.KindOverflow: "what it was asked is too long for it", llm.KindRateLimit: "it takes no more requests now, or no money is left",
	llm.KindAuth: "its key is missing or wrong", llm.KindInput: "it refuses what it was asked",
	llm.KindUnavailable: "it is away or overloaded", llm.KindAnswer: "its answer cannot be read",
}

// inWords returns an error for the log: of a model only its kind, since servers repeat what they were told. Status tells the rest.
func inWords(err error) string {
	if kind := llm.KindOf(err); kind != "" {
		return cmp.Or(kindWords[kind], kind)
	}
	return err.Error()
}

// isRefused reports whether a server was reached, and takes or answers this request never.
func isRefused(err error) bool {
	kind := llm.KindOf(err)
	return !needsPerson(err) && (kind == llm.KindInput || kind == llm.KindAnswer)
}

// nextBudget returns when there is budget again: with the next hour if only its calls are used up, else with the next day.
func (s *Service) nextBudget(ctx context.Context, now time.Time) time.Time {
	stats, err := s.store.Stats(context.WithoutCancel(ctx), now)
	if err == nil && stats.CallsThisHour >= s.opt.MaxCallsPerHour {
		return now.Truncate(time.Hour).Add(time.Hour)
	}
	return nextDay(now)
}

const (
	// firstPause and longestPause bound the pause after calls that failed; it doubles with each failure in a row.
	firstPause, longestPause = 5 * time.Second, time.Hour
	// refusedPause is the pause after a failure that only a person can mend.
	refusedPause = time.Hour
)

// breaker keeps a model from being asked that fails or is too dear. The zero value lets it be asked.
type breaker struct {
	// until is the end of the pause, and problem why there is one, for people.
	until   time.Time
	problem string
	// failures in a row; exhausted reports that the pause is for the budget.
	failures  int
	exhausted bool
}

// allows reports whether the model may be asked.
func (b *breaker) allows(now time.Time) bool { return !now.Before(b.until) }

// reset lets the model be asked again at once.
func (b *breaker) reset() { *b = breaker{} }

// fail begins a pause after a call that failed for a reason that lies not in what was asked. It returns its end.
func (b *breaker) fail(now time.Time, err error) time.Time {
	pause := min(firstPause<<min(b.failures, 20), longestPause)
	b.failures++
	b.exhausted, b.problem = false, err.Error()
	if e, ok := errors.AsType[*llm.Error](err); ok {
		pause = max(pause, e.RetryAfter)
	}
	if needsPerson(err) {
		pause = refusedPause
		b.problem = fmt.Sprintf("%v; mend it and run kioku derive run", err)
	}
	b.until = now.Add(pause)
	return b.until
}

// exhaust begins a pause until there is budget again.
func (b *breaker) exhaust(until time.Time, problem string) {
	b.until, b.problem, b.exhausted = until, problem, true
}

// needsPerson reports whether an error stays until a person does something: the key is wrong, or there is no money left.
func needsPerson(err error) bool {
	if llm.KindOf(err) == llm.KindAuth {
		return true
	}
	e, ok := errors.AsType[*modelhttp.Error](err)
	return ok && e.Class.Terminal()
}
