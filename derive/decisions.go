package derive

import (
	"context"
	"fmt"
	"os"
	"time"

	"kioku/derive/decision"
	"kioku/derive/unit"
)

// reapplyEvery is how often decisions.md is applied although it has not changed: the index may have been replaced.
const reapplyEvery = time.Hour

// applyDecisions reads decisions.md, and applies it if it has changed since, or was not applied for a while.
func (s *Service) applyDecisions(ctx context.Context, o passOptions) error {
	leave, err := enter(ctx, s.deciding)
	if err != nil {
		return err
	}
	defer leave()
	return s.readDecisions(ctx, o.now)
}

// readDecisions is applyDecisions for who has the token of s.deciding. With always the file is applied even if it has not changed.
func (s *Service) readDecisions(ctx context.Context, always bool) error {
	var file decision.File
	err := s.withRoot(func(root *os.Root) (err error) {
		file, err = decision.Read(root)
		return err
	})
	if err != nil {
		return err
	}
	now, st, sum := s.opt.Now(), s.recall(), fmt.Sprintf("%x", file.SHA256)
	if !always && sum == st.decisionsSum && now.Sub(st.appliedAt) < reapplyEvery {
		return nil
	}
	if err := s.store.PutDecisions(ctx, file.Decisions); err != nil {
		return err
	}
	changed := sum != st.decisionsSum
	s.remember(func(st *state) {
		st.decisions, st.decisionsSum, st.appliedAt = file.Decisions, sum, now
		if changed {
			st.viewsStale = true
		}
	})
	return nil
}

// recordDecision appends a decision to decisions.md, applies the file, and makes anew what depends on it. It returns the line.
func (s *Service) recordDecision(ctx context.Context, d unit.Decision) (line string, err error) {
	leave, err := enter(ctx, s.deciding)
	if err != nil {
		return "", err
	}
	defer leave()
	d.Day = s.opt.Now().Format(time.DateOnly)
	err = s.withRoot(func(root *os.Root) (err error) {
		line, err = decision.Append(ctx, root, d)
		return err
	})
	if err != nil {
		return "", err
	}
	// What is written counts, so that a caller who goes away does not keep it from being applied.
	ctx = context.WithoutCancel(ctx)
	if err := s.readDecisions(ctx, true); err != nil {
		return line, err
	}
	if err := s.resolveSlots(ctx, passOptions{}); err != nil {
		return line, err
	}
	s.Wake()
	return line, nil
}
