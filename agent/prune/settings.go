package prune

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Modes of pruning.
const (
	ModeOff      = "off"
	ModeCacheTTL = "cache-ttl"
)

// Settings say when and how much is pruned. The zero value prunes nothing; [Defaults] are the ones to start from.
// Characters are Unicode code points.
type Settings struct {
	// Mode is ModeCacheTTL; anything else means ModeOff.
	Mode string
	// TTL is the lifetime of a provider's prompt cache. Within it nothing new is pruned unless the provider says that nothing is
	// cached; 0 or less means that nothing is pruned.
	TTL time.Duration
	// KeepLastAssistants is the number of assistant messages from the end that are protected, with all that follows the first
	// of them.
	KeepLastAssistants int
	// SoftTrimRatio is the part of the window, 0 to 1, from which on long results are trimmed.
	SoftTrimRatio float64
	// HardClearRatio is the part of the window, 0 to 1, from which on old results are cleared.
	HardClearRatio float64
	// MinPrunableToolChars is the minimum number of characters to clear; if there are fewer, nothing is cleared.
	MinPrunableToolChars int
	// SoftTrim says how long results are trimmed.
	SoftTrim SoftTrim
	// HardClear says how old results are cleared; the zero value clears none.
	HardClear HardClear
	// Tools selects the tools whose results are pruned; the zero value selects all.
	Tools Tools
}

// SoftTrim says how a long result is trimmed. Sizes are characters.
type SoftTrim struct {
	// MaxChars is the maximum length of a result that is not trimmed.
	MaxChars int
	// Head and Tail are the lengths of the two ends that are kept.
	Head, Tail int
}

// HardClear says how an old result is cleared.
type HardClear struct {
	// Enabled is set if old results are cleared.
	Enabled bool
	// Placeholder replaces a result that was cleared.
	Placeholder string
}

// Tools selects tools by name. In a pattern "*" stands for any characters, and case does not matter.
type Tools struct {
	// Allow selects the tools whose results may be pruned; empty means all.
	Allow []string
	// Deny selects tools whose results are never pruned.
	Deny []string
}

// matcher returns a function that reports whether the results of a tool may be pruned.
func (t Tools) matcher() func(name string) bool {
	allow, deny := namePattern(t.Allow), namePattern(t.Deny)
	return func(name string) bool {
		return (len(t.Allow) == 0 || allow.MatchString(name)) && !deny.MatchString(name)
	}
}

// namePattern matches the names that one of the patterns describes; none if there are no patterns.
func namePattern(patterns []string) *regexp.Regexp {
	if len(patterns) == 0 {
		return regexp.MustCompile(`[^\s\S]`)
	}
	alternatives := make([]string, len(patterns))
	for i, p := range patterns {
		alternatives[i] = strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(p)), `\*`, ".*")
	}
	return regexp.MustCompile(`(?is)^(?:` + strings.Join(alternatives, "|") + `)$`)
}

// Defaults returns the settings to start from.
func Defaults() Settings {
	return Settings{
		Mode:                 ModeCacheTTL,
		TTL:                  5 * time.Minute,
		KeepLastAssistants:   3,
		SoftTrimRatio:        0.3,
		HardClearRatio:       0.5,
		MinPrunableToolChars: 50_000,
		SoftTrim:             SoftTrim{MaxChars: 4000, Head: 1500, Tail: 1500},
		HardClear:            HardClear{Enabled: true, Placeholder: "[Old tool result cleared]"},
	}
}

// Check returns an error for values that are out of range. It names them as a configuration does. Prune takes any settings
// and never makes a message longer.
func (s Settings) Check() error {
	switch {
	case s.Mode != ModeOff && s.Mode != ModeCacheTTL:
		return fmt.Errorf("mode: %q is unknown, choose %s or %s", s.Mode, ModeCacheTTL, ModeOff)
	case s.KeepLastAssistants < 0:
		return fmt.Errorf("keepLastAssistants: %d must not be negative", s.KeepLastAssistants)
	case !(s.SoftTrimRatio >= 0 && s.SoftTrimRatio <= 1):
		return fmt.Errorf("softTrimRatio: %v is out of range, choose 0 to 1", s.SoftTrimRatio)
	case !(s.HardClearRatio >= 0 && s.HardClearRatio <= 1):
		return fmt.Errorf("hardClearRatio: %v is out of range, choose 0 to 1", s.HardClearRatio)
	case s.MinPrunableToolChars < 0:
		return fmt.Errorf("minPrunableToolChars: %d must not be negative", s.MinPrunableToolChars)
	case s.SoftTrim.Head < 0 || s.SoftTrim.Tail < 0 || s.SoftTrim.MaxChars < 0:
		return fmt.Errorf("softTrim: sizes must not be negative")
	case s.SoftTrim.Head+s.SoftTrim.Tail > s.SoftTrim.MaxChars:
		return fmt.Errorf("softTrim: head %d and tail %d are more than maxChars %d; choose less", s.SoftTrim.Head, s.SoftTrim.Tail,
			s.SoftTrim.MaxChars)
	case s.HardClear.Enabled && s.HardClear.Placeholder == "":
		return fmt.Errorf("hardClear.placeholder: must not be empty, or the model cannot tell that a result was cleared")
	}
	return nil
}
