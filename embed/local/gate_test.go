package local

import (
	"context"
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

// Queries go before documents: documents wait while a query is under way, and go on after the last one.
func TestDocumentsWaitForQueries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		if err := g.waitForQueries(t.Context()); err != nil {
			t.Fatal(err)
		}
		first, second := g.enterQuery(), g.enterQuery()
		done := make(chan error, 1)
		go func() { done <- g.waitForQueries(t.Context()) }()
		first()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("documents began while a query was under way")
		default:
		}
		second()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

func TestDocumentsThatWaitEndWithTheirCaller(t *testing.T) {
	var g gate
	defer g.enterQuery()()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.waitForQueries(ctx); err == nil {
		t.Error("no error")
	}
}
