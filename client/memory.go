package client

import (
	"context"

	"kioku/derive/unit"
	"kioku/memory"
	"kioku/server/op"
)

// Requests about the memory of an agent, as the operations of a service take them.
type (
	agent struct {
		ID string `json:"agent,omitempty"`
	}
	question struct {
		agent
		memory.Query
		MaxSensitivity string `json:"max_sensitivity,omitempty"`
	}
	place struct {
		agent
		memory.GetRequest
	}
	note struct {
		agent
		memory.Note
	}
	correction struct {
		agent
		memory.Update
	}
	forgetting struct {
		agent
		memory.Forget
	}
)

// The operations of a service that a memory needs.
var (
	search    = op.Op[question, memory.Answer]{Name: "search", Route: "POST /v1/search"}
	get       = op.Op[place, memory.Excerpt]{Name: "get", Route: "GET /v1/notes/{path...}"}
	add       = op.Op[note, memory.Appended]{Name: "append", Route: "POST /v1/notes"}
	correct   = op.Op[correction, memory.Updated]{Name: "update", Route: "POST /v1/notes:update"}
	forget    = op.Op[forgetting, memory.Forgotten]{Name: "forget", Route: "POST /v1/forget"}
	listUnits = op.Op[unit.ListRequest, memory.UnitList]{Name: "derive list", Route: unit.ListRoute}
)

// call calls an operation, bounded in time.
func call[In, Out any](ctx context.Context, c *Client, o op.Op[In, Out], in In) (Out, error) {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	return o.Call(ctx, c.Conn, in)
}

// Search returns the passages that answer q best. It returns an *memory.InputError for a query that cannot be answered as it
// stands, a blank one for example.
func (c *Client) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	req := question{agent: agent{c.agent}, Query: q}
	if q.MaxSensitivity != nil {
		req.MaxSensitivity = q.MaxSensitivity.String()
	}
	return call(ctx, c, search, req)
}

// Get returns lines of a file. It returns memory.ErrNotFound for one that is missing or no memory, and an *memory.InputError for a
// path that could never be one.
func (c *Client) Get(ctx context.Context, req memory.GetRequest) (memory.Excerpt, error) {
	return call(ctx, c, get, place{agent{c.agent}, req})
}

// Append adds a note to today's file or to MEMORY.md. It returns memory.ErrDenied for a token without the right to write.
// After memory.ErrUnreachable or a deadline it is not known whether the note was written; the same note, or one with the same
// Key, may be sent again and is written once.
func (c *Client) Append(ctx context.Context, n memory.Note) (memory.Appended, error) {
	return call(ctx, c, add, note{agent{c.agent}, n})
}

// Update replaces a text in a file of what stays true. It returns an *memory.InputError if the old text does not occur exactly
// once, and memory.ErrDenied for a token without the right to write.
func (c *Client) Update(ctx context.Context, u memory.Update) (memory.Updated, error) {
	return call(ctx, c, correct, correction{agent{c.agent}, u})
}

// Forget finds, forgets or corrects what is said, wherever it is said; see [memory.Forget]. It returns memory.ErrDenied for a token without
// the right to write.
func (c *Client) Forget(ctx context.Context, r memory.Forget) (memory.Forgotten, error) {
	return call(ctx, c, forget, forgetting{agent{c.agent}, r})
}

// Units returns the units that q selects; if words is not blank, only those that share words with it, best first. It returns
// memory.ErrDeriveOff if derivation is off for the agent. q.UIDs and q.Filter must be empty.
func (c *Client) Units(ctx context.Context, q memory.UnitQuery, words string) (memory.UnitList, error) {
	if len(q.UIDs) > 0 {
		return memory.UnitList{}, &memory.InputError{Field: "uids", Problem: "cannot be asked for over the service; GET /v1/units/ID returns one"}
	}
	if f := q.Filter; len(f.Sources) > 0 || f.PathPrefix != "" || len(f.Where) > 0 || f.Since+f.Until != "" {
		return memory.UnitList{}, &memory.InputError{Field: "filter", Problem: "cannot be applied to units over the service; Search applies it to those that it finds"}
	}
	return call(ctx, c, listUnits, unit.ListRequest{
		Agent: c.agent, Kinds: q.Kinds, Entity: q.Entity, Predicate: q.Predicate, States: q.States, AsOf: q.AsOf, Believed: q.BelievedAt,
		IncludeSuperseded: q.IncludeSuperseded, MaxSensitivity: q.MaxSensitivity.String(), After: q.After, Limit: q.Limit, Query: words,
	})
}
