package server

import (
	"path"
	"slices"
	"sync"
	"time"
)

const (
	// slowCall is how long a call takes at least that a status lists, and maxSlowCalls how many it lists of an agent.
	slowCall     = 250 * time.Millisecond
	maxSlowCalls = 20
)

// slowCalls are the last calls of each agent that took long.
type slowCalls struct {
	mu      sync.Mutex
	byAgent map[string][]CallRecord // guarded by mu; the most recent first
}

// add adds a call, if it reached an agent and took long.
func (s *slowCalls) add(r CallRecord) {
	agent := r.Reached()
	if r.Stream || r.Took < slowCall || agent == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byAgent == nil {
		s.byAgent = map[string][]CallRecord{}
	}
	list := slices.Insert(s.byAgent[agent], 0, r)
	s.byAgent[agent] = list[:min(len(list), maxSlowCalls)]
}

// list returns the calls of an agent.
func (s *slowCalls) list(agent string) (list []SlowCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.byAgent[agent] {
		list = append(list, SlowCall{Method: path.Base(r.Method), Code: r.Code.String(), Took: r.Took, Start: r.Start, RequestID: r.RequestID})
	}
	return list
}
