package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"kioku/agent"
	"kioku/agent/prompt"
)

const (
	defaultTopK     = 3
	defaultDeadline = 1500 * time.Millisecond
)

// Why nothing was searched.
const (
	SkippedBlank   = "the message has no text of its own"
	SkippedPrivate = "this is a group or channel session and no memory is shared"
	SkippedNone    = "there is no memory to search"
)

// ErrBusy: an earlier search of the same memory has not come back yet.
var ErrBusy = errors.New("an earlier search has not ended yet")

// Memory is what is searched; *agent.Client is one.
type Memory interface {
	// Search returns the passages that answer q best.
	Search(ctx context.Context, q agent.Query) (agent.Answer, error)
}

// Source is the memory of one agent.
type Source struct {
	Agent  string
	Memory Memory
	// Shared memories are searched in groups as well.
	Shared bool
}

// Options of a Recaller.
type Options struct {
	// TopK is the most passages of all sources together, 0 means 3.
	TopK int
	// MinScore replaces the threshold of the memories where it is set.
	MinScore *float64
	// Deadline of all searches together, 0 means 1.5 s.
	Deadline time.Duration
}

// Recaller searches the memories of one agent and those that are shared with it. It may be used concurrently.
type Recaller struct {
	opt     Options
	sources []*source
}

// source is a Source and whether it is being searched.
type source struct {
	Source
	busy atomic.Bool
}

// Outcome is what was recalled for a message, and how.
type Outcome struct {
	// Memories, best first; none where nothing is good enough.
	Memories []prompt.Memory
	// Query is what was searched, empty where nothing was; Skipped says why not.
	Query, Skipped string
	Searches       []Search
	Took           time.Duration
}

// Search is what became of the search of one memory.
type Search struct {
	Agent string
	Hits  int
	// Mode says which channels ran and Degraded what the search had to do without.
	Mode     string
	Degraded []agent.Degradation
	// Err is why there is no answer: context.DeadlineExceeded, ErrBusy, or the memory's own.
	Err  error
	Took time.Duration
}

// New returns a Recaller of some memories, the agent's own first.
func New(opt Options, sources ...Source) *Recaller {
	if opt.TopK <= 0 {
		opt.TopK = defaultTopK
	}
	if opt.Deadline <= 0 {
		opt.Deadline = defaultDeadline
	}
	r := &Recaller{opt: opt}
	for _, s := range sources {
		r.sources = append(r.sources, &source{Source: s})
	}
	return r
}

// Recall returns what the memories hold about a user's message. group is a session with more than one person in it, for
// which only shared memories are searched. now is the moment of the message, zero for the service's clock.
//
// Recall returns after the deadline or the end of ctx at the latest, with the answers that are there by then. A search
// that does not heed its context ends behind its back; its memory is not searched again before that.
func (r *Recaller) Recall(ctx context.Context, message string, group bool, now time.Time) Outcome {
	begin := time.Now()
	asked := r.open(group)
	out := Outcome{Query: Query(message)}
	switch {
	case len(r.sources) == 0:
		out.Query, out.Skipped = "", SkippedNone
	case len(asked) == 0:
		out.Query, out.Skipped = "", SkippedPrivate
	case out.Query == "":
		out.Skipped = SkippedBlank
	default:
		query := agent.Query{Text: out.Query, MaxResults: r.opt.TopK, MinScore: r.opt.MinScore, Now: now}
		ctx, cancel := context.WithTimeout(ctx, r.opt.Deadline)
		defer cancel()
		out.Searches, out.Memories = search(ctx, asked, query)
		out.Memories = best(out.Memories, r.opt.TopK)
	}
	out.Took = time.Since(begin)
	return out
}

// open returns the sources that may be searched for a session.
func (r *Recaller) open(group bool) []*source {
	var asked []*source
	for _, s := range r.sources {
		if s.Shared || !group {
			asked = append(asked, s)
		}
	}
	return asked
}

// answer is that of the source at a place.
type answer struct {
	at     int
	search Search
	hits   []agent.Hit
}

// search asks all sources at once and takes what comes before ctx ends.
func search(ctx context.Context, asked []*source, q agent.Query) ([]Search, []prompt.Memory) {
	begin := time.Now()
	answers := make(chan answer, len(asked))
	searches, hits := make([]Search, len(asked)), make([][]agent.Hit, len(asked))
	waiting := 0
	for i, s := range asked {
		if !s.busy.CompareAndSwap(false, true) {
			searches[i] = Search{Agent: s.Agent, Err: ErrBusy}
			continue
		}
		waiting++
		searches[i] = Search{Agent: s.Agent, Err: errWaiting}
		go func() {
			defer s.busy.Store(false)
			answers <- s.search(ctx, i, q)
		}()
	}
	take := func(a answer) { searches[a.at], hits[a.at] = a.search, a.hits }
	for ; waiting > 0; waiting-- {
		select {
		case a := <-answers:
			take(a)
		case <-ctx.Done():
			// What has come at the same moment counts.
			for range len(answers) {
				take(<-answers)
			}
			giveUp(searches, ctx.Err(), time.Since(begin))
			return searches, memories(asked, hits)
		}
	}
	return searches, memories(asked, hits)
}

// errWaiting marks a search that has not answered.
var errWaiting = errors.New("still searching")

// giveUp says of the searches that have not answered why they are not waited for.
func giveUp(searches []Search, why error, took time.Duration) {
	for i := range searches {
		if searches[i].Err == errWaiting {
			searches[i].Err, searches[i].Took = why, took
		}
	}
}

// search asks one memory.
func (s *source) search(ctx context.Context, at int, q agent.Query) answer {
	begin := time.Now()
	found, err := s.Memory.Search(ctx, q)
	if err != nil {
		found.Hits = nil
		err = fmt.Errorf("recall from %s: %w", s.Agent, err)
	}
	return answer{at: at, hits: found.Hits, search: Search{
		Agent: s.Agent, Hits: len(found.Hits), Mode: found.Mode, Degraded: found.Degraded, Err: err, Took: time.Since(begin),
	}}
}

// memories makes memories of hits.
func memories(asked []*source, hits [][]agent.Hit) []prompt.Memory {
	var all []prompt.Memory
	for i, s := range asked {
		for _, h := range hits[i] {
			m := prompt.Memory{
				Agent: s.Agent, Shared: s.Shared, Path: h.Path, StartLine: h.SnippetStart, EndLine: h.SnippetEnd,
				Score: h.Score, Date: h.Date, Text: prompt.StripRecalled(h.Snippet),
			}
			if m.StartLine == 0 {
				m.StartLine, m.EndLine = h.StartLine, h.EndLine
			}
			all = append(all, m)
		}
	}
	return all
}

// best returns the n best of all memories; of two with the same text the better, or that of the earlier source. Those
// without text are of no use.
func best(all []prompt.Memory, n int) []prompt.Memory {
	slices.SortStableFunc(all, func(a, b prompt.Memory) int { return cmp.Compare(b.Score, a.Score) })
	seen := map[string]bool{"": true}
	var kept []prompt.Memory
	for _, m := range all {
		if text := strings.Join(strings.Fields(m.Text), " "); !seen[text] && len(kept) < n {
			seen[text] = true
			kept = append(kept, m)
		}
	}
	return kept
}
