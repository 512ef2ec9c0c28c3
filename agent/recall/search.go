package recall

import (
	"context"
	"fmt"
	"time"

	"kioku/agent"
	"kioku/agent/prompt"
)

// call is the search of one memory. Its fields belong to the goroutine that searches until it was sent, and from then on to
// the one that waits; ended and left to the Recaller's lock.
type call struct {
	source
	Search
	hits []agent.Hit
	// ended says that the memory has answered, left that nobody waits for it any more.
	ended, left bool
}

// search asks all memories at once and takes what comes before ctx ends. Searches and memories are in the order of asked.
func (r *Recaller) search(ctx context.Context, asked []source, q agent.Query) ([]Search, []prompt.Memory) {
	begin := time.Now()
	answers := make(chan *call, len(asked))
	calls, searches := make([]*call, len(asked)), make([]Search, len(asked))
	waiting := map[*call]int{}
	for i, s := range asked {
		if r.busy(s.agent) {
			searches[i] = Search{Agent: s.agent, Err: ErrBusy}
			continue
		}
		c := &call{source: s}
		waiting[c] = i
		go func() {
			r.ask(ctx, c, q)
			answers <- c
		}()
	}
	take := func(c *call) {
		calls[waiting[c]], searches[waiting[c]] = c, c.Search
		delete(waiting, c)
	}
	for len(waiting) > 0 {
		select {
		case c := <-answers:
			take(c)
			continue
		case <-ctx.Done():
		}
		// What has come at the same moment counts.
		for range len(answers) {
			take(<-answers)
		}
		for c, i := range waiting {
			r.leave(c)
			searches[i] = Search{Agent: c.agent, Err: ctx.Err(), Took: time.Since(begin)}
		}
		break
	}
	var all []prompt.Memory
	for _, c := range calls {
		if c != nil {
			all = append(all, c.memories(c.hits)...)
		}
	}
	return searches, all
}

// ask searches one memory.
func (r *Recaller) ask(ctx context.Context, c *call, q agent.Query) {
	begin := time.Now()
	found, err := r.open(c.agent).Search(ctx, q)
	if err != nil {
		found.Hits = nil
		err = fmt.Errorf("recall from %s: %w", c.agent, err)
	}
	c.hits = found.Hits
	c.Search = Search{Agent: c.agent, Hits: len(found.Hits), Mode: found.Mode, Degraded: found.Degraded, Err: err, Took: time.Since(begin)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.ended = true; c.left {
		if r.hanging[c.agent]--; r.hanging[c.agent] == 0 {
			delete(r.hanging, c.agent)
		}
	}
}

// leave stops waiting for a search.
func (r *Recaller) leave(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !c.ended {
		c.left = true
		r.hanging[c.agent]++
	}
}

// busy reports whether a search of an agent's memory hangs.
func (r *Recaller) busy(agent string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hanging[agent] > 0
}
