package flush

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"kioku/memory"
)

// Answer is what a model made of a range.
type Answer struct {
	// Notes to store.
	Notes []Note `json:"notes,omitempty"`
	// Reply is the last reply of the model.
	Reply string `json:"reply,omitempty"`
	// Unfinished says that the model was stopped before it was done. The notes are stored, but the messages are not covered: the
	// next range is half as long, and its model is told which notes are stored.
	Unfinished bool `json:"unfinished,omitempty"`
}

// Committed is the result of a commit.
type Committed struct {
	// Session is the name of the conversation.
	Session string `json:"-"`
	// Silent reports that the reply has nothing for the user.
	Silent bool `json:"silent,omitempty"`
	// Covered is the number of messages that the commit has covered; 0 if it was a piece of a message.
	Covered int `json:"covered_count,omitempty"`
	// Through is the id of the last covered message; empty if there is none.
	Through string `json:"through_id,omitempty"`
	// Notes says what became of each note.
	Notes []Stored `json:"notes,omitempty"`
	// Uncovered is the number of messages that are not covered, of those with which the range was begun.
	Uncovered int `json:"uncovered_count,omitempty"`
	// Warning says that notes of the range may be missing; empty if it was finished. An unfinished range that is too short to be
	// halved is covered with a warning.
	Warning string `json:"warning,omitempty"`
}

// Commit stores the notes of a range and marks its messages as covered. The same commit again returns the same result. Notes
// that memory refuses are reported in the result.
//
// Commit returns ErrUnknown, ErrReplaced, ErrConflict, or an error of memory. After an error of memory the notes are kept, and the
// next call for the session continues.
func (l *Ledger) Commit(ctx context.Context, lease string, answer Answer) (Committed, error) {
	if err := checkNotes(answer.Notes); err != nil {
		return Committed{}, err
	}
	name, _, _ := strings.Cut(lease, "-")
	if !sessionForm.MatchString(name) {
		return Committed{}, ErrUnknown
	}
	err := l.storeCommit(ctx, name, lease, answer)
	if err == nil {
		err = l.finish(ctx, name)
	}
	if err != nil {
		return Committed{}, fmt.Errorf("commit flush: %w", err)
	}
	return l.lastCommit(name, lease)
}

// digest tells commits of a lease apart. The reply does not count.
func (a Answer) digest() string {
	data, _ := json.Marshal(a.Notes) // strings always have a JSON form
	if a.Unfinished {
		data = append(data, "unfinished"...)
	}
	return hashOf(string(data))[:32]
}

// storeCommit writes a commit into the state of its session, unless it is there.
func (l *Ledger) storeCommit(ctx context.Context, name, lease string, answer Answer) error {
	digest := answer.digest()
	return l.locked(ctx, func(f *folder) error {
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
		r.Writing = &writing{begun: *r.Begun, Digest: digest, Notes: answer.Notes, Silent: Silent(answer.Reply), Unfinished: answer.Unfinished}
		r.Begun = nil
		return f.writeRecord(r, l.opt.Now())
	})
}

func sameDigest(have, want string) error {
	if have != want {
		return ErrConflict
	}
	return nil
}

// lastCommit returns the result of a commit that was finished.
func (l *Ledger) lastCommit(name, lease string) (Committed, error) {
	r, err := l.recordOf(name)
	if err == nil && (r.Last == nil || r.Last.Lease != lease) {
		err = ErrReplaced
	}
	if err != nil {
		return Committed{}, fmt.Errorf("commit flush: %w", err)
	}
	done := r.Last.Result
	done.Session = r.Session
	return done, nil
}

// recordOf returns the state of a session as it is now.
func (l *Ledger) recordOf(name string) (r record, err error) {
	err = l.look(func(f *folder) (err error) {
		r, err = f.record(name)
		return err
	})
	return r, err
}

// Finish continues the commits that were interrupted, in all sessions, and removes spools that are too old. It returns the
// errors of memory, and an error for spooled messages that are lost of a session whose name is not known.
func (l *Ledger) Finish(ctx context.Context) error {
	var names, spools []string
	if err := l.look(func(f *folder) error {
		names, spools = f.sessions(recordSuffix), f.sessions(spoolSuffix)
		return nil
	}); err != nil {
		return fmt.Errorf("continue flushes: %w", err)
	}
	var failed []error
	if len(spools) > 0 {
		failed = append(failed, l.locked(ctx, l.removeSpools))
	}
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
	before, err := l.recordOf(name)
	w := before.Writing
	if w == nil || err != nil {
		return err
	}
	common := l.noteOf(w)
	common.Session = before.Session
	stored, err := appendNotes(ctx, l.opt.Notes, common, w.Notes)
	if err != nil {
		return err
	}
	return l.locked(ctx, func(f *folder) error {
		r, err := f.record(name)
		if err != nil || r.Writing == nil || r.Writing.Lease != w.Lease {
			return err // another process has finished it
		}
		r.Last = &last{Lease: w.Lease, Digest: w.Digest, Result: r.endCommit(w, stored)}
		if err := f.writeRecord(r, l.opt.Now()); err != nil {
			return err
		}
		if len(l.uncovered(&r, placed(f.spool(name)))) == 0 {
			return f.writeSpool(name, nil)
		}
		return nil
	})
}

// noteOf returns what all notes of a commit have in common. Key is the lease.
func (l *Ledger) noteOf(w *writing) memory.Note {
	n := memory.Note{Target: memory.TargetDaily, Source: memory.NoteFromFlush, Key: w.Lease, Origin: w.Origin}
	if w.Group && w.Origin != nil && l.opt.Groups == GroupsSeparate && strings.TrimSpace(w.Origin.Channel) != "" {
		n.Target = memory.TargetGroup
	}
	return n
}

// endCommit records that the notes of a commit are stored, and returns its result.
func (r *record) endCommit(w *writing, stored []Stored) Committed {
	done := Committed{Silent: w.Silent, Notes: stored, Uncovered: w.Left}
	if w.Unfinished && w.Tokens > minUnfinished {
		r.keepRest(w, stored)
		done.Uncovered += len(w.Keys)
		return done
	}
	if w.Unfinished {
		done.Warning = fmt.Sprintf("the model found no end with %d messages through %q: notes of them may be missing", len(w.Keys), w.Through)
	}
	r.cover(w.begun)
	// What was refused once may fit later: a server is updated, or has refused for another reason.
	r.Room += r.Room / growthParts
	done.Covered, done.Through = len(w.Keys), w.Through
	return done
}

// Fail records that the begun range of a session could not be committed: the next one waits. tooLong says that it is to be half
// as long. Without a begun range Fail changes nothing.
func (l *Ledger) Fail(ctx context.Context, session string, window int, tooLong bool) error {
	return l.locked(ctx, func(f *folder) error {
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
	})
}
