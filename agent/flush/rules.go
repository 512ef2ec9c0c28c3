package flush

import "time"

// Settings say when memories are stored and history is compacted. The zero value never flushes; Defaults are the ones to
// start from.
type Settings struct {
	Enabled bool
	// ReserveTokens of the window are kept free for the answer; history is compacted where fewer are left.
	ReserveTokens int
	// SoftThresholdTokens before that point memories are stored.
	SoftThresholdTokens int
	// SoftThresholdRatio is a part of the window from which on memories are stored as well; 0 for none.
	SoftThresholdRatio float64
	// TranscriptBytes since the last compaction from which on memories are stored, and history compacted, whatever the
	// tokens are; 0 for none.
	TranscriptBytes int64
	// Attempts of a cycle's flush before it is given up.
	Attempts int
	// Lease is how long a flush belongs to who has begun it.
	Lease time.Duration
	// MaxNotes that one flush may store.
	MaxNotes int
}

// State is a session before its next request to the model.
type State struct {
	// Window is how many tokens the model takes, 0 where that is not known, and Projected how many the next request has.
	Window, Projected int
	// Bytes of the transcript since the last compaction.
	Bytes int64
	// Flushed says that this cycle was flushed, and Attempts how often that was tried in vain.
	Flushed  bool
	Attempts int
	// Overflow says that the model has refused a request as too long, Forced that the user wants to compact now.
	Overflow, Forced bool
	// Heartbeat turns are scheduled ones that nobody reads. ReadOnly says that memory cannot be written.
	Heartbeat, ReadOnly bool
}

// Decision is what is to be done before the next request.
type Decision struct {
	Flush, Compact bool
	// Reason says why, or why not.
	Reason string
	// FlushAt and CompactAt are the thresholds in tokens, 0 where the window is not known.
	FlushAt, CompactAt int
}

// Defaults are the settings to start from.
func Defaults() Settings { panic("contract") }

// Check tells what is wrong with settings, by the names that they have in a configuration.
func (s Settings) Check() error { panic("contract") }

// Decide says whether to flush and whether to compact.
func (s Settings) Decide(st State) Decision { panic("contract") }
