package turns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"syscall"
	"time"
)

const (
	// defaultLimit and maxSessions bound a page.
	defaultLimit, maxSessions = 50, 500
	// lineSlack is how much larger than full a file may be: a line is written before the file is found to be full.
	lineSlack = 1 << 20
)

// Query asks for entries. The zero value asks for the last ones.
type Query struct {
	// Session is the only conversation to list; empty means all.
	Session string
	// Since and Until are the first and last day, YYYY-MM-DD; empty means no bound.
	Since string
	// Until is the last day; empty means no bound.
	Until string
	// After is the id of the entry after which the list goes on; empty for the first page.
	After string
	// Limit is the maximum number of entries; 0 means 50.
	Limit int
	// Location decides on which day an entry is; nil means time.Local.
	Location *time.Location
}

// Page is a part of the record.
type Page struct {
	// Entries, the latest first.
	Entries []Entry `json:"turns"`
	// Next is the id after which the list goes on; empty at its end.
	Next string `json:"next_page_token,omitempty"`
	// Sessions are the conversations of the record, the one with the latest entry first; only on the first page.
	Sessions []Session `json:"sessions,omitempty"`
}

// Session is a conversation in the record.
type Session struct {
	// Name of the conversation; empty for entries of none.
	Name string `json:"session"`
	// Turns is the number of its prompts and recalls.
	Turns int `json:"turn_count"`
	// First and Last are the times of its first and last entry in the record.
	First time.Time `json:"first_time"`
	// Last is the time of its last entry.
	Last time.Time `json:"last_time"`
	// Channel of the last entry that has one.
	Channel string `json:"channel,omitempty"`
}

// Day is what the record has of one day.
type Day struct {
	// Turns is the number of prompts and recalls on this day, and Used that of the passages that they recalled.
	Turns int
	// Used is the number of passages recalled on this day.
	Used int
	// Recalled is how often passages of notes of this day were recalled.
	Recalled int
}

// List returns entries. Lines that cannot be read are skipped.
func (l *Log) List(ctx context.Context, q Query) (Page, error) {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	sessions, found, past := &sessionCounts{at: map[string]int{}}, Page{}, q.After == ""
	for e, err := range l.backwards(ctx) {
		if err != nil {
			return Page{}, err
		}
		if q.After == "" {
			sessions.add(e)
		}
		switch {
		case !past:
			past = e.ID == q.After
			continue
		case !q.selects(e):
			continue
		case len(found.Entries) < q.Limit:
			found.Entries = append(found.Entries, e)
			continue
		}
		if found.Next = found.Entries[q.Limit-1].ID; q.After != "" {
			break // the sessions are on the first page
		}
	}
	found.Sessions = sessions.list[:min(len(sessions.list), maxSessions)]
	return found, nil
}

// selects reports whether an entry is asked for.
func (q Query) selects(e Entry) bool {
	day := e.Time.In(locationOr(q.Location)).Format(time.DateOnly)
	return (q.Session == "" || e.Session == q.Session) && (q.Since == "" || day >= q.Since) && (q.Until == "" || day <= q.Until)
}

func locationOr(l *time.Location) *time.Location {
	if l == nil {
		return time.Local
	}
	return l
}

// isTurn reports whether something was recalled or could have been.
func (e Entry) isTurn() bool { return e.Kind == KindPrompt || e.Kind == KindRecall }

// sessionCounts collects sessions, of which the first seen has the latest entry.
type sessionCounts struct {
	list []Session
	at   map[string]int
}

// add counts an entry that is older than those before.
func (c *sessionCounts) add(e Entry) {
	i, ok := c.at[e.Session]
	if !ok {
		i = len(c.list)
		c.at[e.Session] = i
		c.list = append(c.list, Session{Name: e.Session, Last: e.Time})
	}
	s := &c.list[i]
	s.First = e.Time
	if s.Channel == "" {
		s.Channel = e.Channel
	}
	if e.isTurn() {
		s.Turns++
	}
}

// Days returns what the record has of each day. counts says whether a passage counts.
func (l *Log) Days(ctx context.Context, location *time.Location, counts func(Passage) bool) (map[string]Day, error) {
	days := map[string]Day{}
	for e, err := range l.backwards(ctx) {
		if err != nil {
			return nil, err
		}
		if !e.isTurn() {
			continue
		}
		date := e.Time.In(locationOr(location)).Format(time.DateOnly)
		day := days[date]
		day.Turns++
		days[date] = day
		if e.Recall == nil {
			continue
		}
		for _, p := range e.Recall.In {
			if !counts(p) {
				continue
			}
			day := days[date]
			day.Used++
			days[date] = day
			if p.Date != "" {
				of := days[p.Date]
				of.Recalled++
				days[p.Date] = of
			}
		}
	}
	return days, nil
}

// backwards yields the entries, the latest first. Lines that are no entries are skipped.
func (l *Log) backwards(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var first []byte
		for _, name := range []string{current, previous} {
			lines, err := l.readFile(name)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Entry{}, fmt.Errorf("read the turns: %w", err))
				return
			}
			if len(lines) > 0 && len(lines[0]) > 0 && bytes.Equal(lines[0], first) {
				return // the file was renamed between the two readings
			}
			if len(lines) > 0 {
				first = lines[0]
			}
			for _, line := range slices.Backward(lines) {
				var e Entry
				if json.Unmarshal(line, &e) == nil && e.ID != "" && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// readFile returns the lines of a file, none if it does not exist.
func (l *Log) readFile(name string) ([][]byte, error) {
	folder, err := os.OpenRoot(l.opt.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	f, err := folder.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, l.opt.MaxBytes+lineSlack))
	return bytes.Split(text, []byte("\n")), err
}
