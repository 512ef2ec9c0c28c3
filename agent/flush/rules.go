package flush

import (
	"errors"
	"fmt"
	"math"
	"time"
)

const (
	// A summary has at most maxSummary tokens, and no more than 1/summaryParts of the window.
	maxSummary   = 4000
	summaryParts = 8
	// leastParts: at least 1/leastParts of the window stays in a compaction.
	leastParts = 16
)

// Settings say when memories are stored and history is compacted. The zero value never flushes; Defaults are the ones to
// start from.
type Settings struct {
	Enabled bool
	// ReserveTokens of the window are kept free for the answer; history is compacted if fewer are left. It is never more
	// than half of the window.
	ReserveTokens int
	// SoftThresholdTokens before that point memories are stored. It is never more than half of the way to that point.
	SoftThresholdTokens int
	// SoftThresholdRatio is a part of the window from which on memories are stored as well; 0 for none.
	SoftThresholdRatio float64
	// TranscriptBytes since the last compaction from which on memories are stored, and history compacted, whatever the
	// tokens are; 0 for none.
	TranscriptBytes int64
	// Attempts of a cycle's flush before it is given up. What the flush has no part in is none, such as a memory that is away.
	Attempts int
	// Lease is how long a flush belongs to who has begun it.
	Lease time.Duration
	// MaxNotes that one flush may store.
	MaxNotes int
}

// State is a session before its next request to the model.
type State struct {
	// Window is how many tokens the model takes, 0 if that is not known, and Projected how many the next request has.
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
	// FlushAt and CompactAt are the thresholds in tokens, 0 if the window is not known.
	FlushAt, CompactAt int
}

// Defaults are the settings to start from.
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

// Check tells what is wrong with settings, by the names that they have in a configuration.
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

// Decide says whether to flush and whether to compact. Whatever keeps a flush from being done does not keep the history
// from being compacted.
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

// compactionDue reports whether to compact, and why.
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

// obstacle says why a flush that is due is not done, and is empty if nothing is in the way.
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

// Keep returns how many tokens the latest messages and the summary may have after a compaction for a window in which fixed
// tokens, the system prompt and the tools, are always taken; 0 if these are not known. The two together are below the
// tokens from which on memories are stored. Half of what is left beside the summary and the fixed tokens stays free for what
// comes next; but a sixteenth of the window may stay in any case. Both are 0 for a window that is not known.
func (s Settings) Keep(window, fixed int) (recent, summary int) {
	if window <= 0 {
		return 0, 0
	}
	flushAt, _ := s.thresholds(window)
	summary = max(1, min(maxSummary, window/summaryParts))
	return max(1, window/leastParts, (flushAt-fixed-summary)/2), summary
}

// thresholds returns from how many tokens on to flush and to compact, for any window of at least 3 tokens with
// 0 < flushAt < compactAt < window.
//
// The reserve is at most half of the window: a compaction leaves a third of it and a summary, and must bring the history
// below the point at which it begins. So the thresholds grow with the window, without a step.
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
