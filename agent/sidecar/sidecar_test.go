package sidecar_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"kioku/agent/bootstrap"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/internal/testkit"
	"kioku/memory"
)

// noon is the moment of all turns.
var noon = time.Date(2026, 3, 2, 12, 5, 0, 0, time.UTC)

// notes is a memory that a test writes and searches: every query finds its newest notes.
type notes struct {
	memory.Service // which has no Get
	err            error
	after          time.Duration // until a search answers
	deaf           bool          // to its context

	mu    sync.Mutex
	notes []memory.Note
	asked []memory.Query
}

// remembering returns a memory with some notes.
func remembering(texts ...string) *notes {
	m := &notes{}
	for _, text := range texts {
		m.notes = append(m.notes, memory.Note{Text: text})
	}
	return m
}

func (m *notes) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	m.mu.Lock()
	m.asked = append(m.asked, q)
	answer := memory.Answer{Mode: "keyword"}
	for i := len(m.notes) - 1; i >= 0 && len(answer.Hits) < q.MaxResults; i-- {
		answer.Hits = append(answer.Hits, memory.Hit{Path: "memory/2026-03-01.md", StartLine: i + 1, EndLine: i + 1, Score: 0.9, Snippet: m.notes[i].Text})
	}
	m.mu.Unlock()
	ended := ctx.Done()
	if m.deaf {
		ended = nil
	}
	select {
	case <-time.After(m.after):
		return answer, m.err
	case <-ended:
		return memory.Answer{}, ctx.Err()
	}
}

func (m *notes) Append(ctx context.Context, note memory.Note) (memory.Appended, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return memory.Appended{}, m.err
	}
	m.notes = append(m.notes, note)
	return memory.Appended{Path: "memory/2026-03-02.md", StartLine: len(m.notes)}, ctx.Err()
}

// among opens memories by the ids of agents.
func among(memories map[string]*notes) func(string) memory.Service {
	return func(id string) memory.Service { return memories[id] }
}

// options are those of an agent with a workspace, in which each file says its name, and a memory.
func options(t testing.TB, own *notes) sidecar.Options {
	t.Helper()
	workspace := t.TempDir()
	for _, name := range bootstrap.Names() {
		testkit.WriteFile(t, workspace, name, "text of "+name)
	}
	opt := sidecar.Options{
		Agent: "main", State: t.TempDir(), Key: []byte("secret"),
		Memories: among(map[string]*notes{"main": own}), Now: func() time.Time { return noon },
	}
	opt.Bootstrap.Workspace, opt.Skills.Workspace = workspace, workspace
	return opt
}

// start returns a sidecar.
func start(t testing.TB, opt sidecar.Options) *sidecar.Sidecar {
	t.Helper()
	s, err := sidecar.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNewRefusesContradictorySettings(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*sidecar.Options){
		"valid id": func(o *sidecar.Options) { o.Agent = "../other" },
		"state":    func(o *sidecar.Options) { o.State = "" },
		"memories": func(o *sidecar.Options) { o.Memories = nil },
		"softTrim": func(o *sidecar.Options) { o.Prune = prune.Defaults(); o.Prune.SoftTrim.Head = -1 },
	} {
		opt := options(t, remembering())
		change(&opt)
		if _, err := sidecar.New(opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	opt := options(t, remembering())
	opt.Agent = "A"
	if _, err := sidecar.New(opt); !errors.Is(err, session.ErrID) {
		t.Errorf("%v", err)
	}
}
