package local

import (
	"testing"
	"testing/synctest"
	"time"
)

// While searches run, documents are computed with one thread, and none begins while a query is under way.
func TestGateLeavesTheProcessorsToSearches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g gate
		if n := g.threads(8); n != 8 {
			t.Errorf("%d threads before the first query", n)
		}
		leave := g.enterQuery()
		waited := make(chan time.Time, 1)
		go func() {
			if g.waitForQueries(t.Context()) == nil {
				waited <- time.Now()
			}
		}()
		time.Sleep(time.Second)
		leave()
		left := time.Now()
		if began := <-waited; began.Before(left) {
			t.Error("documents began while a query was under way")
		}
		if n := g.threads(8); n != 1 {
			t.Errorf("%d threads a second after a query", n)
		}
		time.Sleep(searchTime)
		if n := g.threads(8); n != 8 {
			t.Errorf("%d threads when nobody searches", n)
		}
	})
}
