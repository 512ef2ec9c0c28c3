package recall

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"kioku/memory"
)

// answer is the result of the search of one memory.
type answer struct {
	search Search
	found  sections
}

// search searches all memories at once and takes the answers that come before ctx ends. Both results are in the order of asked.
func (r *Recaller) search(ctx context.Context, asked []source, q memory.Query) (searches []Search, all sections) {
	begin := time.Now()
	answers := make([]chan answer, len(asked))
	for i, s := range asked {
		answers[i] = make(chan answer, 1)
		if r.hangs(s.agent) {
			answers[i] <- answer{search: Search{Agent: s.agent, Err: ErrBusy}}
			continue
		}
		go func() { answers[i] <- r.searchOne(ctx, s, q) }()
	}
	for i, s := range asked {
		var a answer
		select {
		case a = <-answers[i]:
		case <-ctx.Done():
			select {
			case a = <-answers[i]:
			default:
				a.search = Search{Agent: s.agent, Err: ctx.Err(), Took: time.Since(begin)}
				r.leave(s.agent, answers[i])
			}
		}
		searches = append(searches, a.search)
		all.join(a.found)
		all.passages = merge(all.passages, a.found.passages)
	}
	return searches, all
}

// searchOne searches one memory.
func (r *Recaller) searchOne(ctx context.Context, s source, q memory.Query) answer {
	begin := time.Now()
	ceiling := memory.Private
	if s.shared {
		// What was said to another agent is not what that agent shares, and neither is what it keeps private.
		q.Filter.Sources = []string{memory.SourceMemory, memory.SourceExtra}
		ceiling = memory.Normal
	}
	q.MaxSensitivity = &ceiling
	found, err := searchSafely(ctx, r.open(s.agent), q)
	if err != nil {
		found.Hits, found.Units = nil, nil
		err = fmt.Errorf("recall from %s: %w", s.agent, err)
	}
	found.Hits = withoutEchoes(confident(found.Hits), q.Text)
	// What would help whoever asks a question is no news to whoever recalls at each message.
	found.Degraded = slices.DeleteFunc(found.Degraded, func(d memory.Degradation) bool { return d.IsHint() && d.Code != memory.NoMatch })
	all := s.derivedOf(found.Units)
	all.passages = s.memories(found.Hits)
	return answer{
		search: Search{Agent: s.agent, Hits: len(found.Hits), Mode: found.Mode, Degraded: found.Degraded, Err: err, Took: time.Since(begin)},
		found:  all,
	}
}

// searchSafely searches a memory. A panic becomes an error: on this goroutine it would end the process of all agents.
func searchSafely(ctx context.Context, m memory.Service, q memory.Query) (a memory.Answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return m.Search(ctx, q)
}

// leave counts a search as hanging until it ends.
func (r *Recaller) leave(agent string, done <-chan answer) {
	r.countHanging(agent, 1)
	go func() {
		<-done
		r.countHanging(agent, -1)
	}()
}

func (r *Recaller) countHanging(agent string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hanging[agent] += n
}

// hangs reports whether a search of an agent's memory hangs.
func (r *Recaller) hangs(agent string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hanging[agent] > 0
}
