package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/internal/testkit"
	kiokuv1 "kioku/proto/kioku/v1"
)

var residentLine = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// resident returns how many MB a process has in memory.
func resident(t *testing.T, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		t.Skip(err)
	}
	kb, err := strconv.Atoi(residentLine.FindStringSubmatch(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return float64(kb) / 1000
}

// Hazard D12: 256 large requests at once take a bounded amount of memory, which is given back.
func TestServeGivesMemoryBackAfterAStorm(t *testing.T) {
	if !testkit.Soak() {
		t.Skip("takes half a minute; make soak runs it")
	}
	s := newSandbox(t, notes())
	s.env = append(s.env, "GOGC=100", "GOMEMLIMIT=off")
	p, address := s.serve()
	pid := p.cmd.Process.Pid
	conn, client := dial(t, address)
	sidecar := kiokuv1.NewAgentServiceClient(conn)
	small := &kiokuv1.MemorySearchRequest{Agent: "main", Query: "boiler"}
	for range 50 {
		if _, err := client.MemorySearch(t.Context(), small); err != nil {
			t.Fatal(err)
		}
	}
	before := resident(t, pid)
	large := &kiokuv1.PruneRequest{Agent: "main"}
	for i := range 300 {
		large.Messages = append(large.Messages, &kiokuv1.ChatMessage{Id: fmt.Sprint(i), Role: "user", Text: strings.Repeat("x", 10_000)})
	}
	peak := before
	done := make(chan struct{})
	var running sync.WaitGroup
	for range 256 {
		running.Go(func() {
			if _, err := sidecar.Prune(t.Context(), large); err != nil && status.Code(err) != codes.ResourceExhausted {
				t.Error(err)
			}
		})
	}
	go func() { running.Wait(); close(done) }()
	for waiting := true; waiting; {
		select {
		case <-done:
			waiting = false
		case <-time.After(5 * time.Millisecond):
			peak = max(peak, resident(t, pid))
		}
	}
	after := resident(t, pid)
	for end := time.Now().Add(20 * time.Second); after > 1.2*before && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		after = resident(t, pid)
	}
	t.Logf("before %.0f MB, at most %.0f MB, after %.0f MB", before, peak, after)
	if after > 1.2*before || peak > before+400 {
		t.Error("the storm costs too much memory")
	}
}
