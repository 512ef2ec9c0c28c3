package flush

import (
	"slices"
	"time"

	"kioku/memory"
)

const (
	// maxCovered is the number of covered messages above which those that the last request did not contain are forgotten.
	maxCovered = 5000
	// maxWarnings is the maximum number of warnings that a session keeps.
	maxWarnings = 10
	// growthParts: after a commit the learnt room grows by 1/growthParts.
	growthParts = 4
	// firstWait is the wait after the first failure; it doubles with each further one, up to maxWait.
	firstWait = 10 * time.Second
	maxWait   = 10 * time.Minute
)

// record is the state of a session on disk.
type record struct {
	// Session is its name.
	Session string `json:"session"`
	// Used is the time of the last change.
	Used time.Time `json:"used"`
	// Ended says that the session has ended, so that what is spooled of it waits for nobody.
	Ended bool `json:"ended,omitempty"`
	// Open says that a host that keeps its messages on disk has begun the session and not ended it.
	Open bool `json:"open,omitempty"`
	// Group is the channel of the last group that was in the session; empty if none was.
	Group string `json:"group,omitempty"`
	// Covered are the keys of the covered messages, the earliest first.
	Covered []string `json:"covered,omitempty"`
	// Shown is the beginning of the next message that was covered in pieces.
	Shown *piece `json:"shown,omitempty"`
	// Begun is the range that was begun and is not committed.
	Begun *begun `json:"begun,omitempty"`
	// Writing is the commit that is being written.
	Writing *writing `json:"writing,omitempty"`
	// Rest is what is left of ranges whose models did not finish; nil if there is none.
	Rest *rest `json:"rest,omitempty"`
	// Last is the last commit.
	Last *last `json:"last,omitempty"`
	// Tries is the number of ranges that were begun since the last commit.
	Tries int `json:"tries,omitempty"`
	// NotBefore is the time of the next try after a failure, zero if nothing has failed.
	NotBefore time.Time `json:"notBefore,omitzero"`
	// Room is the maximum size in tokens of a range after the model has refused a longer one; 0 if it refused none.
	Room int `json:"room,omitempty"`
	// Window is the window in tokens in which Room counts.
	Window int `json:"window,omitempty"`
	// Warnings say what was lost or mended since the last commit.
	Warnings []string `json:"warnings,omitempty"`
}

// begun is a range under its lease.
type begun struct {
	// Lease is its id.
	Lease string `json:"lease"`
	// Keys are those of the messages that its commit covers.
	Keys []string `json:"keys,omitempty"`
	// Through is the id of the last message of Keys.
	Through string `json:"through,omitempty"`
	// Piece is the beginning of a further message.
	Piece *piece `json:"piece,omitempty"`
	// Tokens of its messages.
	Tokens int `json:"tokens"`
	// Told is the number of tokens of the list of stored notes that is shown with them.
	Told int `json:"told,omitempty"`
	// Left is the number of messages that are not covered after it.
	Left int `json:"left"`
	// Origin says whose words the messages are; nil if those of the owner in private.
	Origin *memory.Origin `json:"origin,omitempty"`
	// Group reports that they were said in a group.
	Group bool `json:"group,omitempty"`
}

// writing is a commit whose notes are being appended.
type writing struct {
	begun
	// Digest of the notes tells commits apart.
	Digest string `json:"digest"`
	// Notes to append.
	Notes []Note `json:"notes,omitempty"`
	// Silent says that the reply has nothing for the user.
	Silent bool `json:"silent,omitempty"`
	// Unfinished says that the messages are not covered by the notes.
	Unfinished bool `json:"unfinished,omitempty"`
}

// last is a commit that was written.
type last struct {
	// Lease of the range.
	Lease string `json:"lease"`
	// Digest of the notes tells commits apart.
	Digest string `json:"digest"`
	// Result is what Commit returned.
	Result Committed `json:"result"`
}

// cover marks the messages of a range as covered.
func (r *record) cover(b begun) {
	have := r.covered()
	for _, key := range b.Keys {
		if !have[key] {
			r.Covered = append(r.Covered, key)
		}
	}
	r.Shown = b.Piece
	r.endRange()
}

// endRange records that the begun range was committed.
func (r *record) endRange() {
	r.Begun, r.Writing = nil, nil
	r.Tries, r.NotBefore, r.Warnings = 0, time.Time{}, nil
}

// covered returns the keys of the covered messages.
func (r *record) covered() map[string]bool {
	keys := make(map[string]bool, len(r.Covered))
	for _, key := range r.Covered {
		keys[key] = true
	}
	return keys
}

// forget removes the oldest covered messages that are not in a list, if there are too many.
func (r *record) forget(list []Message) {
	excess := len(r.Covered) - maxCovered
	if excess <= 0 {
		return
	}
	used := make(map[string]bool, len(list))
	for _, m := range list {
		used[m.key()] = true
	}
	r.Covered = slices.DeleteFunc(r.Covered, func(key string) bool {
		excess--
		return excess >= 0 && !used[key]
	})
}

// uncovered returns the messages of a list that are not covered.
func (r *record) uncovered(list []Message) []Message {
	covered := r.covered()
	var out []Message
	for _, m := range list {
		if !IsSummary(m) && !covered[m.key()] {
			out = append(out, m)
		}
	}
	return out
}

// roomIn returns how many tokens a range may have.
func (r *record) roomIn(window, fixed int) int {
	room := roomOf(window, fixed)
	if r.Room > 0 && r.Window == window {
		room = min(room, max(r.Room, minLearnt))
	}
	return room
}

// halve makes the next range half as long as the begun one. It reports whether that is possible.
func (r *record) halve(window int) bool {
	if r.Begun == nil {
		return false
	}
	half := (r.Begun.Tokens + r.Begun.Told) / 2
	if half < minLearnt {
		return false
	}
	r.Room, r.Window = half, window
	return true
}

// wait sets the time of the next try after a number of failures.
func (r *record) wait(failures int, now time.Time) {
	r.NotBefore = time.Time{}
	if failures > 0 {
		r.NotBefore = now.Add(min(firstWait<<min(failures-1, 10), maxWait))
	}
}

// warn adds a warning.
func (r *record) warn(text string) {
	if len(r.Warnings) < maxWarnings {
		r.Warnings = append(r.Warnings, text)
	}
}
