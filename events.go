package kioku

import (
	"context"
	"sync"
	"time"

	"kioku/indexer"
)

// EventsLost is the kind of the last event of a subscriber that did not keep up.
const EventsLost = "events_lost"

// maxLag is how many events a subscriber may lag behind.
const maxLag = 4096

// Event is something that happened to the index.
type Event struct {
	indexer.Event
	// Generation of the index after the event; it increases with every committed change.
	Generation int64
}

// events hands every event to all subscribers.
type events struct {
	closing <-chan struct{} // ends all subscriptions
	mu      sync.Mutex
	subs    map[*subscriber]struct{} // guarded by mu
}

// subscriber is the backlog of one reader. It takes no room while the reader keeps up.
type subscriber struct {
	wake    chan struct{} // has room for one notice that the backlog is not empty
	backlog []Event       // guarded by events.mu
}

// publish never blocks. A subscriber that lags too far behind gets EventsLost, and no events any more.
func (e *events) publish(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for s := range e.subs {
		next := ev
		if len(s.backlog) >= maxLag {
			delete(e.subs, s)
			next.Event = indexer.Event{Kind: EventsLost, Text: "events were lost because they were not read in time; subscribe again", Time: time.Now()}
		}
		s.backlog = append(s.backlog, next)
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// subscribe returns a channel that is closed when ctx is done, the memory is closed or the reader lags too far behind.
func (e *events) subscribe(ctx context.Context) <-chan Event {
	s, out := &subscriber{wake: make(chan struct{}, 1)}, make(chan Event)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.subs == nil {
		e.subs = map[*subscriber]struct{}{}
	}
	e.subs[s] = struct{}{}
	go func() {
		defer close(out)
		e.deliver(ctx, s, out)
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.subs, s)
	}()
	return out
}

// deliver sends the events of a subscriber until there are no more.
func (e *events) deliver(ctx context.Context, s *subscriber, out chan<- Event) {
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		case <-e.closing:
			return
		}
		e.mu.Lock()
		backlog := s.backlog
		s.backlog = nil
		e.mu.Unlock()
		for _, ev := range backlog {
			select {
			case out <- ev:
			case <-ctx.Done():
				return
			case <-e.closing:
				return
			}
			if ev.Kind == EventsLost {
				return
			}
		}
	}
}
