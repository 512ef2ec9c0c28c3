package server_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"kioku/internal/testkit"
	kiokuv1 "kioku/proto/kioku/v1"
)

// anyCall makes one of the calls of a memory and returns its error and the key of the note that it appended, if it did.
func anyCall(ctx context.Context, client kiokuv1.MemoryServiceClient, round int, r *rand.Rand) (key string, err error) {
	switch r.IntN(6) {
	case 0:
		key = fmt.Sprintf("note-%d", round)
		_, err = client.MemoryAppend(ctx, &kiokuv1.MemoryAppendRequest{Agent: "main", Text: key + " is written down.", IdempotencyKey: key})
	case 1:
		_, err = last(client.Sync(ctx, &kiokuv1.SyncRequest{Agent: "main", Verify: true}))
	case 2:
		_, err = last(client.Sync(ctx, &kiokuv1.SyncRequest{Agent: "main", Prune: true}))
	case 3:
		_, err = client.MemoryGet(ctx, &kiokuv1.MemoryGetRequest{Agent: "main", Path: "MEMORY.md"})
	case 4:
		_, err = client.Status(ctx, &kiokuv1.StatusRequest{Agent: "main"})
	default:
		_, err = client.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: "main", Query: "boiler green tea", Explain: true})
	}
	return key, err
}

// Hazard D15: calls that are canceled at any point leave no goroutine and no half-written index, and the connection goes on.
func TestCallsCanceledAtAnyPointLeaveNothing(t *testing.T) {
	client, workspace := engine(t, notes)
	if _, err := last(client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main"})); err != nil {
		t.Fatal(err)
	}
	const seed = 15
	r := rand.New(rand.NewPCG(seed, seed))
	goroutines := runtime.NumGoroutine()
	var kept []string
	for round := range testkit.Rounds(1000, 60) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.Int64N(int64(8*time.Millisecond))))
		if r.IntN(2) == 0 {
			time.AfterFunc(time.Duration(r.Int64N(int64(4*time.Millisecond))), cancel)
		}
		key, err := anyCall(ctx, client, round, r)
		cancel()
		switch code := status.Code(err); {
		case code == codes.OK && key != "":
			kept = append(kept, key)
		case code != codes.OK && code != codes.Canceled && code != codes.DeadlineExceeded:
			t.Fatalf("seed %d, round %d: %v", seed, round, err)
		}
	}
	report, err := last(client.Sync(t.Context(), &kiokuv1.SyncRequest{Agent: "main", Verify: true}))
	if err != nil || len(report.GetReport().GetDegraded()) > 0 {
		t.Errorf("seed %d: the sync afterwards: %v, %v", seed, report, err)
	}
	written := daily(t, workspace)
	for _, key := range kept {
		if n := strings.Count(written, key+" is written down."); n != 1 {
			t.Errorf("seed %d: the acknowledged note %s is there %d times", seed, key, n)
		}
	}
	resp, err := client.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Agent: "main", Query: "who repaired the boiler?"})
	if err != nil || len(resp.GetResults()) == 0 {
		t.Errorf("seed %d: the search afterwards: %v, %v", seed, resp, err)
	}
	eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+3 })
}

// daily returns the text of all notes of days.
func daily(t *testing.T, workspace string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(workspace, "memory", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// usage is what a process may leak.
type usage struct {
	files, goroutines int
	heap              uint64
}

func usageNow(t *testing.T) usage {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{len(open), runtime.NumGoroutine(), m.HeapAlloc}
}

// Hazard G04: connections, calls, streams and rebuilds leave no open file, no goroutine and no memory behind.
func TestServingLeaksNothing(t *testing.T) {
	client, _ := engine(t, notes)
	addr := onTCP(t, agents(&fakeMemory{}))
	r := rand.New(rand.NewPCG(4, 4))
	round := func(i int) {
		conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials())) // dial would remember it
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kiokuv1.NewMemoryServiceClient(conn).ListAgents(t.Context(), &kiokuv1.ListAgentsRequest{}); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := client.WatchEvents(ctx, &kiokuv1.WatchEventsRequest{Agent: "main"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Header(); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if _, err := anyCall(t.Context(), client, i%10, r); err != nil { // keys that come again, so that the notes stay few
				t.Fatal(err)
			}
		}
		cancel()
	}
	for i := range 20 {
		round(i)
	}
	before := usageNow(t)
	rounds := testkit.Rounds(2000, 40)
	for i := range rounds {
		round(i)
	}
	var after usage
	eventually(t, func() bool {
		after = usageNow(t)
		return after.files <= before.files+4 && after.goroutines <= before.goroutines+6
	})
	if after.heap > before.heap+8<<20 {
		t.Errorf("after %d rounds the heap has %d bytes, before %d", rounds, after.heap, before.heap)
	}
	t.Logf("before %+v, after %+v", before, after)
}
