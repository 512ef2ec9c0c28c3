package recall

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"kioku/agent"
	"kioku/agent/prompt"
	"kioku/memory"
)

// memorySearch is the search of one memory.
type memorySearch struct {
	source
	// done is closed, under the Recaller's lock, when outcome and hits are there.
	done    chan struct{}
	outcome Search
	hits    []memory.Hit
	// left says that nobody waits for it any more; the Recaller's lock guards it.
	left bool
}

// search asks all memories at once and takes what comes before ctx ends. Both answers are in the order of asked.
func (r *Recaller) search(ctx context.Context, asked []source, q memory.Query) ([]Search, []prompt.Memory) {
	begin := time.Now()
	calls := make([]*memorySearch, len(asked))
	for i, s := range asked {
		calls[i] = &memorySearch{source: s, done: make(chan struct{})}
		if r.hangs(s.agent) {
			calls[i].outcome = Search{Agent: s.agent, Err: ErrBusy}
			close(calls[i].done)
			continue
		}
		go r.searchOne(ctx, calls[i], q)
	}
	searches := make([]Search, len(asked))
	var all []prompt.Memory
	for i, c := range calls {
		select {
		case <-c.done:
		case <-ctx.Done():
			if r.leave(c) {
				searches[i] = Search{Agent: c.agent, Err: ctx.Err(), Took: time.Since(begin)}
				continue
			}
		}
		searches[i] = c.outcome
		all = append(all, c.memories(c.hits)...)
	}
	return searches, all
}

// searchOne searches one memory.
func (r *Recaller) searchOne(ctx context.Context, c *memorySearch, q memory.Query) {
	begin := time.Now()
	if c.shared {
		// What was said to another agent is not what that agent shares.
		q.Filter.Sources = []string{memory.SourceMemory, memory.SourceExtra}
	}
	found, err := searchSafely(ctx, r.open(c.agent), q)
	if err != nil {
		found.Hits = nil
		err = fmt.Errorf("recall from %s: %w", c.agent, err)
	}
	c.hits = found.Hits
	c.outcome = Search{Agent: c.agent, Hits: len(found.Hits), Mode: found.Mode, Degraded: found.Degraded, Err: err, Took: time.Since(begin)}
	r.mu.Lock()
	defer r.mu.Unlock()
	close(c.done)
	if !c.left {
		return
	}
	if r.hanging[c.agent]--; r.hanging[c.agent] == 0 {
		delete(r.hanging, c.agent)
	}
}

// searchSafely searches a memory. A panic becomes an error: on this goroutine it would end the process of all agents.
func searchSafely(ctx context.Context, m agent.Memory, q memory.Query) (a memory.Answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return m.Search(ctx, q)
}

// leave stops waiting for a search, and reports whether it has not ended.
func (r *Recaller) leave(c *memorySearch) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-c.done:
		return false
	default:
		c.left = true
		r.hanging[c.agent]++
		return true
	}
}

// hangs reports whether a search of an agent's memory that was left has not ended.
func (r *Recaller) hangs(agent string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hanging[agent] > 0
}
