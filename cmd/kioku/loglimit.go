package main

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// burst is how many like lines are written in a period; the others are counted.
	logBurst  = 10
	logPeriod = time.Minute
	// maxKinds is how many kinds of lines are told apart. Lines beyond count as one kind.
	maxKinds = 1000
)

// distinguishing are the attributes whose values tell lines with the same message apart.
var distinguishing = []string{"method", "code", "agent", "path", "from"}

// logLimit passes on at most 10 like lines a minute, and then a line that counts those it left out. Lines are alike if they have
// the same level, message, and values of the attributes method, code, agent, path and from. Lines below slog.LevelWarn always
// pass.
type logLimit struct {
	next slog.Handler
	// with are the values of distinguishing attributes that all lines have.
	with  string
	kinds *logKinds
}

// logKinds counts the lines of each kind.
type logKinds struct {
	mu   sync.Mutex
	seen map[string]*logCount // guarded by mu
}

// logCount is the number of like lines since the first of a period.
type logCount struct{ written, left int }

// newLogLimit returns a handler that writes to next.
func newLogLimit(next slog.Handler) *logLimit {
	return &logLimit{next: next, kinds: &logKinds{seen: map[string]*logCount{}}}
}

// Enabled reports whether next takes lines of a level.
func (h *logLimit) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle passes a line on, or counts it.
func (h *logLimit) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return h.next.Handle(ctx, r)
	}
	key := strings.Join([]string{r.Level.String(), r.Message, h.with}, "\x00")
	r.Attrs(func(a slog.Attr) bool {
		key += distinguishingValues([]slog.Attr{a})
		return true
	})
	if !h.kinds.pass(key, func(left int) { h.tell(r, left) }) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// pass reports whether a line may be written. The first line of a kind begins a period, at whose end told is called if lines
// were left out.
func (k *logKinds) pass(key string, told func(left int)) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.seen) >= maxKinds && k.seen[key] == nil {
		key = ""
	}
	c := k.seen[key]
	if c == nil {
		c = &logCount{}
		k.seen[key] = c
		time.AfterFunc(logPeriod, func() {
			k.mu.Lock()
			left := c.left
			delete(k.seen, key)
			k.mu.Unlock()
			if left > 0 {
				told(left)
			}
		})
	}
	if c.written >= logBurst {
		c.left++
		return false
	}
	c.written++
	return true
}

// tell writes how many lines like r were left out.
func (h *logLimit) tell(r slog.Record, left int) {
	more := slog.NewRecord(time.Now(), r.Level, "left out lines like this one", 0)
	more.AddAttrs(slog.Int("count", left), slog.String("line", r.Message))
	r.Attrs(func(a slog.Attr) bool {
		if distinguishingValues([]slog.Attr{a}) != "" {
			more.AddAttrs(a)
		}
		return true
	})
	_ = h.next.Handle(context.Background(), more) // as for any line, there is nobody to tell
}

// WithAttrs returns a handler whose lines have more attributes. It counts with h.
func (h *logLimit) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logLimit{next: h.next.WithAttrs(attrs), with: h.with + distinguishingValues(attrs), kinds: h.kinds}
}

// WithGroup returns a handler whose lines have their attributes in a group. It counts with h.
func (h *logLimit) WithGroup(name string) slog.Handler {
	return &logLimit{next: h.next.WithGroup(name), with: h.with + name + "\x00", kinds: h.kinds}
}

// distinguishingValues returns the values of the distinguishing attributes.
func distinguishingValues(attrs []slog.Attr) string {
	var b strings.Builder
	for _, a := range attrs {
		for _, key := range distinguishing {
			if a.Key == key {
				b.WriteString(key + "=" + withoutPort(key, a.Value.String()) + "\x00")
			}
		}
	}
	return b.String()
}

// withoutPort returns a value without what differs in each line: the port of a peer.
func withoutPort(key, value string) string {
	if i := strings.LastIndexByte(value, ':'); key == "from" && i >= 0 {
		return value[:i]
	}
	return value
}
