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
	mu   sync.Mutex
	subs map[*subscriber]struct{} // guarded by mu
	// closed is made by the first subscriber, and closed with the memory.
	closed chan struct{}
	done   bool // guarded by mu
}

// subscriber is the backlog of one reader. It takes no room while the reader keeps up.
type subscriber struct {
	// wake has room for one notice that the backlog is not empty.
	wake chan struct{}

	mu      sync.Mutex
	backlog []Event // guarded by mu
	lost    bool    // guarded by mu
}

// publish never blocks. A subscriber that lags too far behind gets no events any more.
func (e *events) publish(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for s := range e.subs {
		if !s.add(ev) {
			delete(e.subs, s)
		}
	}
}

// add appends an event to the backlog. It returns false for the last one, EventsLost.
func (s *subscriber) add(ev Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.backlog) >= maxLag {
		s.lost = true
		ev = Event{Event: indexer.Event{
			Kind: EventsLost, Text: "events were lost because they were not read in time; subscribe again", Time: time.Now(),
		}, Generation: ev.Generation}
	}
	s.backlog = append(s.backlog, ev)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return !s.lost
}

// take returns the backlog and empties it. last is true if no event follows.
func (s *subscriber) take() (backlog []Event, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	backlog, s.backlog = s.backlog, nil
	return backlog, s.lost
}

// subscribe returns a channel that is closed when ctx is done, the memory is closed or the reader lags too far behind.
func (e *events) subscribe(ctx context.Context) <-chan Event {
	out := make(chan Event)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done {
		close(out)
		return out
	}
	if e.subs == nil {
		e.subs, e.closed = map[*subscriber]struct{}{}, make(chan struct{})
	}
	s := &subscriber{wake: make(chan struct{}, 1)}
	e.subs[s] = struct{}{}
	go func() {
		defer close(out)
		defer e.remove(s)
		e.deliver(ctx, s, out)
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
		case <-e.closed:
			return
		}
		backlog, last := s.take()
		for _, ev := range backlog {
			select {
			case out <- ev:
			case <-ctx.Done():
				return
			case <-e.closed:
				return
			}
		}
		if last {
			return
		}
	}
}

// remove ends one subscription.
func (e *events) remove(s *subscriber) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.subs, s)
}

// close ends all subscriptions.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.done && e.closed != nil {
		close(e.closed)
	}
	e.done = true
}
