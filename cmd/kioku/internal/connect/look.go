package connect

import (
	"context"
	"errors"
	"fmt"

	"kioku"
	"kioku/cmd/kioku/config"
)

// DaemonError is why a daemon that listens cannot be used.
type DaemonError struct {
	// Err is the cause.
	Err error
}

// Error returns what is wrong with the daemon.
func (e *DaemonError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DaemonError) Unwrap() error { return e.Err }

// Look runs f with a client of the daemon that serves the memory, else with one that reads the index. It creates and changes nothing:
// if there is no index yet, f gets nil. An error about the daemon is a *DaemonError; then, and if the index cannot be opened, f is not called.
func (k *Connector) Look(ctx context.Context, f func(*Client) error) error {
	w, err := k.here()
	if err != nil {
		return err
	}
	c, err := k.daemon(ctx, w, ToSearch)
	if err != nil {
		return &DaemonError{err}
	}
	if c == nil {
		if c, err = k.look(ctx, w); err != nil {
			return err
		}
	}
	if c == nil {
		return f(nil)
	}
	if err := f(c); err != nil {
		return errors.Join(err, c.close())
	}
	if err := c.close(); err != nil {
		return fmt.Errorf("close the index: %w", err)
	}
	return nil
}

// look opens the index to read; it returns nil if there is none.
func (k *Connector) look(ctx context.Context, w wanted) (*Client, error) {
	if w.place.Workspace == "" {
		return nil, config.ErrNoWorkspace
	}
	state, err := k.Conf.StateOf(ctx, w.place.Agent, w.place.Workspace)
	if err != nil {
		return nil, err
	}
	if of, err := kioku.IndexedWorkspace(ctx, state, w.place.Agent); err != nil || of == "" {
		return nil, err
	}
	return k.open(ctx, w, ToSearch, kioku.ReadOnly)
}
