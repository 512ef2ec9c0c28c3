package flush

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"kioku/internal/text"
	"kioku/llm"
	"kioku/memory"
)

// Errors of this package; test for them with errors.Is.
var (
	// ErrUnknown: there is no such lease.
	ErrUnknown = errors.New("no such lease")
	// ErrReplaced: the lease has ended, because another range of the session was begun after it.
	ErrReplaced = errors.New("the lease has ended: another range of the session was begun after it")
	// ErrConflict: the lease was committed with other notes.
	ErrConflict = errors.New("the lease was committed with other notes")
	// ErrTooLong: the model refuses even a short range as too long.
	ErrTooLong = errors.New("the model refuses even a few words as too long")
)

// Options of a Ledger. Folder and Notes are required.
type Options struct {
	// Folder of the state. It is created when it is needed.
	Folder string
	// Notes takes the notes of commits.
	Notes Notes
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
}

// Range is a range of messages that was begun.
type Range struct {
	// Lease is passed to Commit; empty if all messages are covered.
	Lease string
	// Messages to show to the model.
	Messages []llm.Message
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
	name := fileOf(req.Session)
	err := l.finish(ctx, name)
	var f *folder
	if err == nil {
		f, err = l.openLocked(ctx)
	}
	if err != nil {
		return Range{}, fmt.Errorf("begin flush: %w", err)
	}
	defer f.close()
	out, err := l.begin(f, name, req)
	if err != nil {
		return Range{}, fmt.Errorf("begin flush: %w", err)
	}
	return out, nil
}

// begin is Begin with the folder locked.
func (l *Ledger) begin(f *folder, name string, req Request) (Range, error) {
	r, err := f.record(name)
	if err != nil {
		return Range{}, err
	}
	if req.TooLong && !r.halve(req.Window) && r.Begun != nil {
		return Range{}, ErrTooLong
	}
	r.Session = req.Session
	now, spooled := l.opt.Now(), f.spool(name)
	list := joinLists(spooled, req.Messages)
	r.forget(list)
	todo := r.uncovered(list)
	if !req.OnDisk {
		if err := l.spoolAll(f, name, spooled, todo, now); err != nil {
			return Range{}, err
		}
	}
	p := part{count: l.opt.Count, room: r.roomIn(req.Window, req.Fixed)}
	p.fill(todo, r.Shown)
	out := Range{Messages: p.messages, Uncovered: len(todo) - len(p.keys), Warnings: r.Warnings}
	b := begun{Keys: p.keys, Through: p.through, Piece: p.piece, Tokens: p.tokens, Left: out.Uncovered}
	if len(p.messages) == 0 {
		r.cover(b) // of messages without content
		return out, f.writeRecord(r, now)
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

// spoolAll spools the messages that are not covered, unless they are spooled already.
func (l *Ledger) spoolAll(f *folder, name string, spooled, todo []Message, now time.Time) error {
	if len(spooled) > 0 && len(todo) > 0 {
		known := make(map[string]bool, len(spooled))
		for _, m := range spooled {
			known[m.key()] = true
		}
		missing := 0
		for _, m := range todo {
			if !known[m.key()] {
				missing++
			}
		}
		if missing == 0 {
			return nil
		}
	}
	if err := f.writeSpool(name, todo); err != nil {
		return err
	}
	return f.limitSpools(name, l.opt.SpoolBytes, now)
}

// Committed is the result of a commit.
type Committed struct {
	// Silent reports that the reply has nothing for the user.
	Silent bool `json:"silent,omitempty"`
	// Covered is the number of messages that the commit has covered, and Through the id of the last one; 0 and empty if it
	// was a piece of a message.
	Covered int    `json:"covered,omitempty"`
	Through string `json:"through,omitempty"`
	// Notes says what became of each note.
	Notes []Stored `json:"notes,omitempty"`
	// Uncovered is the number of messages that are not covered, of those with which the range was begun.
	Uncovered int `json:"uncovered,omitempty"`
}

// Commit stores the notes of a range and marks its messages as covered. The same commit again returns the same result. Notes
// that memory refuses are reported in the result.
//
// Commit returns ErrUnknown, ErrReplaced, ErrConflict, or an error of memory. After an error of memory the notes are kept, and the
// next call for the session continues.
func (l *Ledger) Commit(ctx context.Context, lease string, notes []Note, reply string) (Committed, error) {
	if err := checkNotes(notes); err != nil {
		return Committed{}, err
	}
	name, _, _ := strings.Cut(lease, "-")
	if !sessionForm.MatchString(name) {
		return Committed{}, ErrUnknown
	}
	digest := digestOf(notes)
	err := l.storeCommit(ctx, name, lease, digest, notes, Silent(reply))
	if err == nil {
		err = l.finish(ctx, name)
	}
	if err != nil {
		return Committed{}, fmt.Errorf("commit flush: %w", err)
	}
	return l.lastCommit(name, lease)
}

func digestOf(notes []Note) string {
	data, _ := json.Marshal(notes) // strings always have a JSON form
	return hashOf(string(data))[:32]
}

// storeCommit writes the notes of a commit into the state of its session, unless they are there.
func (l *Ledger) storeCommit(ctx context.Context, name, lease, digest string, notes []Note, silent bool) error {
	f, err := l.openLocked(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	r, err := f.record(name)
	switch {
	case err != nil:
		return err
	case r.Last != nil && r.Last.Lease == lease:
		return sameDigest(r.Last.Digest, digest)
	case r.Writing != nil && r.Writing.Lease == lease:
		return sameDigest(r.Writing.Digest, digest)
	case r.Session == "":
		return ErrUnknown
	case r.Begun == nil || r.Begun.Lease != lease:
		return ErrReplaced
	}
	r.Writing = &writing{begun: *r.Begun, Digest: digest, Notes: notes, Silent: silent}
	r.Begun = nil
	return f.writeRecord(r, l.opt.Now())
}

func sameDigest(have, want string) error {
	if have != want {
		return ErrConflict
	}
	return nil
}

// lastCommit returns the result of a commit that was finished.
func (l *Ledger) lastCommit(name, lease string) (Committed, error) {
	f, err := l.openFolder()
	if err != nil {
		return Committed{}, fmt.Errorf("commit flush: %w", err)
	}
	defer f.close()
	r, err := f.record(name)
	if err == nil && (r.Last == nil || r.Last.Lease != lease) {
		err = ErrReplaced
	}
	if err != nil {
		return Committed{}, fmt.Errorf("commit flush: %w", err)
	}
	return r.Last.Result, nil
}

// Finish continues the commits that were interrupted, in all sessions. It returns the errors of memory.
func (l *Ledger) Finish(ctx context.Context) error {
	f, err := l.openFolder()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("continue flushes: %w", err)
	}
	names := f.sessions(recordSuffix)
	f.close()
	var failed []error
	for _, name := range names {
		failed = append(failed, l.finish(ctx, name))
	}
	return errors.Join(failed...)
}

// Continue continues the commit of a session that was interrupted, unless it has failed lately. It returns the errors of memory.
func (l *Ledger) Continue(ctx context.Context, session string) error {
	c, err := l.Coverage(session, nil)
	if err != nil || l.opt.Now().Before(c.NotBefore) {
		return err
	}
	err = l.finish(ctx, fileOf(session))
	if err != nil && ctx.Err() == nil {
		err = errors.Join(err, l.Fail(ctx, session, 0, false))
	}
	return err
}

// finish continues the commit of a session that was interrupted, if there is one.
func (l *Ledger) finish(ctx context.Context, name string) error {
	w, err := l.interrupted(name)
	if w == nil || err != nil {
		return err
	}
	stored, err := appendNotes(ctx, l.opt.Notes, w.Lease, w.Notes)
	if err != nil {
		return err
	}
	f, err := l.openLocked(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	r, err := f.record(name)
	if err != nil || r.Writing == nil || r.Writing.Lease != w.Lease {
		return err // another process has finished it
	}
	r.cover(w.begun)
	r.Last = &last{Lease: w.Lease, Digest: w.Digest, Result: Committed{
		Silent: w.Silent, Covered: len(w.Keys), Through: w.Through, Notes: stored, Uncovered: w.Left,
	}}
	if err := f.writeRecord(r, l.opt.Now()); err != nil {
		return err
	}
	if len(r.uncovered(f.spool(name))) == 0 {
		return f.writeSpool(name, nil)
	}
	return nil
}

// interrupted returns the commit of a session that is being written, nil if there is none.
func (l *Ledger) interrupted(name string) (*writing, error) {
	f, err := l.openFolder()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.close()
	r, err := f.record(name)
	return r.Writing, err
}

// Fail records that the begun range of a session could not be committed: the next one waits. tooLong says that it is to be half
// as long. Without a begun range Fail changes nothing.
func (l *Ledger) Fail(ctx context.Context, session string, window int, tooLong bool) error {
	f, err := l.openLocked(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	r, err := f.record(fileOf(session))
	if err != nil || r.Begun == nil && r.Writing == nil {
		return err
	}
	if tooLong {
		r.halve(window)
	}
	now := l.opt.Now()
	r.wait(max(r.Tries, 1), now)
	if r.Writing != nil {
		r.Tries++ // no range is begun until the commit is written
	}
	return f.writeRecord(r, now)
}

// Coverage says which messages of a session are covered.
type Coverage struct {
	// Covered says of each message of the request whether it is covered. A summary is.
	Covered []bool
	// Uncovered is the number of messages of the request that are not.
	Uncovered int
	// Interrupted is the number of spooled messages that are not covered and that the request lacks.
	Interrupted int
	// NotBefore is the time of the next try, zero if nothing has failed.
	NotBefore time.Time
	// Warnings say what was lost or mended since the last commit of the session.
	Warnings []string
}

// WaitReason says until when the next flush waits.
func (c Coverage) WaitReason() string {
	return "the last flush was not committed; the next try is at " + c.NotBefore.Format(time.TimeOnly)
}

// Coverage says which of these messages of a session are covered. It returns the errors of Begin for its names.
func (l *Ledger) Coverage(session string, list []Message) (Coverage, error) {
	if err := cmp.Or(checkSession(session), checkMessages(list)); err != nil {
		return Coverage{}, err
	}
	c := Coverage{Covered: make([]bool, len(list))}
	var r record
	var spooled []Message
	f, err := l.openFolder()
	if err == nil {
		defer f.close()
		r, err = f.record(fileOf(session))
		spooled = f.spool(fileOf(session))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Coverage{}, fmt.Errorf("read the state of flushes: %w", err)
	}
	covered := r.covered()
	for i, m := range list {
		c.Covered[i] = IsSummary(m.ID) || covered[m.key()]
		if !c.Covered[i] {
			c.Uncovered++
		}
	}
	c.Interrupted = len(r.uncovered(joinLists(spooled, list))) - c.Uncovered
	c.NotBefore, c.Warnings = r.NotBefore, r.Warnings
	return c, nil
}

// isRefusal reports whether an error of memory means that memory must not be written.
func isRefusal(err error) bool {
	return errors.Is(err, memory.ErrReadOnly) || errors.Is(err, memory.ErrNotWritable) || errors.Is(err, memory.ErrDenied)
}
