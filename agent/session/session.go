package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"kioku/internal/files"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/memory"
)

// Options of a session.
type Options struct {
	// Count counts the tokens of a text; nil means text.EstimateTokens.
	Count func(text string) int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Session is an open transcript. It is the only one that writes to it. Its methods may be called concurrently.
type Session struct {
	id  string
	opt Options

	mu     sync.Mutex
	file   *os.File // nil when closed
	size   int64
	last   int // the highest number that an id or a line has
	thread *thread
}

// Open opens or creates the transcript of a session in a folder, and keeps it locked until Close. It moves an unfinished line,
// which a crash has left, to another file. The report says so, and names the lines that were skipped. Open returns ErrID for
// an invalid id and ErrInUse if the transcript is open.
func Open(folder, id string, opt Options) (*Session, Report, error) {
	if err := CheckID(id); err != nil {
		return nil, Report{}, err
	}
	if opt.Count == nil {
		opt.Count = text.EstimateTokens
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	s := &Session{id: id, opt: opt, thread: newThread(opt.Count)}
	report, err := s.load(folder)
	if err != nil {
		return nil, report, fmt.Errorf("open session %s: %w", id, err)
	}
	return s, report, nil
}

// load locks, reads and mends the file.
func (s *Session) load(folder string) (Report, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return Report{}, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return Report{}, err
	}
	defer root.Close()
	if s.file, err = openLocked(root, s.id+suffix); err != nil {
		return Report{}, err
	}
	report, err := Read(s.file, s.restore)
	if err == nil {
		report.TornFile, s.size, err = mend(root, s.id, s.file, report.Torn)
	}
	if err != nil {
		s.file.Close()
		return report, err
	}
	for _, b := range report.Bad {
		s.last = max(s.last, b.Line)
	}
	return report, nil
}

// restore adds a line of the file to the thread.
func (s *Session) restore(l Line) error {
	if err := s.thread.fits(l.Entry); err != nil {
		return err
	}
	s.thread.apply(l)
	s.last = max(s.last, l.Number, number(l.ID))
	return nil
}

// number returns the number of an id that Append made, 0 for another id.
func number(id string) int {
	n, err := strconv.Atoi(id)
	if err != nil {
		return 0
	}
	return n
}

// ID of the session.
func (s *Session) ID() string { return s.id }

// Size of the transcript in bytes.
func (s *Session) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// View returns the messages that a model is sent now.
func (s *Session) View() View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.thread.view()
}

// Assume says who has said the messages of users that do not say it themselves, such as those of a transcript of an older version.
func (s *Session) Assume(said memory.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thread.assumed = said
}

// Append appends an entry and returns it as it was stored, with ID, Time and Tokens and without recalled memories in the text of
// a user or an assistant. When Append returns, the entry is on disk; after an error it is not in the transcript. Append
// returns ErrEntry for an entry that cannot come next: a result without an open call, a compaction that keeps a message that
// does not exist, or an id that exists already.
func (s *Session) Append(e Entry) (Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return Entry{}, fmt.Errorf("append to session %s: %w", s.id, ErrClosed)
	}
	line, err := s.prepare(&e)
	if err != nil {
		return Entry{}, fmt.Errorf("append to session %s: %w: %w", s.id, ErrEntry, err)
	}
	if err := s.write(line); err != nil {
		return Entry{}, fmt.Errorf("append to session %s: %w", s.id, err)
	}
	s.last = max(s.last+1, number(e.ID))
	s.thread.apply(Line{Entry: e, Bytes: len(line)})
	return e, nil
}

// prepare completes and checks an entry and returns its line. The entry becomes what is read back from that line.
func (s *Session) prepare(e *Entry) ([]byte, error) {
	if e.ID == "" {
		e.ID = fmt.Sprintf("%06d", s.last+1)
	}
	if e.Time.IsZero() {
		e.Time = s.opt.Now().UTC()
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	s.fill(e)
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	kept, err := parse(line.Bytes())
	if err != nil {
		return nil, err
	}
	*e = kept
	return line.Bytes(), s.thread.fits(kept)
}

// fill strips and counts the message of an entry, without changing the caller's message.
func (s *Session) fill(e *Entry) {
	e.Tokens = 0
	if e.Kind != KindMessage {
		return
	}
	m := *e.Message
	if m.Role != llm.RoleTool {
		m.Text = memory.StripRecalled(m.Text)
	}
	e.Message = &m
	e.Tokens = llm.MessageTokens(s.opt.Count, shown(m, e.Said))
}

// write appends a line and waits for the disk. If an unfinished line cannot be removed, write closes the session, so that no
// other line follows it.
func (s *Session) write(line []byte) error {
	err := files.Append(s.file, line)
	if err == nil {
		s.size += int64(len(line))
	} else if errors.Is(err, files.ErrTorn) {
		err = errors.Join(err, files.Unlock(s.file))
		s.file = nil
	}
	return err
}

// Close closes and unlocks the transcript. A second Close has no effect.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := files.Unlock(s.file)
	s.file = nil
	return err
}
