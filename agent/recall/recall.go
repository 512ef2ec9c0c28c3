package recall

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"kioku/agent"
	"kioku/agent/prompt"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	defaultTopK     = 3
	defaultDeadline = 1500 * time.Millisecond
)

// Why nothing was searched.
const (
	SkippedBlank   = "the message has no text of its own"
	SkippedPrivate = "this is a group or channel session and no memory is shared"
	SkippedMode    = "memories belong into full prompts alone"
	SkippedOff     = "no recall was asked for"
)

// ErrBusy: an earlier search of the same memory was given up and has not come back yet.
var ErrBusy = errors.New("an earlier search has not ended yet")

// Options of a Recaller.
type Options struct {
	// TopK is the most passages of all memories together, 0 means 3.
	TopK int
	// MinScore replaces the threshold of the memories if it is set.
	MinScore *float64
	// Deadline of all searches together, 0 means 1.5 s.
	Deadline time.Duration
}

// Request says what to recall.
type Request struct {
	// Message of the user.
	Message string
	// Agent whose own memory is searched, and Shared those of other agents that are searched beside it. An agent that is
	// named twice counts once, and the own memory is never a shared one.
	Agent  string
	Shared []string
	// Group is a session with more than one person in it, for which only shared memories are searched.
	Group bool
	// Now is the moment of the message, zero for the service's clock.
	Now time.Time
}

// Recaller searches memories. It may be used concurrently.
type Recaller struct {
	opt  Options
	open func(id string) agent.Memory

	mu sync.Mutex
	// hanging counts, for each agent, the searches that nobody waits for any more.
	hanging map[string]int
}

// Outcome is what was recalled for a message, and how.
type Outcome struct {
	// Memories, best first; none if nothing is good enough.
	Memories []prompt.Memory
	// Query is what was searched, empty if nothing was; Skipped says why not.
	Query, Skipped string
	// Searches, that of the own memory first.
	Searches []Search
	Took     time.Duration
}

// Search is what became of the search of one memory.
type Search struct {
	Agent string
	Hits  int
	// Mode says which channels ran and Degraded what the search had to do without.
	Mode     string
	Degraded []memory.Degradation
	// Err is why there is no answer: context.DeadlineExceeded, ErrBusy, or the memory's own.
	Err  error
	Took time.Duration
}

// New returns a Recaller of the memories that open returns for the ids of agents.
func New(opt Options, open func(id string) agent.Memory) *Recaller {
	if opt.TopK <= 0 {
		opt.TopK = defaultTopK
	}
	if opt.Deadline <= 0 {
		opt.Deadline = defaultDeadline
	}
	return &Recaller{opt: opt, open: open, hanging: map[string]int{}}
}

// Recall returns what the memories hold about a user's message, the deadline or the end of ctx after it was called at the
// latest, with the answers that are there by then. A search that does not heed its context ends behind its back; its
// memory is not searched again before that.
func (r *Recaller) Recall(ctx context.Context, req Request) Outcome {
	begin := time.Now()
	asked := req.sources()
	out := Outcome{Query: Query(req.Message)}
	switch {
	case len(asked) == 0:
		out.Query, out.Skipped = "", SkippedPrivate
	case out.Query == "":
		out.Skipped = SkippedBlank
	default:
		query := memory.Query{Text: out.Query, MaxResults: r.opt.TopK, MinScore: r.opt.MinScore, Now: req.Now}
		ctx, cancel := context.WithTimeout(ctx, r.opt.Deadline)
		defer cancel()
		out.Searches, out.Memories = r.search(ctx, asked, query)
		out.Memories = best(out.Memories, r.opt.TopK)
	}
	out.Took = time.Since(begin)
	return out
}

// source is a memory to be searched.
type source struct {
	agent  string
	shared bool
}

// sources returns those that may be searched for a session.
func (req Request) sources() []source {
	var asked []source
	if !req.Group {
		asked = append(asked, source{agent: req.Agent})
	}
	for i, id := range req.Shared {
		if id != req.Agent && !slices.Contains(req.Shared[:i], id) {
			asked = append(asked, source{agent: id, shared: true})
		}
	}
	return asked
}

// memories makes memories of the hits of a source.
func (s source) memories(hits []memory.Hit) []prompt.Memory {
	all := make([]prompt.Memory, len(hits))
	for i, h := range hits {
		all[i] = prompt.Memory{
			Agent: s.agent, Shared: s.shared, Path: h.Path, StartLine: h.SnippetStart, EndLine: h.SnippetEnd,
			Score: h.Score, Date: h.Date, Text: memory.StripRecalled(h.Snippet),
		}
		if h.SnippetStart == 0 {
			all[i].StartLine, all[i].EndLine = h.StartLine, h.EndLine
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
		if line := text.OneLine(m.Text); !seen[line] && len(kept) < n {
			seen[line] = true
			kept = append(kept, m)
		}
	}
	return kept
}
