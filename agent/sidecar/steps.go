package sidecar

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kioku/agent/compact"
	"kioku/agent/session"
	"kioku/llm"
)

// Errors of a compaction that an agent's own model writes; test for them with errors.Is.
var (
	// ErrNoCompaction: there is no such lease.
	ErrNoCompaction = errors.New("no such compaction")
	// ErrStep: the question was answered already, and another one follows.
	ErrStep = errors.New("the question was answered already")
)

const (
	// maxLeases is the maximum number of compactions under way for an agent, and maxLeaseAge the time after which one ends.
	maxLeases   = 64
	maxLeaseAge = time.Hour
	// maxLeaseBytes is the maximum size in bytes of the messages of all that are under way. The oldest end first, and the newest stays.
	maxLeaseBytes = 64 << 20
)

// Step is a question of a compaction, or its result.
type Step struct {
	// Lease of the compaction, and Session of its messages.
	Lease, Session string
	// Number of the question, from 1; that of the last question if the compaction has ended.
	Number int
	// Request for the model, unless Done.
	Request llm.Request
	// Done says that the compaction has ended: Made is its result.
	Done bool
	// Made is the compaction.
	Made session.Compaction
}

// leases are the compactions under way, the oldest first.
type leases struct {
	// maxBytes is maxLeaseBytes.
	maxBytes int64

	mu  sync.Mutex
	all []*lease
}

// lease is a compaction under way.
type lease struct {
	id      string
	session string
	// bytes is the size of the messages, 0 after the end.
	bytes atomic.Int64
	// uncovered is the number of messages that are not covered, and keptBack reports that they keep it from dropping more.
	uncovered int
	keptBack  bool
	expires   time.Time

	mu sync.Mutex
	// view and steps are there until the end.
	view  session.View
	steps *compact.Steps
	// number of the question, and ended the step or error of the end.
	number int
	ended  *Step
	err    error
}

// BeginCompact begins a compaction by an agent's own model; see Compact, whose errors it returns. It ends another one of the session.
func (s *Sidecar) BeginCompact(sessionID string, v session.View, space Space) (Step, error) {
	c, free, uncovered, err := s.compactor(sessionID, v, space)
	if err != nil {
		return Step{}, err
	}
	l := &lease{session: sessionID, view: v, uncovered: uncovered, keptBack: heldBack(c, v, free), number: 1}
	if l.steps, err = c.Begin(v, free); err != nil {
		return Step{}, l.reason(err)
	}
	l.bytes.Store(bytesOf(v.Messages))
	l.id, l.expires = "compact-"+strings.ToLower(rand.Text()[:16]), s.opt.Now().Add(maxLeaseAge)
	s.leases.add(l, s.opt.Now())
	req, _ := l.steps.Request()
	return Step{Lease: l.id, Session: sessionID, Number: 1, Request: req}, nil
}

// CommitCompact takes the answer of an agent's model to the question with a number; 0 means the latest one. It returns the next
// question, or the compaction. The same call again returns the same. It returns ErrNoCompaction, ErrStep, and the errors of Compact.
func (s *Sidecar) CommitCompact(id string, number int, answer compact.Answer) (Step, error) {
	l := s.leases.find(id, s.opt.Now())
	if l == nil {
		return Step{}, ErrNoCompaction
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ended != nil || l.err != nil:
		if number != 0 && number != l.number {
			return Step{}, ErrStep
		}
	case number != 0 && number == l.number-1: // its response was lost
	case number != 0 && number != l.number:
		return Step{}, ErrStep
	default:
		s.advance(l, answer)
	}
	if l.err != nil {
		return Step{}, l.err
	}
	if l.ended != nil {
		return *l.ended, nil
	}
	req, _ := l.steps.Request()
	return Step{Lease: l.id, Session: l.session, Number: l.number, Request: req}, nil
}

// advance takes an answer.
func (s *Sidecar) advance(l *lease, answer compact.Answer) {
	l.steps.Answer(answer)
	if _, more := l.steps.Request(); more {
		l.number++
		return
	}
	made, err := l.steps.Result()
	s.recordCompaction(l.session, l.view, made, err)
	l.free()
	if err != nil {
		l.err = l.reason(err)
		return
	}
	l.ended = &Step{Lease: l.id, Session: l.session, Number: l.number, Done: true, Made: made}
}

// reason returns the error of a compaction, an *UncoveredError if coverage is why it drops nothing.
func (l *lease) reason(err error) error {
	if errors.Is(err, compact.ErrNothing) && l.keptBack {
		return &UncoveredError{Count: l.uncovered}
	}
	return err
}

// add adds a compaction, and stops those that it ends.
func (ls *leases) add(l *lease, now time.Time) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.all = append(ls.all, l)
	ls.all = slices.DeleteFunc(ls.all, func(o *lease) bool {
		gone := o != l && (o.session == l.session && l.session != "" || now.After(o.expires))
		if gone {
			o.stop()
		}
		return gone
	})
	total := int64(0)
	for _, o := range ls.all {
		total += o.bytes.Load()
	}
	for len(ls.all) > maxLeases || total > ls.maxBytes && len(ls.all) > 1 {
		total -= ls.all[0].bytes.Load()
		ls.all[0].stop()
		ls.all = slices.Delete(ls.all, 0, 1)
	}
}

// bytesOf returns the size of messages.
func bytesOf(messages []llm.Message) (n int64) {
	for _, m := range messages {
		n += int64(len(m.Text))
		for _, c := range m.ToolCalls {
			n += int64(len(c.Input))
		}
	}
	return n
}

// stop ends a compaction.
func (l *lease) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free()
	if l.ended == nil && l.err == nil {
		l.err = ErrNoCompaction
	}
}

// free frees what a compaction that has ended does not need any more. l must be locked.
func (l *lease) free() {
	if l.steps != nil {
		l.steps.Stop()
	}
	l.steps, l.view = nil, session.View{}
	l.bytes.Store(0)
}

// find returns a compaction, nil if there is none with this id.
func (ls *leases) find(id string, now time.Time) *lease {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	i := slices.IndexFunc(ls.all, func(l *lease) bool { return l.id == id && !now.After(l.expires) })
	if i < 0 {
		return nil
	}
	return ls.all[i]
}

// compactor returns what compacts a conversation: it may drop the first free messages, and uncovered is the number of messages that
// are not covered. See Compact.
func (s *Sidecar) compactor(sessionID string, v session.View, space Space) (c compact.Compactor, free, uncovered int, err error) {
	free = len(v.Messages)
	if sessionID != "" && s.opt.Flush.Off(s.opt.ReadOnly) == "" {
		if free, uncovered, err = s.freeToDrop(sessionID, v); err != nil {
			return c, 0, 0, err
		}
	}
	settings := s.opt.Flush
	settings.KeepTokens = cmp.Or(space.Keep, settings.KeepTokens)
	window := cmp.Or(space.Window, s.window())
	recent, summary := settings.Keep(window, space.Fixed)
	c = compact.Compactor{Count: s.opt.Count, KeepTokens: recent, SummaryTokens: summary, Window: window}
	return c, free, uncovered, nil
}

// heldBack reports whether messages that are not covered keep a compaction from dropping more.
func heldBack(c compact.Compactor, v session.View, free int) bool {
	return compact.Cut(v, c.KeepTokens, len(v.Messages)) > compact.Cut(v, c.KeepTokens, free)
}

// Compact has old messages summarised. It keeps as many of the latest ones as the space says and the window has room for (see
// [flush.Settings.Keep]), and all from the first that is not covered in the session on. An empty session, and settings with
// which flushes are impossible, demand no coverage.
//
// Compact returns ErrNoModel if there is no model, an *UncoveredError if coverage lets it drop nothing, and the errors of
// compact.Compactor. used is the usage of all requests, also after an error.
func (s *Sidecar) Compact(ctx context.Context, sessionID string, v session.View, space Space) (made session.Compaction, used llm.Usage, err error) {
	if s.opt.Model == nil {
		return session.Compaction{}, llm.Usage{}, s.noModel()
	}
	c, free, uncovered, err := s.compactor(sessionID, v, space)
	if err != nil {
		return session.Compaction{}, llm.Usage{}, err
	}
	// The model of the service may have learnt another window than that of the conversation.
	c.Model, c.Window = s.opt.Model, 0
	made, used, err = c.Compact(ctx, v, free)
	s.recordCompaction(sessionID, v, made, err)
	if errors.Is(err, compact.ErrNothing) && heldBack(c, v, free) {
		err = &UncoveredError{Count: uncovered}
	}
	return made, used, err
}
