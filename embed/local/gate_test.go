package local

import (
	"context"
	"testing"
	"testing/synctest"
)

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
