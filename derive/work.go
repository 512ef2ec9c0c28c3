package derive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"

	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/derive/view"
	"kioku/memory"
)

const (
	// tick is how often the worker looks for decisions and due jobs without a notice.
	tick = time.Minute
	// viewEvery and summaryEvery are how often views and summaries by rule are made at most while notes change.
	viewEvery    = 5 * time.Minute
	summaryEvery = 5 * time.Minute
	// expireEvery is how often loops expire.
	expireEvery = time.Hour
	// retryWait is the pause after a pass that failed.
	retryWait = time.Minute
)

// Work derives what notes and decisions say until ctx is done: after each Wake, and at the latest after a minute. It returns nil
// then. What fails is logged and tried again.
func (s *Service) Work(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
			if failed { // a failure is not repeated with each note that is saved
				continue
			}
		case <-timer.C:
		}
		err := s.pass(ctx, passOptions{})
		if failed = err != nil && ctx.Err() == nil; failed {
			s.log.Error("derive", "err", err)
		}
		pause := tick
		if failed {
			pause = retryWait
		}
		timer.Reset(pause)
	}
}

// Run derives what waits, now, and returns when nothing waits that can be done now. step, which may be nil, is told the progress. A
// model is also asked about files that have only just changed, and with all also about episodes older than 90 days. Runs wait
// for each other.
func (s *Service) Run(ctx context.Context, all bool, step func(unit.DeriveProgress)) error {
	if step == nil {
		step = func(unit.DeriveProgress) {}
	}
	s.remember(func(st *state) { st.breaker.reset() })
	if err := s.pass(ctx, passOptions{now: true, all: all, step: step}); err != nil {
		return err
	}
	step(unit.DeriveProgress{Step: unit.StepDone, Text: "nothing waits"})
	return nil
}

// ByRule is Run without the model. Summaries and views are made only if something was derived.
func (s *Service) ByRule(ctx context.Context) error {
	leave, err := enter(ctx, s.turn)
	if err != nil {
		return err
	}
	defer leave()
	o := passOptions{now: true}
	if err := s.byRule(ctx, o); err != nil || !s.recall().derived {
		return err
	}
	return s.makeViews(ctx, o)
}

// passOptions says how a pass is made.
type passOptions struct {
	// now does at once what the worker does after a while.
	now bool
	// all includes episodes of any age.
	all bool
	// step is told the progress; nil tells nobody.
	step func(unit.DeriveProgress)
}

// tell reports progress.
func (o passOptions) tell(step string, done, total int, text string) {
	if o.step != nil {
		o.step(unit.DeriveProgress{Step: step, Done: done, Total: total, Text: text})
	}
}

// pass does once what waits.
func (s *Service) pass(ctx context.Context, o passOptions) error {
	leave, err := enter(ctx, s.turn)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.byRule(ctx, o); err != nil {
		return err
	}
	modelErr := s.byModel(ctx, o)
	return errors.Join(modelErr, s.makeViews(ctx, o))
}

// byRule does what needs no model: decisions, episodes, claims and units.
func (s *Service) byRule(ctx context.Context, o passOptions) error {
	steps := []func(context.Context, passOptions) error{s.applyDecisions, s.cutFiles, s.claimByRule, s.resolveSlots, s.expireLoops}
	for _, step := range steps {
		if err := step(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// makeViews makes what is made of units: summaries by rule, and views.
func (s *Service) makeViews(ctx context.Context, o passOptions) error {
	now, st := s.opt.Now(), s.recall()
	if st.summariesStale && (o.now || now.Sub(st.summedAt) >= summaryEvery) {
		if err := s.summarize(ctx, now); err != nil {
			return err
		}
		s.remember(func(st *state) { st.summariesStale, st.summedAt = false, now })
	}
	if s.writesViews() && st.viewsStale && (o.now || now.Sub(st.viewedAt) >= viewEvery) {
		o.tell(unit.StepViews, 0, 0, "writing the views in "+s.opt.ViewDir+"/")
		return s.makePages(ctx, now)
	}
	return nil
}

// makePages writes the views. One call waits for another, so that what was read before a unit was forgotten is not written after it.
func (s *Service) makePages(ctx context.Context, now time.Time) error {
	leave, err := enter(ctx, s.viewing)
	if err != nil {
		return err
	}
	defer leave()
	err = s.writeViews(ctx)
	if ctx.Err() != nil {
		return err
	}
	s.viewsWritten(err, now)
	return nil
}

// viewsWritten notes that the views were written, or why not: that keeps nothing from being derived, and is tried again after viewEvery.
func (s *Service) viewsWritten(err error, now time.Time) {
	before, problem := s.recall().viewProblem, ""
	if err != nil {
		problem = fmt.Sprintf("the views are not written: %v; derive.export.dir names another folder, or none if it is empty", err)
	}
	if problem != "" && problem != before {
		s.log.Warn("derive: the views are not written", "err", err)
	}
	s.remember(func(st *state) { st.viewsStale, st.viewedAt, st.viewProblem = err != nil, now, problem })
}

// expireLoops archives loops that have expired, hourly.
func (s *Service) expireLoops(ctx context.Context, o passOptions) error {
	now := s.opt.Now()
	if !o.now && now.Sub(s.recall().expiredAt) < expireEvery {
		return nil
	}
	n, err := s.store.Expire(ctx, now)
	if err != nil {
		return err
	}
	if n > 0 {
		s.changed()
	}
	s.remember(func(st *state) { st.expiredAt = now })
	return nil
}

// maxViewUnits bounds the units that views show.
const maxViewUnits = 20_000

// writesViews reports whether views are written.
func (s *Service) writesViews() bool { return s.opt.ViewDir != "" }

// writeViews writes the views of what is derived now, unless that is nothing and there are none. Views that a person has edited are
// left alone, and named in the status.
func (s *Service) writeViews(ctx context.Context) error {
	ceiling := min(s.opt.ViewCeiling, memory.Private)
	in, err := viewUnits(ctx, s.store, ceiling)
	if err != nil {
		return err
	}
	in.Entities, err = s.store.Entities(ctx, store.EntityQuery{Limit: maxEntities, MaxSensitivity: ceiling, Relations: true})
	if err != nil {
		return err
	}
	files := view.Render(in)
	return s.withRoot(func(root *os.Root) error {
		if _, err := root.Lstat(s.opt.ViewDir); len(in.Units)+len(in.Withheld) == 0 && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		result, err := view.Write(root, s.opt.ViewDir, files)
		var edited []string
		for _, rel := range result.Edited {
			edited = append(edited, path.Join(s.opt.ViewDir, rel))
		}
		s.remember(func(st *state) { st.edited = edited })
		return err
	})
}

// unitLister lists units. *store.Store is one.
type unitLister interface {
	Units(ctx context.Context, q memory.UnitQuery) (memory.UnitList, error)
}

// viewUnits returns the units in whatever state below a ceiling, up to maxViewUnits, how many more there are, and how many above it: first
// those that hold, then those that are over.
func viewUnits(ctx context.Context, from unitLister, ceiling memory.Sensitivity) (in view.Input, err error) {
	in.Withheld = map[string]int{}
	for _, states := range [][]string{{memory.StateValidated, memory.StateConflict}, {memory.StateSuperseded, memory.StateArchived}} {
		for _, kind := range []string{memory.KindFact, memory.KindLoop, memory.KindSummary} {
			q := memory.UnitQuery{Kinds: []string{kind}, States: states, MaxSensitivity: ceiling}
			for shown := 0; ; {
				q.Limit = max(min(maxViewUnits-len(in.Units), 1000), 1) // 1 for the total
				list, err := from.Units(ctx, q)
				if err != nil {
					return in, err
				}
				if len(in.Units) < maxViewUnits {
					in.Units, shown = append(in.Units, list.Units...), shown+len(list.Units)
				}
				if q.After = list.Next; q.After == "" || len(in.Units) >= maxViewUnits {
					in.More += list.Total - shown
					if list.Withheld > 0 {
						in.Withheld[kind] += list.Withheld
					}
					break
				}
			}
		}
	}
	return in, nil
}
