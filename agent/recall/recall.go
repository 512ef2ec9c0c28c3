package recall

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"kioku/agent/prompt"
	"kioku/internal/text"
	"kioku/memory"
)

const (
	// maxQuery is the maximum length of a query in bytes, and maxRead that of either end of a message of which one is made.
	maxQuery = 4 << 10
	maxRead  = 32 << 10
	// echoSpare is how many times TopK passages are asked for, because some may say nothing but the question.
	echoSpare = 2
	// maxResults is the maximum number of results of a search.
	maxResults      = 100
	defaultTopK     = 3
	defaultDeadline = 1500 * time.Millisecond
	// defaultMaxTokens is the default of Options.MaxTokens.
	defaultMaxTokens = 1200
	// contextTurns is the number of messages that are sent with a query, and contextBytes the maximum length of either end of one.
	contextTurns, contextBytes = 6, 2 << 10
)

// Why nothing was searched.
const (
	SkippedBlank   = "the message has no text of its own"
	SkippedPrivate = "this is a group or channel session and no memory is shared"
	SkippedMode    = "memories belong only in full prompts"
	SkippedOff     = "no recall was asked for"
)

// ErrBusy: an earlier search of the same memory was given up and has not come back yet.
var ErrBusy = errors.New("an earlier search has not ended yet")

// Options of a Recaller.
type Options struct {
	// TopK is the maximum number of passages of all memories together; 0 means 3.
	TopK int
	// MinScore is the minimum score, 0 to 1; nil means the threshold of the memory.
	MinScore *float64
	// Deadline of all searches together; 0 means 1.5 s.
	Deadline time.Duration
	// MaxTokens is the maximum size of what is recalled, as text.EstimateTokens counts; 0 means 1,200. Facts, summaries and open loops have
	// what the passages leave.
	MaxTokens int
}

// Request says what to recall.
type Request struct {
	// Message of the user.
	Message string
	// Agent is the agent whose own memory is searched.
	Agent string
	// Shared are other agents whose memories are searched too. Agent itself and repeated names are ignored.
	Shared []string
	// Context are the messages before it, oldest first; the last six are sent with the query.
	Context []memory.Turn
	// Group says that the session has more than one person in it. Then only shared memories are searched.
	Group bool
	// Spare is the number of passages to return beyond Options.TopK, because some may stand in the prompt already.
	Spare int
	// Now is the time of the message; zero means the clock of the memory.
	Now time.Time
}

// Recaller searches memories. Its methods may be called concurrently.
type Recaller struct {
	opt  Options
	open func(id string) memory.Service

	mu sync.Mutex
	// hanging counts the running searches of each agent for which no one waits any longer.
	hanging map[string]int
}

// Outcome is the result of Recall.
type Outcome struct {
	// Memories: passages and units in one list, best first; none if nothing is good enough.
	Memories []prompt.Memory `json:"recalled"`
	// Query is the query, empty if nothing was searched; then Skipped says why.
	Query   string `json:"query,omitempty"`
	Skipped string `json:"skipped,omitempty"`
	// Searches of the memories, the own first.
	Searches []Search `json:"searches,omitempty"`
	// Took is the duration of the whole recall.
	Took time.Duration `json:"took,omitzero"`
}

// Search is the report on the search of one memory.
type Search struct {
	// Agent is the agent whose memory was searched.
	Agent string `json:"agent"`
	// Hits is the number of hits, without weak ones and those of a transcript in which only the same question was asked.
	Hits int `json:"hit_count"`
	// Mode says which channels ran; see memory.Answer.
	Mode string `json:"mode,omitempty"`
	// Degraded is what was missing; nil if nothing was.
	Degraded []memory.Degradation `json:"degraded,omitempty"`
	// Err says why there is no answer: context.DeadlineExceeded, ErrBusy, or an error of the memory; nil if there is one.
	Err error `json:"error,omitempty"`
	// Took is the duration of the search.
	Took time.Duration `json:"took,omitzero"`
}

// Missing says why the search may not have found everything; empty if it has.
func (s Search) Missing() string {
	var all []string
	for _, d := range s.Degraded {
		if !d.IsHint() {
			all = append(all, d.Text)
		}
	}
	if s.Err != nil {
		all = append(all, s.Err.Error())
	}
	return strings.Join(all, "; ")
}

// New returns a Recaller of the memories that open returns for the ids of agents.
func New(opt Options, open func(id string) memory.Service) *Recaller {
	if opt.TopK <= 0 {
		opt.TopK = defaultTopK
	}
	if opt.Deadline <= 0 {
		opt.Deadline = defaultDeadline
	}
	if opt.MaxTokens <= 0 {
		opt.MaxTokens = defaultMaxTokens
	}
	return &Recaller{opt: opt, open: open, hanging: map[string]int{}}
}

// TopK returns the maximum number of passages for a prompt.
func (r *Recaller) TopK() int { return r.opt.TopK }

// Recall searches the memories for a message of a user. It returns at the deadline or when ctx ends, with the answers that
// have come by then. If a search goes on although its context has ended, its memory is not searched again before it ends.
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
		query := memory.Query{
			Text: out.Query, MaxResults: min(echoSpare*r.opt.TopK+req.Spare, maxResults), MinScore: r.opt.MinScore, Now: req.Now,
			Context: contextOf(req.Context), Kinds: memory.QueryKinds(), Clauses: true,
		}
		ctx, cancel := context.WithTimeout(ctx, r.opt.Deadline)
		defer cancel()
		var found sections
		out.Searches, found = r.search(ctx, asked, query)
		if len(query.Context) == 0 { // a question for an order is answered by day, and only the best have room
			slices.SortStableFunc(found.passages, func(a, b prompt.Memory) int { return cmp.Compare(b.Score, a.Score) })
		}
		found.passages = best(found.passages, r.opt.TopK+req.Spare)
		out.Memories = found.within(r.opt.MaxTokens)
	}
	out.Took = time.Since(begin)
	return out
}

// source is a memory to search.
type source struct {
	agent  string
	shared bool
}

// sources returns the memories that may be searched for a session.
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

// memories returns the hits of a source as memories.
func (s source) memories(hits []memory.Hit) []prompt.Memory {
	all := make([]prompt.Memory, len(hits))
	for i, h := range hits {
		all[i] = prompt.Memory{
			Agent: s.agent, Shared: s.shared, Path: h.Path, StartLine: h.SnippetStart, EndLine: h.SnippetEnd,
			Score: h.Score, VectorScore: h.VectorScore, TextScore: h.TextScore, Date: h.Date, Text: memory.StripRecalled(h.Snippet), Origin: h.Origin,
		}
		if head := h.TableHead(); head != "" {
			all[i].Text = head + "\n" + all[i].Text
		}
		if h.SnippetStart == 0 {
			all[i].StartLine, all[i].EndLine = h.StartLine, h.EndLine
		}
	}
	return all
}

// confident returns the hits that are not weak: a prompt has no place for a guess.
func confident(hits []memory.Hit) []memory.Hit {
	return slices.DeleteFunc(slices.Clone(hits), func(h memory.Hit) bool { return h.Weak })
}

// merge returns the passages of two memories, those with the greater score first. It keeps the order of each memory, which is not that
// of the scores alone if messages before the query took part.
func merge(x, y []prompt.Memory) []prompt.Memory {
	out := make([]prompt.Memory, 0, len(x)+len(y))
	for len(x) > 0 && len(y) > 0 {
		if y[0].Score > x[0].Score {
			out, y = append(out, y[0]), y[1:]
		} else {
			out, x = append(out, x[0]), x[1:]
		}
	}
	return slices.Concat(out, x, y)
}

// best returns the first n memories. It skips memories without text, and all but the first of those with the same text.
func best(all []prompt.Memory, n int) []prompt.Memory {
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

// Query returns the query for a message of a user: its text without recalled memories. If that has more than 4 KiB, Query
// returns the beginning and the end, because the question is in one of the two. It cuts between words, and reads at most 32 KiB at
// either end of a message.
func Query(message string) string {
	if len(message) > 2*maxRead {
		message = text.HeadBytes(message, maxRead) + "\n" + text.TailBytes(message, maxRead)
	}
	query := strings.TrimSpace(strings.ToValidUTF8(memory.StripRecalled(message), " "))
	if len(query) <= maxQuery {
		return query
	}
	const half = (maxQuery - 1) / 2
	head, tail := text.HeadBytes(query, half), text.TailBytes(query, half)
	// A long run without blank space is Chinese or Japanese, or nothing that has words.
	if end := strings.LastIndexAny(head, " \n\t"); end > half/2 {
		head = head[:end]
	}
	if begin := strings.IndexAny(tail, " \n\t"); begin >= 0 && begin < half/2 {
		tail = tail[begin:]
	}
	return strings.TrimSpace(head) + "\n" + strings.TrimSpace(tail)
}
