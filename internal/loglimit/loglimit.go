// Package loglimit keeps a storm of like log lines from filling a disk.
package loglimit

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// burst is how many like lines are written in a period; the others are counted.
	burst  = 10
	period = time.Minute
	// maxKinds is how many kinds of lines are told apart. Lines beyond count as one kind.
	maxKinds = 1000
)

// distinguishing are the attributes whose values tell lines with the same message apart.
var distinguishing = []string{"method", "code", "agent", "path", "from"}

// Handler passes on at most 10 like lines a minute, and then a line that counts those it left out. Lines are alike if they have
// the same level, message, and values of the attributes method, code, agent, path and from. Lines below slog.LevelWarn always
// pass.
type Handler struct {
	next slog.Handler
	// with are the values of distinguishing attributes that all lines have.
	with  string
	kinds *kinds
}

// kinds counts the lines of each kind.
type kinds struct {
	mu   sync.Mutex
	seen map[string]*count // guarded by mu
}

// count is the number of like lines since the first of a period.
type count struct{ written, left int }

// New returns a handler that writes to next.
func New(next slog.Handler) *Handler {
	return &Handler{next: next, kinds: &kinds{seen: map[string]*count{}}}
}

// Enabled reports whether next takes lines of a level.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle passes a line on, or counts it.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return h.next.Handle(ctx, r)
	}
	key := strings.Join([]string{r.Level.String(), r.Message, h.with}, "\x00")
	r.Attrs(func(a slog.Attr) bool {
		key += values([]slog.Attr{a})
		return true
	})
	if !h.kinds.pass(key, func(left int) { h.tell(r, left) }) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// pass reports whether a line may be written. The first line of a kind begins a period, at whose end told is called if lines
// were left out.
func (k *kinds) pass(key string, told func(left int)) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.seen) >= maxKinds && k.seen[key] == nil {
		key = ""
	}
	c := k.seen[key]
	if c == nil {
		c = &count{}
		k.seen[key] = c
		time.AfterFunc(period, func() {
			k.mu.Lock()
			left := c.left
			delete(k.seen, key)
			k.mu.Unlock()
			if left > 0 {
				told(left)
			}
		})
	}
	if c.written >= burst {
		c.left++
		return false
	}
	c.written++
	return true
}

// tell writes how many lines like r were left out.
func (h *Handler) tell(r slog.Record, left int) {
	more := slog.NewRecord(time.Now(), r.Level, "left out lines like this one", 0)
	more.AddAttrs(slog.Int("count", left), slog.String("line", r.Message))
	r.Attrs(func(a slog.Attr) bool {
		if values([]slog.Attr{a}) != "" {
			more.AddAttrs(a)
		}
		return true
	})
	_ = h.next.Handle(context.Background(), more) // as for any line, there is nobody to tell
}

// WithAttrs returns a handler whose lines have more attributes. It counts with h.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{next: h.next.WithAttrs(attrs), with: h.with + values(attrs), kinds: h.kinds}
}

// WithGroup returns a handler whose lines have their attributes in a group. It counts with h.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{next: h.next.WithGroup(name), with: h.with + name + "\x00", kinds: h.kinds}
}

// values returns the values of the distinguishing attributes.
func values(attrs []slog.Attr) string {
	var b strings.Builder
	for _, a := range attrs {
		for _, key := range distinguishing {
			if a.Key == key {
				b.WriteString(key + "=" + host(key, a.Value.String()) + "\x00")
			}
		}
	}
	return b.String()
}

// host returns a value without what differs in each line: the port of a peer.
func host(key, value string) string {
	if i := strings.LastIndexByte(value, ':'); key == "from" && i >= 0 {
		return value[:i]
	}
	return value
}
