package derive

import (
	"context"
	"time"
)

// writesViews reports whether views are written.
func (s *Service) writesViews() bool { return s.opt.ViewDir != "" && s.opt.StateDir != "" }

// writeViews writes the views of what is derived now.
func (s *Service) writeViews(ctx context.Context, now time.Time) error { return nil }
