package engine

import (
	"context"
	"time"
)

// paused returns the members and workers who are paused, with the end of the pause.
func (e *Engine) paused() map[string]time.Time { return nil }

func (e *Engine) sideWork(ctx context.Context, sooner func(time.Time)) error { return nil }
