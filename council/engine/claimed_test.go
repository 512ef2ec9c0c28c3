package engine_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/engine"
)

// A task is found at every moment of its claim, which moves it from the inbox to the discussions.
func TestTaskIsFoundWhileItIsClaimed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.vote(map[string]string{"ant": counciltest.Silent, "bee": counciltest.Silent, "cat": counciltest.Silent})
	reader, err := engine.Read(engine.Options{Folder: w.dir + "/council", Settings: w.set})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for n := range 40 {
		id := fmt.Sprintf("task_%d", n)
		if _, err := w.Submit(t.Context(), council.Task{ID: id, Title: "Buy a kettle"}); err != nil {
			t.Fatal(err)
		}
		var looks sync.WaitGroup
		for range 4 {
			looks.Go(func() {
				for {
					d, err := reader.Get(t.Context(), id)
					if err != nil {
						if errors.Is(err, engine.ErrNotFound) {
							t.Errorf("%s: %v", id, err)
						}
						return
					}
					if d.Status.Status != council.StatusPending {
						return
					}
				}
			})
		}
		w.settle()
		looks.Wait()
		if err := w.Cancel(t.Context(), id, "", council.Author{Kind: "owner"}); err != nil {
			t.Fatal(err)
		}
	}
}
