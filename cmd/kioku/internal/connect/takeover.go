package connect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/internal/files"
	"kioku/memory"
)

const (
	// yieldLook is how often a background daemon looks whether its place is wanted.
	yieldLook = 200 * time.Millisecond
	// yieldWait is how long a command waits for a background daemon to end, with its running calls, and for clients that are
	// starting one.
	yieldWait = 25 * time.Second
)

// TakeOver ends the background daemon of a memory, if one runs, and tells so, so that a command can have the index. Until release
// is called, which is never nil, clients wait and start no other one; then they join a daemon that serves the memory by themselves.
func TakeOver(ctx context.Context, conf *config.Config, place config.Place, tell func(format string, args ...any)) (release func(), err error) {
	b, err := BackgroundOf(ctx, conf, place)
	if err != nil {
		return func() {}, err
	}
	ctx, cancel := context.WithTimeout(ctx, yieldWait)
	defer cancel()
	lock, err := b.lockStart(ctx)
	if err != nil {
		return func() {}, err
	}
	release = func() { _ = files.Unlock(lock) }
	state, err := conf.StateOf(ctx, place.Agent, place.Workspace)
	if err != nil {
		release()
		return func() {}, err
	}
	if listens(b.Socket) != nil || !kioku.OwnerOf(state, place.Agent).Daemon { // a command that answers others ends by itself
		return release, nil
	}
	tell("taking over from the daemon that kioku mcp started")
	if err := b.end(ctx, state, place.Agent); err != nil {
		release()
		return func() {}, err
	}
	return release, nil
}

// end has the daemon end, and waits until it has given up the index.
func (b Background) end(ctx context.Context, state, agent string) error {
	yield, err := os.OpenFile(b.yield, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("ask the background daemon to end: %w", err)
	}
	if err := files.Lock(ctx, yield); err != nil {
		yield.Close()
		return fmt.Errorf("ask the background daemon to end: %w", err)
	}
	defer func() { _ = files.Unlock(yield) }()
	for {
		unlock, err := kioku.LockIndex(state, agent)
		if err == nil {
			return unlock()
		}
		if !errors.Is(err, memory.ErrLocked) {
			return err
		}
		select {
		case <-time.After(yieldLook / 4):
		case <-ctx.Done():
			return fmt.Errorf("the background daemon does not end: %w; end that process, its log is %s", err, b.Log)
		}
	}
}

// AwaitTakeOver returns nil once a command takes the place of this daemon, which runs in the background, and an error if ctx ends.
func (b Background) AwaitTakeOver(ctx context.Context) error {
	look := time.NewTicker(yieldLook)
	defer look.Stop()
	for !b.wanted() {
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// wanted reports whether somebody wants the place of the daemon. Whoever has died wants nothing any more.
func (b Background) wanted() bool {
	yield, err := os.Open(b.yield)
	if err != nil {
		return false // nobody has ever wanted it
	}
	defer yield.Close()
	if err := files.TryLock(yield); err != nil {
		return errors.Is(err, files.ErrHeld)
	}
	_ = files.Unlock(yield) // closing it unlocks it too
	return false
}
