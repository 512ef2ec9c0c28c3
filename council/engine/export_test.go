package engine

import "context"

// OpenInline opens an engine that performs slow actions where they are started, so that a test can end it at any point.
func OpenInline(o Options) (*Engine, error) {
	o.inline = true
	return Open(o)
}

// Pass looks at everything once.
func (e *Engine) Pass(ctx context.Context) error {
	_, err := e.pass(ctx)
	return err
}

// Quiet passes until nothing more is due now.
func (e *Engine) Quiet(ctx context.Context) error {
	for {
		select {
		case <-e.poke:
		default:
		}
		if err := e.Pass(ctx); err != nil {
			return err
		}
		if len(e.poke) == 0 {
			return nil
		}
	}
}

// Abandon releases what a process that is killed would release, without finishing anything.
func (e *Engine) Abandon() error { return e.f.Close() }
