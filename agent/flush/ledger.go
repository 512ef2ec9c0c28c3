package flush

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"kioku/internal/text"
	"kioku/llm"
)

// Errors of this package; test for them with errors.Is.
var (
	// ErrUnknown: there is no such lease.
	ErrUnknown = errors.New("no such lease")
	// ErrReplaced: the lease has ended, because another range of the session was begun after it.
	ErrReplaced = errors.New("the lease has ended: another range of the session was begun after it")
	// ErrConflict: the lease was committed with other notes.
	ErrConflict = errors.New("the lease was committed with other notes")
	// ErrState: the folder of the state cannot be read or written.
	ErrState = errors.New("the state of flushes cannot be read or written")
	// ErrTooLong: the model refuses even a short range as too long.
	ErrTooLong = errors.New("the model refuses even a few words as too long")
)

// Options of a Ledger. Folder and Notes are required.
type Options struct {
	// Folder of the state. It is created when it is needed.
	Folder string
	// Notes takes the notes of commits.
	Notes Notes
	// Groups says what becomes of groups: GroupsOn (also if empty), GroupsOff or GroupsSeparate.
	Groups string
	// Count counts the tokens of a text; nil means text.EstimateTokens.
	Count func(text string) int
	// SpoolBytes is the maximum size of all spools in bytes; 0 means 64 MiB.
	SpoolBytes int64
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Ledger records which messages of the sessions of one agent are covered. Several processes may use the same folder, and the
// methods may be called concurrently. They wait for other processes until their context ends.
type Ledger struct {
	opt Options

	// mu guards swept, the time of the last look for old sessions.
	mu    sync.Mutex
	swept time.Time
}

// NewLedger returns a ledger.
func NewLedger(opt Options) *Ledger {
	if opt.Count == nil {
		opt.Count = text.EstimateTokens
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	opt.SpoolBytes = cmp.Or(opt.SpoolBytes, maxSpoolBytes)
	return &Ledger{opt: opt}
}

// Request describes the messages of a session from which a range is begun.
type Request struct {
	// Session is the name of the conversation.
	Session string
	// Messages of the conversation, oldest first, each with an id that is unique in the session.
	Messages []Message
	// Window of the model in tokens; 0 if it is unknown.
	Window int
	// Fixed is the size in tokens of a system prompt that is sent in addition to SystemPrompt.
	Fixed int
	// TooLong says that the model has refused the last range as too long.
	TooLong bool
	// OnDisk says that the caller keeps the messages on disk, so that they need not be spooled.
	OnDisk bool
	// Ended says that the session has ended. It stays so until a range has messages that were not spooled at its end.
	Ended bool
}

// Range is a range of messages that was begun.
type Range struct {
	// Lease is passed to Commit; empty if all messages are covered.
	Lease string
	// Messages to show to the model.
	Messages []llm.Message
	// Occasion is why they are shown.
	Occasion Occasion
	// Uncovered is the number of messages that are not covered after this range.
	Uncovered int
	// Warnings say what was lost or mended since the last commit of the session.
	Warnings []string
}

// Begin begins the oldest range of messages that are not covered. Spooled messages that the request lacks come first. A range of
// the session that was begun before and not committed ends. When Begin returns, the messages are on disk.
//
// Begin returns an *memory.InputError for a session or messages without a valid name or id, and ErrTooLong if the last range
// cannot be halved.
func (l *Ledger) Begin(ctx context.Context, req Request) (Range, error) {
	if err := cmp.Or(checkSession(req.Session), checkMessages(req.Messages)); err != nil {
		return Range{}, err
	}
	name, out := fileOf(req.Session), Range{}
	err := l.finish(ctx, name)
	if err == nil {
		err = l.locked(ctx, func(f *folder) (err error) {
			out, err = l.beginLocked(f, name, req)
			return err
		})
	}
	if err != nil {
		return Range{}, fmt.Errorf("begin flush: %w", err)
	}
	return out, nil
}

// beginLocked is Begin with the folder locked.
func (l *Ledger) beginLocked(f *folder, name string, req Request) (Range, error) {
	r, err := f.record(name)
	if err != nil {
		return Range{}, err
	}
	if req.TooLong && !r.halve(req.Window) && r.Begun != nil {
		return Range{}, ErrTooLong
	}
	r.Session = req.Session
	now, spooled := l.opt.Now(), f.spool(name)
	list := placed(joinLists(spooled, req.Messages))
	r.forget(list)
	todo := l.uncovered(&r, list)
	r.Ended = req.Ended || r.Ended && within(l.uncovered(&r, placed(req.Messages)), spooled)
	if !req.OnDisk {
		warnings, err := l.spoolAll(f, name, spooled, todo, now)
		if err != nil {
			return Range{}, err
		}
		for _, w := range warnings {
			r.warn(w)
		}
	}
	r.endRest(todo)
	p := part{count: l.opt.Count, room: r.roomIn(req.Window, req.Fixed)}
	if slices.ContainsFunc(todo, func(m Message) bool { return m.Group || m.label() != "" }) {
		p.room = max(p.room-l.opt.Count(groupPrompt), min(p.room, minRoom))
	}
	told := r.told(p.room/toldParts, p.sizeOf)
	if r.Rest != nil {
		p.room = min(p.room-p.sizeOf(told), max(r.Rest.Tokens, minUnfinished/2))
	}
	p.fill(todo, r.Shown)
	out := Range{Messages: p.messages, Occasion: Occasion{Ended: r.Ended, Origin: p.originOf()}, Uncovered: len(todo) - len(p.keys), Warnings: r.Warnings}
	b := begun{Keys: p.keys, Through: p.through, Piece: p.piece, Tokens: p.tokens, Left: out.Uncovered, Origin: out.Occasion.Origin, Group: p.place != ""}
	if len(p.messages) == 0 {
		r.cover(b) // of messages without content
		return out, f.writeRecord(r, now)
	}
	if told != "" {
		p.add(llm.RoleAssistant, told)
		out.Messages, b.Told = p.messages, p.tokens-b.Tokens
	}
	b.Lease = name + "-" + strings.ToLower(rand.Text()[:12])
	r.Begun, out.Lease = &b, b.Lease
	if !req.TooLong {
		r.wait(r.Tries, now)
		r.Tries++
	}
	l.removeOld(f, now)
	return out, f.writeRecord(r, now)
}

// uncovered returns the messages of a placed list that are not covered and are to be flushed.
func (l *Ledger) uncovered(r *record, list []Message) []Message {
	return slices.DeleteFunc(r.uncovered(list), l.leavesOut)
}

// leavesOut reports whether a message is never flushed, because it was said in a group.
func (l *Ledger) leavesOut(m Message) bool { return m.Group && l.opt.Groups == GroupsOff }

// joinLists returns the spooled messages that a request lacks, and then those of the request.
func joinLists(spooled, list []Message) []Message {
	known := make(map[string]bool, len(list))
	for _, m := range list {
		known[m.key()] = true
	}
	var out []Message
	for _, m := range spooled {
		if !known[m.key()] {
			out = append(out, m)
		}
	}
	return append(out, list...)
}

// within reports whether all messages of a list are among others.
func within(list, others []Message) bool { return len(joinLists(list, others)) == len(others) }

// writeSpoolOf spools the messages of a session that are not covered, unless they are spooled already.
func (f *folder) writeSpoolOf(name string, spooled, todo []Message) error {
	if len(todo) > 0 && within(todo, spooled) {
		return nil
	}
	return f.writeSpool(name, todo)
}

// spoolAll spools the messages that are not covered, and limits the spools. It returns the warnings of limitSpools.
func (l *Ledger) spoolAll(f *folder, name string, spooled, todo []Message, now time.Time) ([]string, error) {
	if err := f.writeSpoolOf(name, spooled, todo); err != nil {
		return nil, err
	}
	return f.limitSpools(name, l.opt.SpoolBytes, now)
}
