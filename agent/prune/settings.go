package prune

import (
	"fmt"
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
	// TTL is how long a provider's prompt cache lives. Within it nothing new is pruned; 0 or less means never.
	TTL time.Duration
	// KeepLastAssistants is how many assistant messages from the end are out of reach, with all that follows the first of
	// them.
	KeepLastAssistants int
	// SoftTrimRatio and HardClearRatio are parts of the window: from the first on long results are trimmed, from the
	// second on old results are cleared.
	SoftTrimRatio  float64
	HardClearRatio float64
	// MinPrunableToolChars is how much there must be to clear for anything to be cleared.
	MinPrunableToolChars int
	SoftTrim             SoftTrim
	HardClear            HardClear
	Tools                Tools
}

// SoftTrim says how a long result is trimmed. Sizes are characters.
type SoftTrim struct {
	// MaxChars is how long a result may be without being trimmed.
	MaxChars int
	// Head and Tail are how much is kept of its two ends.
	Head, Tail int
}

// HardClear says how an old result is cleared.
type HardClear struct {
	Enabled bool
	// Placeholder stands for a result that was cleared.
	Placeholder string
}

// Tools selects tools by name. In a pattern "*" stands for any characters, and case does not matter.
type Tools struct {
	// Allow are the tools whose results may be pruned; none means all.
	Allow []string
	// Deny are the tools whose results are left alone, even if they are allowed.
	Deny []string
}

// Defaults are the settings to start from.
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

// Check tells what is wrong with settings, by the names that they have in a configuration. Prune does not need it: it
// takes any settings and never makes a message longer.
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
