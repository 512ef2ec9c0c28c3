package council

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

// ErrCommand reports a command that a worker must not obey.
var ErrCommand = errors.New("the command is refused")

// Check returns a memory.InputError for a command that no worker understands.
func (c *Command) Check() error {
	switch {
	case !ValidID(c.ID):
		return Invalid("id", "is %.80q; must be 1 to 80 of A-Z, a-z, 0-9, '_' and '-'", c.ID)
	case !slices.Contains([]string{CommandPause, CommandResume, CommandAdjustParams, CommandRestart}, c.Action):
		return Invalid("action", "is %.40q; must be pause, resume, adjust_params or restart", c.Action)
	case c.Params.DurationMinutes < 0 || c.Params.DurationMinutes > 7*24*60:
		return Invalid("params.duration_minutes", "is %d; must be 0 to %d", c.Params.DurationMinutes, 7*24*60)
	case c.Action == CommandAdjustParams && len(c.Params.Directives)+len(c.Params.Values) == 0:
		return Invalid("params.directives", "are missing; say in at most %d lines or values how the worker is to behave", MaxDirectives)
	case len(c.Params.Directives) > MaxDirectives:
		return Invalid("params.directives", "are %d; at most %d are taken", len(c.Params.Directives), MaxDirectives)
	case len(c.Params.Values) > MaxDirectives:
		return Invalid("params.values", "are %d; at most %d are taken", len(c.Params.Values), MaxDirectives)
	}
	for name, v := range c.Params.Values {
		if !ValidName(name) || !(v >= 0 && v <= 1) {
			return Invalid("params.values", "has %.40q: %v; need a name in lower case and a number from 0 to 1", name, v)
		}
	}
	for _, d := range c.Params.Directives {
		if utf8.RuneCountInString(d) > MaxDirective || d == "" {
			return Invalid("params.directives", "have 1 to %d characters each", MaxDirective)
		}
	}
	return nil
}

// Orders returns what adjust_params tells a worker, a line each: the values by name, then the directives.
func (p CommandParams) Orders() (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(p.Values)) {
		lines = append(lines, fmt.Sprintf("%s is %.2f from 0 to 1 (%s)", name, p.Values[name], Level(p.Values[name])))
	}
	return append(lines, p.Directives...)
}

// Level returns the word for a parameter.
func Level(v float64) string {
	switch {
	case v < 0.34:
		return "low"
	case v < 0.67:
		return "middling"
	}
	return "high"
}

// Sign returns the MAC of a command with a key.
func (c Command) Sign(key []byte) string {
	c.MAC = ""
	data, err := json.Marshal(c)
	if err != nil {
		return "" // which no MAC is
	}
	h := hmac.New(sha256.New, key)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// Verify returns an ErrCommand if a worker must not obey a command: it is for somebody else, not understood, expired, or does not have
// the MAC of the key; without a key none is needed. Whether it was obeyed before is for the caller to know.
func (c Command) Verify(worker string, key []byte, now time.Time) error {
	if err := c.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrCommand, err)
	}
	switch {
	case c.Worker != worker:
		return fmt.Errorf("%w: it is for %.80q", ErrCommand, c.Worker)
	case c.IssuedBy.Kind == "" && c.TaskID == "":
		return fmt.Errorf("%w: nobody has issued it", ErrCommand)
	case !now.Before(c.ExpiresAt):
		return fmt.Errorf("%w: it has expired", ErrCommand)
	case len(key) > 0 && !hmac.Equal([]byte(c.Sign(key)), []byte(c.MAC)):
		return fmt.Errorf("%w: it is not signed with the key of this worker", ErrCommand)
	}
	return nil
}

// End returns when a pause or directives end.
func (c Command) End() time.Time {
	minutes := c.Params.DurationMinutes
	if minutes == 0 {
		minutes = 5
		if c.Action == CommandAdjustParams {
			minutes = 30
		}
	}
	return c.IssuedAt.Add(time.Duration(minutes) * time.Minute)
}
