package flush

import (
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// maxSummary is the maximum size of a summary in tokens; it is also at most 1/summaryParts of the window.
	maxSummary   = 4000
	summaryParts = 8
	// 1/leastParts of the window may always stay in a compaction.
	leastParts = 16
)

// Settings say when to flush and when to compact. The zero value never flushes; Defaults returns the ones to start from.
type Settings struct {
	// Enabled allows flushes.
	Enabled bool
	// ReserveTokens is the part of the window that is kept free for the answer, in tokens; history is compacted if less is
	// left. At most half of the window is reserved.
	ReserveTokens int
	// SoftThresholdTokens is the distance from that point, in tokens, at which memories are flushed. It counts up to half of
	// the way to that point.
	SoftThresholdTokens int
	// SoftThresholdRatio is the part of the window from which on memories are flushed as well, from 0 to 1; 0 for none.
	SoftThresholdRatio float64
	// TranscriptBytes is the growth of the transcript since the last compaction, in bytes, at which memories are flushed and
	// history is compacted; 0 for none.
	TranscriptBytes int64
	// Attempts is the maximum number of failed attempts in a cycle.
	Attempts int
	// Lease is the time after which another holder may continue a flush.
	Lease time.Duration
	// MaxNotes is the maximum number of notes in a flush.
	MaxNotes int
}

// State is the state of a session before the next request to the model.
type State struct {
	// Window is the size of the model's window in tokens, 0 if it is unknown.
	Window int
	// Projected is the size of the next request in tokens.
	Projected int
	// Bytes is the growth of the transcript since the last compaction.
	Bytes int64
	// Flushed reports that this cycle was flushed.
	Flushed bool
	// Attempts is the number of failed attempts in this cycle.
	Attempts int
	// Overflow reports that the model refused a request as too long.
	Overflow bool
	// Forced reports that the user asked for a compaction.
	Forced bool
	// Heartbeat reports that this is a scheduled turn, which nobody reads.
	Heartbeat bool
	// ReadOnly reports that memory must not be written.
	ReadOnly bool
}

// Decision says what to do before the next request.
type Decision struct {
	Flush, Compact bool // whether to store memories and to compact; neither if both are false
	// Reason says why, or why not.
	Reason string
	// FlushAt and CompactAt are the thresholds in tokens, 0 if the window is unknown.
	FlushAt, CompactAt int
}

// Defaults returns the settings to start from.
func Defaults() Settings {
	return Settings{
		Enabled:             true,
		ReserveTokens:       20_000,
		SoftThresholdTokens: 4_000,
		TranscriptBytes:     2 << 20,
		Attempts:            3,
		Lease:               5 * time.Minute,
		MaxNotes:            20,
	}
}

// Check returns an error for values that are out of range. It names them as a configuration does.
func (s Settings) Check() error {
	var wrong []error
	check := func(ok bool, name, must string, have any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf("compaction.%s must %s, not %v", name, must, have))
		}
	}
	check(s.ReserveTokens >= 0, "reserveTokensFloor", "be at least 0", s.ReserveTokens)
	check(s.SoftThresholdTokens >= 0, "memoryFlush.softThresholdTokens", "be at least 0", s.SoftThresholdTokens)
	check(s.SoftThresholdRatio >= 0 && s.SoftThresholdRatio < 1, "memoryFlush.softThresholdRatio",
		"be at least 0 and below 1", s.SoftThresholdRatio)
	check(s.TranscriptBytes >= 0, "memoryFlush.forceFlushTranscriptBytes", "be at least 0", s.TranscriptBytes)
	least, rule := 0, "be at least 0"
	if s.Enabled {
		least, rule = 1, "be at least 1 where compaction.memoryFlush.enabled is true"
	}
	check(s.Attempts >= least, "memoryFlush.attempts", rule, s.Attempts)
	check(s.Lease >= time.Duration(least)*time.Second, "memoryFlush.leaseSeconds", rule, s.Lease.Seconds())
	check(s.MaxNotes >= least, "memoryFlush.maxNotes", rule, s.MaxNotes)
	return errors.Join(wrong...)
}

// Decide says whether to flush and whether to compact. An obstacle to the flush is none to the compaction.
func (s Settings) Decide(st State) Decision {
	var d Decision
	if st.Window > 0 {
		d.FlushAt, d.CompactAt = s.thresholds(st.Window)
	}
	why, compact := s.compactionDue(st, d)
	d.Compact = compact
	if !compact {
		if st.Window <= 0 {
			d.Reason = "the window of the model is not known"
			return d
		}
		if st.Projected < d.FlushAt {
			d.Reason = fmt.Sprintf("below the threshold: %d of %d tokens", st.Projected, d.FlushAt)
			return d
		}
		why = fmt.Sprintf("%d tokens have reached the threshold of %d", st.Projected, d.FlushAt)
	}
	d.Reason = why
	if obstacle := s.obstacle(st); obstacle != "" {
		d.Reason = why + "; not flushed: " + obstacle
		return d
	}
	d.Flush = true
	return d
}

// compactionDue reports whether a compaction is due, and why.
func (s Settings) compactionDue(st State, d Decision) (why string, due bool) {
	switch {
	case st.Forced:
		return "compaction was asked for", true
	case st.Overflow:
		return "the model has refused a request as too long", true
	case d.CompactAt > 0 && st.Projected >= d.CompactAt:
		return fmt.Sprintf("%d tokens have reached the limit of %d", st.Projected, d.CompactAt), true
	case s.TranscriptBytes > 0 && st.Bytes >= s.TranscriptBytes:
		return fmt.Sprintf("the transcript has grown by %d bytes, the limit is %d", st.Bytes, s.TranscriptBytes), true
	}
	return "", false
}

// obstacle says why a flush that is due must not be done; empty if it may.
func (s Settings) obstacle(st State) string {
	switch {
	case !s.Enabled:
		return "it is disabled (compaction.memoryFlush.enabled)"
	case st.ReadOnly:
		return "memory is read-only"
	case st.Heartbeat:
		return "it is a heartbeat turn"
	case st.Flushed:
		return "this cycle was flushed already"
	case st.Attempts >= s.Attempts && !st.Forced:
		return fmt.Sprintf("all %d attempts of this cycle have failed", s.Attempts)
	}
	return ""
}

// Keep returns the maximum sizes, in tokens, of the latest messages and of the summary after a compaction; both are 0 if the
// window is unknown. fixed is the size of the system prompt and the tools, 0 if it is unknown. Together they are below the
// threshold of the next flush: half of what the summary and the fixed tokens leave stays free for the next messages. At least
// a sixteenth of the window may always stay.
func (s Settings) Keep(window, fixed int) (recent, summary int) {
	if window <= 0 {
		return 0, 0
	}
	flushAt, _ := s.thresholds(window)
	summary = max(1, min(maxSummary, window/summaryParts))
	return max(1, window/leastParts, (flushAt-fixed-summary)/2), summary
}

// thresholds returns the numbers of tokens at which to flush and to compact. For a window of at least 3 tokens,
// 0 < flushAt < compactAt < window.
//
// The reserve is at most half of the window, because a compaction leaves a third of the window and a summary, and must end
// below the threshold. So the thresholds grow with the window, without a step.
func (s Settings) thresholds(window int) (flushAt, compactAt int) {
	reserve := max(1, min(s.ReserveTokens, window/2))
	compactAt = window - reserve
	soft := max(1, min(s.SoftThresholdTokens, compactAt/2))
	flushAt = compactAt - soft
	if s.SoftThresholdRatio > 0 {
		// A product such as 0.07 x 100 lies a little above the whole number that is meant.
		part := int(math.Ceil(s.SoftThresholdRatio*float64(window) - 1e-9))
		flushAt = min(flushAt, max(1, part))
	}
	return flushAt, compactAt
}
