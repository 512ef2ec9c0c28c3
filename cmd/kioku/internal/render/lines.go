package render

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Lines is a log handler for commands: it writes records as notices.
type Lines struct {
	// Out takes the notices.
	Out *Output
	// Level is the minimum level of what is written.
	Level slog.Leveler
	attrs []slog.Attr
}

// Enabled reports whether records of a level are written.
func (l *Lines) Enabled(_ context.Context, level slog.Level) bool { return level >= l.Level.Level() }

// Handle writes "message (key value, ...)" on a line.
func (l *Lines) Handle(_ context.Context, r slog.Record) error {
	var details []string
	add := func(at slog.Attr) bool {
		details = append(details, fmt.Sprintf("%s %s", at.Key, at.Value))
		return true
	}
	for _, at := range l.attrs {
		add(at)
	}
	r.Attrs(add)
	text := r.Message
	if len(details) > 0 {
		text += " (" + strings.Join(details, ", ") + ")"
	}
	l.Out.Notice("%s", text)
	return nil
}

// WithAttrs returns a handler that adds attrs to every record.
func (l *Lines) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Lines{l.Out, l.Level, slices.Concat(l.attrs, attrs)}
}

// WithGroup returns the handler itself: lines have no groups.
func (l *Lines) WithGroup(string) slog.Handler { return l }
