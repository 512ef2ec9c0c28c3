package main

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	kiokuv1 "kioku/proto/kioku/v1"
)

// Ends of sessions, hazard F06: messages that a client has only sent in CheckFlush are on disk when SIGTERM ends the daemon, and those of
// EndSession when it is killed. The next daemon stores what is worth keeping of them, if it has a model.
func TestServeStoresSessionsThatADaemonHasLeft(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, p *process, agents kiokuv1.AgentServiceClient, said []*kiokuv1.ChatMessage){
		"SIGTERM": func(t *testing.T, p *process, agents kiokuv1.AgentServiceClient, said []*kiokuv1.ChatMessage) {
			if _, err := agents.CheckFlush(t.Context(), &kiokuv1.CheckFlushRequest{Session: "s", Messages: said}); err != nil {
				t.Fatal(err)
			}
			p.terminates()
		},
		"kill -9": func(t *testing.T, p *process, agents kiokuv1.AgentServiceClient, said []*kiokuv1.ChatMessage) {
			if got, err := agents.EndSession(t.Context(), &kiokuv1.EndSessionRequest{Session: "s", Messages: said}); err != nil || got.GetOutcome() != kiokuv1.OutcomeKept {
				t.Fatalf("%v, %v", got, err)
			}
			p.signal(os.Kill)
			p.ends()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, map[string]string{"MEMORY.md": "# Memory\n"})
			p, address := s.serve()
			conn, _ := dial(t, address)
			leave(t, p, kiokuv1.NewAgentServiceClient(conn), []*kiokuv1.ChatMessage{{Id: "m1", Role: "user", Text: train}})
			if strings.Contains(s.days(), train) {
				t.Fatal("it is stored without a model")
			}
			p, _ = s.serve("--set", "llm.provider=echo")
			for begun := time.Now(); !strings.Contains(s.days(), train); time.Sleep(20 * time.Millisecond) {
				if time.Since(begun) > patience {
					t.Fatal("it is not stored")
				}
			}
			s.storesTrain(t, "the next daemon")
			p.terminates()
		})
	}
}

// The sidecar's port serves MemoryService too, by forwarding: an agent needs one address.
func TestAgentCommandServesTheMemoryToo(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	daemon, _ := s.serve()
	p, address := s.beside()
	_, memories := dial(t, address)
	found, err := memories.MemorySearch(t.Context(), &kiokuv1.MemorySearchRequest{Query: "boiler pressure"})
	if err != nil || len(found.GetResults()) == 0 {
		t.Errorf("%v, %v", found, err)
	}
	added, err := memories.MemoryAppend(t.Context(), &kiokuv1.MemoryAppendRequest{Text: "The heron is called Otto."})
	if err != nil || !strings.Contains(s.days(), "The heron is called Otto.") {
		t.Errorf("%v, %v", added, err)
	}
	stream, err := memories.Sync(t.Context(), &kiokuv1.SyncRequest{})
	messages := 0
	for ; err == nil; messages++ {
		_, err = stream.Recv()
	}
	if !errors.Is(err, io.EOF) || messages < 2 {
		t.Errorf("sync: %d messages, %v", messages, err)
	}
	p.terminates()
	daemon.terminates()
}
