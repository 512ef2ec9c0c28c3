package indexer

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const second = time.Second

func TestDebounceRefusesTooManyPaths(t *testing.T) {
	t.Parallel()
	d := newDebounce(second, 10*second)
	t0 := time.Unix(0, 0)
	for i := range maxWaiting {
		if !d.touch(fmt.Sprint(i), t0) {
			t.Fatalf("refused path %d", i)
		}
	}
	if d.touch("one more", t0) || !d.touch("7", t0) {
		t.Error("the limit is on new paths, and on them alone")
	}
	d.clear()
	if !d.touch("one more", t0) {
		t.Error("refused after clear")
	}
}

// Hazards B07, G06: whatever happens, a path is handed out after its rest or the longest wait, never before, never twice.
func TestDebounceKeepsItsTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const rest, most = 1500 * time.Millisecond, 10 * time.Second
		d := newDebounce(rest, most)
		now := time.Unix(0, 0)
		waits := map[string]span{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) * time.Millisecond)
			// The caller calls takeDue at least as often as wake asks for.
			for _, p := range d.takeDue(now) {
				s, ok := waits[p]
				if !ok {
					t.Fatalf("%s was not waiting", p)
				}
				if now.Sub(s.last) < rest && now.Sub(s.first) < most {
					t.Fatalf("%s is early: %v after the last change, %v after the first", p, now.Sub(s.last), now.Sub(s.first))
				}
				delete(waits, p)
			}
			for p, s := range waits {
				// Calls come up to 400 ms apart, and bursts are gathered for a fifteenth of the rest.
				if late := 400*time.Millisecond + rest/15; now.Sub(s.first) > most+late || now.Sub(s.last) > rest+late {
					t.Fatalf("%s is late: %v after the last change, %v after the first", p, now.Sub(s.last), now.Sub(s.first))
				}
			}
			if len(waits) > 0 != !d.wake.IsZero() {
				t.Fatalf("%d wait, wake %v", len(waits), d.wake)
			}
			if rapid.Bool().Draw(t, "touch") {
				p := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "path")
				s, ok := waits[p]
				if !ok {
					s.first = now
				}
				s.last = now
				waits[p] = s
				d.touch(p, now)
			}
		}
	})
}
