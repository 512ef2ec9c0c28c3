package connect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/internal/filelock"
	"kioku/memory"
)

const (
	// yieldLook is how often a background daemon looks whether it is asked to end.
	yieldLook = 200 * time.Millisecond
	// yieldWait is how long a daemon waits for the end of the background daemon whose place it takes.
	yieldWait = 15 * time.Second
)

// TakeOver ends the background daemon of a memory, if one runs, so that a daemon that people start can have the index. Until release
// is called, no client starts another one. Clients join the new daemon by themselves.
func TakeOver(ctx context.Context, conf *config.Config, place config.Place) (release func(), err error) {
	b, err := BackgroundOf(ctx, conf, place)
	if err != nil || listens(b.Socket) != nil {
		return func() {}, err
	}
	ctx, cancel := context.WithTimeout(ctx, yieldWait)
	defer cancel()
	lock, err := b.lockStart(ctx)
	if err != nil {
		return func() {}, err
	}
	release = func() { _ = filelock.Unlock(lock) }
	if err := os.WriteFile(b.yield, nil, 0o600); err != nil {
		release()
		return func() {}, fmt.Errorf("ask the background daemon to end: %w", err)
	}
	defer os.Remove(b.yield)
	state, err := conf.StateOf(ctx, place.Agent, place.Workspace)
	for err == nil {
		var unlock func() error
		if unlock, err = kioku.LockIndex(state, place.Agent); err == nil {
			return release, unlock()
		}
		if !errors.Is(err, memory.ErrLocked) {
			break
		}
		select {
		case <-time.After(yieldLook):
			err = nil
		case <-ctx.Done():
		}
	}
	release()
	return func() {}, err
}

// AwaitTakeOver returns nil once another daemon takes the place of this one, which runs in the background, and an error if ctx ends.
func (b Background) AwaitTakeOver(ctx context.Context) error {
	look := time.NewTicker(yieldLook)
	defer look.Stop()
	for {
		if _, err := os.Stat(b.yield); err == nil {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
