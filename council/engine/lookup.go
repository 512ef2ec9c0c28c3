package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"kioku/agent/tools"
	"kioku/council/member"
	"kioku/llm"
	"kioku/memory"
)

// offerLookups lets a member search and read its own memory and that of the council agent.
func (e *Engine) offerLookups(q *member.Question) {
	if e.opt.Memory == nil {
		return
	}
	both := twoMemories{own: e.opt.Memory(q.Member), council: e.opt.Memory(e.set.Agent), agent: e.set.Agent}
	if both.own == nil && both.council == nil {
		return
	}
	q.Tools = tools.All() // of which members get those that read
	q.Call = func(ctx context.Context, call llm.ToolCall) (string, bool) {
		out, err := tools.Call(ctx, both, "", call.Name, call.Input)
		if err != nil {
			return err.Error(), true
		}
		return string(out), false
	}
}

// errNoWriting: members only read in a turn.
var errNoWriting = errors.New("members only read in a turn")

// twoMemories is the memory of a member with that of the council agent, whose paths begin with "<agent>:". Either may be nil. It
// implements memory.Service, and writes nothing.
type twoMemories struct {
	own, council memory.Service
	agent        string
}

// Search implements memory.Service. It fails only if neither memory answers.
func (m twoMemories) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	var a memory.Answer
	var errs []error
	for i, one := range []memory.Service{m.own, m.council} {
		if one == nil {
			continue
		}
		found, err := one.Search(ctx, q)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if i == 1 {
			for k := range found.Hits {
				found.Hits[k].Path = m.agent + ":" + found.Hits[k].Path
			}
			found.Hits = append(a.Hits, found.Hits...)
			found.Degraded = append(a.Degraded, found.Degraded...)
		}
		a = found
	}
	if len(errs) == 2 || len(errs) == 1 && (m.own == nil || m.council == nil) {
		return memory.Answer{}, errors.Join(errs...)
	}
	for _, err := range errs {
		a.Degraded = append(a.Degraded, memory.Degradation{Code: "memory_failed", Text: "one of two memories has not answered: " + err.Error()})
	}
	slices.SortStableFunc(a.Hits, func(x, y memory.Hit) int { return cmp.Compare(y.Score, x.Score) })
	a.Hits = a.Hits[:min(len(a.Hits), cmp.Or(q.MaxResults, 6))]
	return a, nil
}

// Get implements memory.Service.
func (m twoMemories) Get(ctx context.Context, req memory.GetRequest) (memory.Excerpt, error) {
	one := m.own
	path, shared := strings.CutPrefix(req.Path, m.agent+":")
	if shared {
		one, req.Path = m.council, path
	}
	if one == nil {
		return memory.Excerpt{}, &memory.InputError{Field: "path", Problem: "is of a memory that is not here"}
	}
	got, err := one.Get(ctx, req)
	if shared {
		got.Path = m.agent + ":" + got.Path
	}
	return got, err
}

// Append implements memory.Service.
func (twoMemories) Append(context.Context, memory.Note) (memory.Appended, error) {
	return memory.Appended{}, errNoWriting
}

// Update implements memory.Service.
func (twoMemories) Update(context.Context, memory.Update) (memory.Updated, error) {
	return memory.Updated{}, errNoWriting
}
