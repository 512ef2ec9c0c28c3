package kioku

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"kioku/indexer"
)

// publishAll publishes n events with different paths.
func publishAll(e *events, n int) {
	for i := range n {
		e.publish(Event{Event: indexer.Event{Kind: indexer.FileIndexed, Path: fmt.Sprint(i)}})
	}
}

// Hazard D12: a subscriber that does not read costs a bounded backlog, and its last event says that some were lost.
func TestSubscribeEndsAReaderThatDoesNotKeepUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e events
		slow := e.subscribe(t.Context())
		publishAll(&e, 3*maxLag)
		if len(e.subs) != 0 {
			t.Error("the slow reader is still subscribed")
		}
		var last Event
		n := 0
		for last = range slow {
			if n++; n <= maxLag && last.Path != fmt.Sprint(n-1) {
				t.Fatalf("event %d is %+v", n, last)
			}
		}
		if last.Kind != EventsLost || n > 2*maxLag+1 {
			t.Errorf("the last of %d events is %+v", n, last)
		}
	})
}

func TestSubscribeDeliversABurstToAReaderThatKeepsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e events
		quick := e.subscribe(t.Context())
		for range 5 {
			publishAll(&e, maxLag/2)
			for i := range maxLag / 2 {
				if ev := <-quick; ev.Path != fmt.Sprint(i) {
					t.Fatalf("event %d is %+v", i, ev)
				}
			}
			synctest.Wait()
		}
	})
}

func TestSubscribeEndsWithItsContextAndWithTheMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closing := make(chan struct{})
		e := events{closing: closing}
		ctx, cancel := context.WithCancel(t.Context())
		canceled, open := e.subscribe(ctx), e.subscribe(t.Context())
		publishAll(&e, 3)
		synctest.Wait()
		cancel()
		synctest.Wait()
		if len(e.subs) != 1 {
			t.Errorf("%d subscribers are left, want 1", len(e.subs))
		}
		close(closing)
		for range canceled {
			t.Error("a canceled subscription has an event")
		}
		for range open {
		}
		if _, ok := <-e.subscribe(t.Context()); ok {
			t.Error("a closed memory has an event")
		}
	})
}
