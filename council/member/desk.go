package member

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"kioku/agent/prompt"
	"kioku/llm"
	"kioku/memory"
)

// ErrNoTurn reports that a lease has ended or is not of this member: fetch the next turn.
var ErrNoTurn = errors.New("there is no such turn: its lease has ended, or the round is over")

// leaseTime is how long a member elsewhere has until it must renew its lease.
const leaseTime = 90 * time.Second

// RemoteTurn is a turn that a member elsewhere has fetched.
type RemoteTurn struct {
	Lease string `json:"lease"` // names the turn
	// Member whose turn it is, Phase, and the task; the task is empty for an evaluation.
	Member string `json:"member"`
	Phase  string `json:"phase"`
	TaskID string `json:"task_id"`
	// Round and Attempt, from 1.
	Round   int `json:"round"`
	Attempt int `json:"attempt"`
	// System and Prompt are what a model is asked.
	System    string          `json:"system"`
	Prompt    string          `json:"prompt"`
	Schema    json.RawMessage `json:"schema"`     // of the reply
	MaxTokens int             `json:"max_tokens"` // of the reply
	// Tools may be called in the turn; see Desk.Call.
	Tools []llm.Tool `json:"tools,omitempty"`
	// LeaseUntil is when somebody else may fetch the turn, unless the lease is renewed.
	LeaseUntil time.Time `json:"lease_until,omitzero"`
}

// Desk hands out turns to members that run elsewhere. Its methods may be called concurrently.
type Desk struct {
	now func() time.Time

	mu    sync.Mutex // guards what follows
	turns []*deskTurn
}

// deskTurn is a turn that waits for its reply.
type deskTurn struct {
	RemoteTurn
	q      Question
	faults int
	reply  chan RemoteReply // has room for one
}

// RemoteReply is the reply of a member elsewhere.
type RemoteReply struct {
	// Text is JSON of the schema.
	Text   []byte
	Failed string // why there is no reply; empty if there is one
	// Usage is what the reply has cost; without tokens they are estimated.
	Usage llm.Usage
}

func newDesk(now func() time.Time) *Desk { return &Desk{now: now} }

// deskSpeaker asks a member by the desk.
type deskSpeaker struct {
	*Desk
	name string // of the model, as the settings have it
}

func (d deskSpeaker) model() string { return d.name }
func (d deskSpeaker) window() int   { return 0 }
func (d deskSpeaker) remote() bool  { return true }

// speak implements speaker: it offers a turn and waits for its reply.
func (d deskSpeaker) speak(ctx context.Context, q Question, req llm.Request) (llm.Response, error) {
	t := &deskTurn{q: q, reply: make(chan RemoteReply, 1), RemoteTurn: RemoteTurn{Member: q.Member, Phase: q.Phase, TaskID: q.Task.ID, Round: max(q.Round, 1),
		Attempt: max(q.Attempt, 1), System: req.System, Prompt: req.Messages[0].Text, Schema: req.Schema, MaxTokens: req.MaxTokens, Tools: req.Tools}}
	d.mu.Lock()
	d.turns = append(d.turns, t)
	d.mu.Unlock()
	defer d.remove(t)
	select {
	case reply := <-t.reply:
		u := &reply.Usage
		u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Dollars = max(u.Input, 0), max(u.Output, 0), max(u.CacheRead, 0), max(u.CacheWrite, 0), max(u.Dollars, 0)
		if reply.Failed != "" {
			return llm.Response{Usage: reply.Usage}, errors.New(prompt.EscapeHidden(reply.Failed))
		}
		return llm.Response{Message: llm.Message{Role: llm.RoleAssistant, Text: string(reply.Text)}, Stop: llm.StopEnd, Usage: reply.Usage}, nil
	case <-ctx.Done():
		return llm.Response{}, fmt.Errorf("wait for %s: %w", q.Member, context.Cause(ctx))
	}
}

// remove takes a turn off the desk.
func (d *Desk) remove(t *deskTurn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turns = slices.DeleteFunc(d.turns, func(other *deskTurn) bool { return other == t })
}

// Next returns the oldest turn of a member that nobody has, with a new lease; nil if there is none.
func (d *Desk) Next(member string) *RemoteTurn {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	for _, t := range d.turns {
		if t.Member == member && !now.Before(t.LeaseUntil) && len(t.reply) == 0 {
			t.Lease, t.LeaseUntil = rand.Text(), now.Add(leaseTime)
			got := t.RemoteTurn
			return &got
		}
	}
	return nil
}

// find returns the turn of a lease. The caller holds d.mu.
func (d *Desk) find(member, lease string) *deskTurn {
	for _, t := range d.turns {
		if t.Member == member && t.Lease == lease && lease != "" && len(t.reply) == 0 {
			return t
		}
	}
	return nil
}

// Renew extends a lease and returns its new end. The error is ErrNoTurn.
func (d *Desk) Renew(member, lease string) (time.Time, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.find(member, lease)
	if t == nil {
		return time.Time{}, ErrNoTurn
	}
	t.LeaseUntil = d.now().Add(leaseTime)
	return t.LeaseUntil, nil
}

// Call calls a tool of a turn. The error is ErrNoTurn.
func (d *Desk) Call(ctx context.Context, member, lease string, call llm.ToolCall) (text string, failed bool, err error) {
	d.mu.Lock()
	t := d.find(member, lease)
	d.mu.Unlock()
	if t == nil {
		return "", false, ErrNoTurn
	}
	text, failed = t.q.Call(ctx, call)
	return text, failed, nil
}

// Submit hands in the reply to a turn. A reply that breaks the contract is an *InputError; it may be handed in once more, and the
// second such reply makes the member abstain, as one that has Failed does. The error is ErrNoTurn for a lease that somebody else has
// got since, and after the end of the round.
func (d *Desk) Submit(member, lease string, reply RemoteReply) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.find(member, lease)
	if t == nil {
		return ErrNoTurn
	}
	_, wrong := Parse(t.q, string(reply.Text))
	if wrong == nil || reply.Failed != "" {
		t.reply <- reply
		return nil
	}
	t.faults++
	if t.faults < maxTries {
		t.LeaseUntil = d.now().Add(leaseTime)
		return &memory.InputError{Field: "reply", Problem: wrong.Error() + "; it may be handed in once more"}
	}
	t.reply <- reply
	return &memory.InputError{Field: "reply", Problem: wrong.Error() + "; the member abstains"}
}
