package server_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

// Hazard C08: calls under way end when their token goes, or loses the agent or the right that they use, and no others do.
func TestCallsEndWhenTheirTokenLosesItsRights(t *testing.T) {
	t.Parallel()
	sync := func(ctx context.Context, _ kioku.SyncOptions, _ func(indexer.Progress)) (kioku.SyncReport, error) {
		<-ctx.Done()
		return kioku.SyncReport{}, ctx.Err()
	}
	search := func(ctx context.Context, _ memory.Query) (memory.Answer, error) {
		<-ctx.Done()
		return memory.Answer{}, ctx.Err()
	}
	ann, bob := &fakeMemory{events: make(chan kioku.Event), sync: sync, search: search}, &fakeMemory{events: make(chan kioku.Event), sync: sync}
	opt := server.Options{Agents: map[string]server.Memory{"ann": ann, "bob": bob}, SearchTimeout: time.Hour}
	path := writeTokens(t, "", "tokens:\n"+tokenLine("gone", "gone", "ann", false)+tokenLine("less", "less", "[ann, bob]", true)+tokenLine("same", "same", "ann", false))
	var err error
	if opt.Tokens, err = server.OpenTokens(path, nil); err != nil {
		t.Fatal(err)
	}
	client := kiokuv1.NewMemoryServiceClient(dial(t, onTCP(t, opt)))
	watch := func(token, agent string) func() error {
		stream, err := client.WatchEvents(with(t, token), &kiokuv1.WatchEventsRequest{Agent: agent})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Header(); err != nil {
			t.Fatal(err)
		}
		return func() error { _, err := stream.Recv(); return err }
	}
	rebuild, err := client.Sync(with(t, "less"), &kiokuv1.SyncRequest{Agent: "ann", Prune: true})
	if err != nil {
		t.Fatal(err)
	}
	searched := make(chan error, 1)
	go func() {
		_, err := client.MemorySearch(with(t, "gone"), &kiokuv1.MemorySearchRequest{Agent: "ann", Query: "tea"})
		searched <- err
	}()
	gone, lost, kept, same := watch("gone", "ann"), watch("less", "bob"), watch("less", "ann"), watch("same", "ann")

	writeTokens(t, path, "tokens:\n"+tokenLine("less", "less", "[ann]", false)+tokenLine("same", "same", `"*"`, true))
	wantCode(t, gone(), codes.Unauthenticated)
	wantCode(t, <-searched, codes.Unauthenticated)
	wantCode(t, lost(), codes.PermissionDenied)
	_, err = rebuild.Recv()
	wantCode(t, err, codes.PermissionDenied)

	for range 2 {
		select {
		case ann.events <- kioku.Event{Event: indexer.Event{Kind: indexer.FileIndexed}}:
		case <-time.After(soon):
			t.Fatal("a stream has ended that may go on")
		}
	}
	close(ann.events)
	for _, next := range []func() error{kept, same} {
		err := next()
		for err == nil {
			err = next()
		}
		wantCode(t, err, codes.Unavailable) // as a memory that is closed
	}
}
