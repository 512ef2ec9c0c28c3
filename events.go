package kioku

import (
	"context"
	"sync"
)

// eventBuffer is how many events a subscriber may lag behind before it loses some.
const eventBuffer = 256

// events hands every event to all subscribers.
type events struct {
	mu   sync.Mutex
	subs map[chan Event]struct{} // guarded by mu
	done bool                    // guarded by mu
}

// publish never blocks: a subscriber whose buffer is full misses the event.
func (e *events) publish(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for ch := range e.subs {
		select {
		case ch <- ev:
		default:
		}
	}
}

// subscribe returns a channel that is closed when ctx is done or the memory is closed.
func (e *events) subscribe(ctx context.Context) <-chan Event {
	ch := make(chan Event, eventBuffer)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done {
		close(ch)
		return ch
	}
	if e.subs == nil {
		e.subs = make(map[chan Event]struct{})
	}
	e.subs[ch] = struct{}{}
	context.AfterFunc(ctx, func() { e.drop(ch) })
	return ch
}

// drop ends one subscription.
func (e *events) drop(ch chan Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.subs[ch]; ok {
		delete(e.subs, ch)
		close(ch)
	}
}

// close ends all subscriptions.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.done = true
	for ch := range e.subs {
		delete(e.subs, ch)
		close(ch)
	}
}
