package derive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/llm"
)

const (
	// lease is how long a job belongs to a worker that does not renew it.
	lease = 2 * time.Minute
	// maxTries is how often a job is taken, or refused by the server, before it is parked.
	maxTries = 5
)

// Kinds of jobs.
const (
	jobExtract = "extract"
	jobSummary = "summary"
)

// Classes of errors of parked jobs.
const (
	classContract    = "contract"
	classRefused     = "refused"
	classTooLong     = "too_long"
	classSecret      = "secret"
	classCrashLoop   = "crash_loop"
	classUnknownKind = "unknown_kind"
)

// failure is what is kept of a parked job, as JSON in its LastError.
type failure struct {
	Message string `json:"message"`
	// Answer of the model, bounded and without secrets.
	Answer string `json:"answer,omitempty"`
	// Episodes are the UIDs of those that failed.
	Episodes []string `json:"episodes,omitempty"`
}

// asksModel reports whether a model derives.
func (s *Service) asksModel() bool { return s.opt.Model != nil && s.opt.MaxTokensPerDay > 0 }

// byModel puts what the model should read into the queue and does the jobs that are due, until there are none. It returns at the first
// pause of the breaker.
func (s *Service) byModel(ctx context.Context, o passOptions) error {
	for done := 0; s.asksModel(); {
		if b := s.recall().breaker; !b.allows(s.opt.Now()) {
			o.tell(unit.StepModel, done, 0, b.problem)
			return nil
		}
		if err := errors.Join(s.enqueue(ctx, o), s.resolveSlots(ctx, passOptions{})); err != nil {
			return err
		}
		before := done
		if err := s.doJobs(ctx, o, &done); err != nil || done == before {
			return err
		}
	}
	return nil
}

// doJobs does the jobs that are due, and counts them in done. Notes that change meanwhile are read by rule between two jobs.
func (s *Service) doJobs(ctx context.Context, o passOptions, done *int) error {
	for {
		b := s.recall().breaker
		if !b.allows(s.opt.Now()) {
			return nil
		}
		job, err := s.store.Claim(ctx, s.owner, s.opt.Now(), lease, o.now)
		if err != nil || job == nil {
			return err
		}
		if err := s.doJob(ctx, *job); err != nil {
			return err
		}
		*done++
		o.tell(unit.StepModel, *done, 0, fmt.Sprintf("did %d jobs of the model", *done))
		if err := errors.Join(s.resolveSlots(ctx, passOptions{}), s.meanwhile(ctx)); err != nil {
			return err
		}
	}
}

// enqueue adds the jobs for what waits.
func (s *Service) enqueue(ctx context.Context, o passOptions) error {
	if err := s.enqueueExtracts(ctx, o); err != nil {
		return err
	}
	return s.enqueueSummaries(ctx)
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

// errLost is the cause of the end of a job whose lease another worker has.
var errLost = errors.New("another worker has the job")

// doJob does a job and writes what became of it. Its error is one of the store, or that ctx has ended; the job is back in the queue then.
func (s *Service) doJob(ctx context.Context, job store.Job) error {
	working, stop := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		s.renewLease(working, job.ID, stop)
	}()
	tokens, err := s.workOn(working, job)
	lost := errors.Is(context.Cause(working), errLost)
	stop(nil)
	<-renewed
	if lost {
		return ctx.Err()
	}
	job.TokensIn, job.TokensOut = job.TokensIn+tokens.in, job.TokensOut+tokens.out
	s.writeOutcome(ctx, &job, err)
	job.Owner = s.owner
	finished := s.store.Finish(context.WithoutCancel(ctx), job)
	return errors.Join(ctx.Err(), finished)
}

// renewLease extends the lease of a job until ctx ends. It ends the job if the lease is lost.
func (s *Service) renewLease(ctx context.Context, id int64, stop context.CancelCauseFunc) {
	t := time.NewTicker(lease / 3)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		ours, err := s.store.Renew(ctx, id, s.owner, s.opt.Now().Add(lease))
		if err == nil && !ours {
			stop(errLost)
			return
		}
	}
}

// workOn does what the kind of a job says.
func (s *Service) workOn(ctx context.Context, job store.Job) (used, error) {
	if job.Tries > maxTries {
		return used{}, &invalidError{class: classCrashLoop, answer: failureOf(job).Answer,
			err: fmt.Errorf("it was begun %d times and never ended: %s", job.Tries, failureOf(job).Message)}
	}
	switch job.Kind {
	case jobExtract:
		return s.extract(ctx, job)
	case jobSummary:
		return s.summaryJob(ctx, job)
	}
	return used{}, &invalidError{class: classUnknownKind, err: fmt.Errorf("%q is no kind of job of this version", job.Kind)}
}

// errOutdated is the error of a job whose input is gone, or that was made for another model.
var errOutdated = errors.New("nothing of what the job was for is left")

// writeOutcome says in a job what became of it.
func (s *Service) writeOutcome(ctx context.Context, job *store.Job, err error) {
	now := s.opt.Now()
	var invalid *invalidError
	var partly *partlyError
	switch {
	case err == nil:
		job.Status, job.ErrorClass, job.LastError = store.JobDone, "", ""
		s.remember(func(st *state) { st.breaker.failures = 0 })
	case ctx.Err() != nil:
		requeue(job, now)
	case errors.Is(err, errOutdated):
		job.Status, job.ErrorClass, job.LastError = store.JobDropped, "", ""
	case errors.As(err, &partly):
		park(job, partly.class, partly.failure)
	case errors.As(err, &invalid):
		park(job, invalid.class, failure{Message: invalid.Error(), Answer: invalid.answer})
	case errors.Is(err, errBudget) || llm.KindOf(err) == llm.KindBudget:
		until := s.nextBudget(ctx, now)
		s.remember(func(st *state) { st.breaker.exhaust(until, err.Error()+", until "+until.Format("2006-01-02 15:04")) })
		requeue(job, until)
	default:
		s.putBack(job, now, err)
	}
}

// logged returns an error for the log: of a model only its kind, since servers repeat what they were told. Status tells the rest.
func logged(err error) string {
	if kind := llm.KindOf(err); kind != "" {
		return fmt.Sprintf("%s; kioku derive status tells more", kind)
	}
	return err.Error()
}

// putBack puts a job back after a call that failed. What lies at the server or on the way to it uses up no try: the job waits until the
// server is to be asked again, or half as long again as it has waited, and then behind those that have not failed, so that it holds up
// no others. What the server refuses is parked after the last try.
func (s *Service) putBack(job *store.Job, now time.Time, err error) {
	var until time.Time
	s.remember(func(st *state) { until = st.breaker.fail(now, err) })
	s.log.Warn("derive: the model was not reached", "err", logged(err), "until", until)
	own, tries := now.Add(min(now.Sub(job.CreatedAt)/2, longestPause)), job.Tries
	if own.Before(until) {
		own = until
	}
	requeue(job, own.Add(tick)) // the others are due at the next tick
	if !isRefused(err) {
		return
	}
	if job.Tries = tries; tries >= maxTries {
		park(job, classRefused, failure{Message: err.Error()})
	}
}

// isRefused reports whether a server was reached, and takes or answers this request never.
func isRefused(err error) bool {
	kind := llm.KindOf(err)
	return !needsPerson(err) && (kind == llm.KindInput || kind == llm.KindAnswer)
}

// requeue puts a job back into the queue without counting the try.
func requeue(job *store.Job, at time.Time) {
	job.Status, job.RunAfter, job.Tries = store.JobQueued, at, max(job.Tries-1, 0)
}

// park leaves a job to people.
func park(job *store.Job, class string, f failure) {
	job.Status, job.ErrorClass, job.LastError = store.JobParked, class, failureJSON(f)
}

// failureJSON returns a failure as it is kept.
func failureJSON(f failure) string {
	raw, err := json.Marshal(f)
	if err != nil {
		return `{}`
	}
	return string(raw)
}

// failureOf returns what is kept of a failed job.
func failureOf(job store.Job) failure {
	var f failure
	if json.Unmarshal([]byte(job.LastError), &f) != nil {
		f.Message = job.LastError
	}
	return f
}

// nextBudget returns when there is budget again: with the next hour if only its calls are used up, else with the next day.
func (s *Service) nextBudget(ctx context.Context, now time.Time) time.Time {
	stats, err := s.store.Stats(context.WithoutCancel(ctx), now)
	if err == nil && stats.CallsThisHour >= s.opt.MaxCallsPerHour {
		return now.Truncate(time.Hour).Add(time.Hour)
	}
	return nextDay(now)
}
