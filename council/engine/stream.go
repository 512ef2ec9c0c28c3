package engine

import (
	"context"
	"iter"
	"sync"
	"time"
)

const (
	// maxReplay is how many events are kept for readers that come back.
	maxReplay = 1000
	// maxBehind is how many events a reader may be behind before it is dropped.
	maxBehind = 256
)

// stream passes events on to readers. A slow reader is dropped, it never holds the engine up.
type stream struct {
	mu      sync.Mutex
	last    uint64
	kept    []Event
	readers map[chan Event]bool
}

// newStream returns a stream whose ids begin at the time, so that they are higher than those of an earlier process.
func newStream(now time.Time) *stream {
	return &stream{last: uint64(max(0, now.UnixMilli())), readers: map[chan Event]bool{}}
}

// emit sends an event to all readers.
func (s *stream) emit(kind, task, member string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	ev := Event{ID: s.last, Type: kind, Task: task, Member: member, At: at}
	s.kept = append(s.kept, ev)
	if len(s.kept) > maxReplay {
		s.kept = append([]Event(nil), s.kept[len(s.kept)-maxReplay:]...)
	}
	for c := range s.readers {
		select {
		case c <- ev:
		default:
			delete(s.readers, c)
			close(c)
		}
	}
}

// join returns the events after an id and a channel with those to come, which is closed if the reader is too slow.
func (s *stream) join(after uint64) ([]Event, chan Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := make(chan Event, maxBehind)
	s.readers[c] = true
	if after == 0 {
		return nil, c
	}
	var old []Event
	if after > s.last || len(s.kept) == 0 && after < s.last || len(s.kept) > 0 && after+1 < s.kept[0].ID {
		old = append(old, Event{ID: s.last, Type: EventReset})
		if after > s.last {
			return old, c
		}
	}
	for _, ev := range s.kept {
		if ev.ID > after {
			old = append(old, ev)
		}
	}
	return old, c
}

// leave ends a reader.
func (s *stream) leave(c chan Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readers[c] {
		delete(s.readers, c)
		close(c)
	}
}

// Events returns the events after an id, at most 1,000 old ones and then those to come, until ctx ends or the reader is too far behind.
// After 0 there are only new ones. If events after the id were dropped, an EventReset comes first.
func (e *Engine) Events(ctx context.Context, after uint64) iter.Seq[Event] {
	old, live := e.stream.join(after)
	return func(yield func(Event) bool) {
		defer e.stream.leave(live)
		for _, ev := range old {
			if !yield(ev) {
				return
			}
		}
		for {
			select {
			case <-ctx.Done():
				return
			case ev, ok := <-live:
				if !ok || !yield(ev) {
					return
				}
			}
		}
	}
}
