package flush

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	// maxSummary is the maximum size of a summary in tokens; it is also at most 1/summaryParts of the window, and
	// 1/freeParts of what the fixed tokens leave.
	maxSummary   = 4000
	summaryParts = 8
	freeParts    = 4
	// 1/leastParts of the window may always stay in a compaction.
	leastParts = 16
	// keepTokens is the default of Settings.KeepTokens.
	keepTokens = 20_000
	// turnTokens is room for what one turn adds between a flush and its compaction.
	turnTokens = 4000
)

// What becomes of conversations of several people.
const (
	// GroupsOn stores notes of them in the daily file, each with the channel and the authors.
	GroupsOn = "on"
	// GroupsOff stores nothing of them. Their messages count as covered.
	GroupsOff = "off"
	// GroupsSeparate stores notes of them in a folder of each channel, memory/groups/CHANNEL.
	GroupsSeparate = "separate"
)

// Settings say when to flush and when to compact. The zero value never flushes; Defaults returns the ones to start from.
type Settings struct {
	// Enabled allows flushes.
	Enabled bool
	// ReserveTokens is the part of the window that is kept free for the answer, in tokens; history is compacted if less is
	// left. At most half of the window is reserved.
	ReserveTokens int
	// KeepTokens is the maximum size in tokens of the latest messages, which a compaction leaves as they are; 0 means 20,000.
	KeepTokens int
	// SoftThresholdTokens is the distance from the compaction, in tokens, at which memories are flushed. At most half of what a
	// compaction keeps counts, less room for a turn.
	SoftThresholdTokens int
	// SoftThresholdRatio is the part of the window from which on memories are flushed as well, from 0 to 1; 0 for none.
	SoftThresholdRatio float64
	// Groups says what becomes of conversations of several people, one of the constants Groups...; empty means GroupsOn.
	Groups string
	// TranscriptBytes is the growth of the transcript since the last compaction, in bytes, at which memories are flushed and
	// history is compacted; 0 for none.
	TranscriptBytes int64
	// OnEnd flushes a session at its end, and when it is idle.
	OnEnd bool
	// Idle is the time after which a session in which nothing is said counts as ended; 0 means never.
	Idle time.Duration
}

// State is the state of a session before the next request to the model.
type State struct {
	// Window is the size of the model's window in tokens, 0 if it is unknown.
	Window int `json:"window_tokens,omitempty"`
	// Fixed is the size of the system prompt and the tools in tokens, 0 if it is unknown.
	Fixed int `json:"-"`
	// Projected is the size of the next request in tokens.
	Projected int `json:"projected_tokens,omitempty"`
	// Bytes is the growth of the transcript since the last compaction.
	Bytes int64 `json:"transcript_bytes,omitempty"`
	// Uncovered is the number of messages that are not covered, and Dropped that of those which a compaction would drop now.
	Uncovered, Dropped int `json:"-"`
	// Interrupted is the number of messages of a range that was begun by a process that has ended.
	Interrupted int `json:"-"`
	// Wait says why a flush has to wait; empty if it has not to.
	Wait string `json:"-"`
	// Overflow reports that the model refused a request as too long.
	Overflow bool `json:"overflow,omitempty"`
	// Forced reports that the user asked for a compaction.
	Forced bool `json:"forced,omitempty"`
	// Heartbeat reports that this is a scheduled turn, which nobody reads: it neither flushes nor compacts.
	Heartbeat bool `json:"heartbeat,omitempty"`
	// ReadOnly reports that memory must not be written.
	ReadOnly bool `json:"-"`
}

// Decision says what to do before the next request.
type Decision struct {
	// Flush says to store memories, and Compact to compact after that.
	Flush   bool `json:"flush"`
	Compact bool `json:"compact"`
	// Reason says why, or why not.
	Reason string `json:"reason"`
	// FlushAt and CompactAt are the thresholds in tokens, 0 if the window is unknown.
	FlushAt   int `json:"flush_at_tokens"`
	CompactAt int `json:"compact_at_tokens"`
}

// Defaults returns the settings to start from.
func Defaults() Settings {
	return Settings{
		Enabled:             true,
		ReserveTokens:       20_000,
		KeepTokens:          20_000,
		SoftThresholdTokens: 4_000,
		Groups:              GroupsOn,
		TranscriptBytes:     2 << 20,
		OnEnd:               true,
		Idle:                30 * time.Minute,
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
	check(s.KeepTokens >= 0, "keepRecentTokens", "be at least 0", s.KeepTokens)
	check(s.SoftThresholdTokens >= 0, "memoryFlush.softThresholdTokens", "be at least 0", s.SoftThresholdTokens)
	check(s.SoftThresholdRatio >= 0 && s.SoftThresholdRatio < 1, "memoryFlush.softThresholdRatio",
		"be at least 0 and below 1", s.SoftThresholdRatio)
	check(s.TranscriptBytes >= 0, "memoryFlush.forceFlushTranscriptBytes", "be at least 0", s.TranscriptBytes)
	check(slices.Contains([]string{"", GroupsOn, GroupsOff, GroupsSeparate}, s.Groups), "memoryFlush.groups", "be on, off or separate", s.Groups)
	check(s.Idle >= 0, "memoryFlush.idleSeconds", "be at least 0", s.Idle)
	return errors.Join(wrong...)
}

// Decide says whether to flush and whether to compact. A flush is due if a compaction that is due or near would drop messages
// that are not covered. An obstacle to the flush is none to the compaction, which drops covered messages only.
func (s Settings) Decide(st State) Decision {
	var d Decision
	if st.Window > 0 {
		d.FlushAt, d.CompactAt = s.thresholds(st.Window, st.Fixed)
	}
	why, due := s.due(st, &d)
	d.Reason = why
	if st.Heartbeat {
		d.Compact, d.Reason = false, "it is a heartbeat turn"
		return d
	}
	if !due {
		return d
	}
	switch obstacle := s.obstacle(st); {
	case obstacle != "":
		d.Reason += "; not flushed: " + obstacle
	default:
		d.Flush = true
	}
	return d
}

// due sets Decision.Compact, and reports whether a flush is due or would be if anything were uncovered.
func (s Settings) due(st State, d *Decision) (why string, due bool) {
	if why, d.Compact = s.compactionDue(st, *d); d.Compact {
		return why, true
	}
	switch {
	case st.Interrupted > 0:
		return fmt.Sprintf("%d messages of an interrupted flush are kept", st.Interrupted), true
	case st.Window <= 0:
		return "the window of the model is not known", false
	case st.Projected < d.FlushAt:
		return fmt.Sprintf("below the threshold: %d of %d tokens", st.Projected, d.FlushAt), false
	}
	return fmt.Sprintf("%d tokens have reached the threshold of %d", st.Projected, d.FlushAt), true
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

// obstacle says why a flush that is due is not done; empty if it is.
func (s Settings) obstacle(st State) string {
	switch {
	case s.Off(st.ReadOnly) != "":
		return s.Off(st.ReadOnly)
	case st.Uncovered+st.Interrupted == 0:
		return "all messages are stored already"
	case st.Interrupted == 0 && st.Dropped == 0 && !st.Forced && !st.Overflow:
		return "all messages that a compaction would drop are stored already"
	case st.Wait != "" && !st.Forced:
		return st.Wait
	}
	return ""
}

// Off says why flushes are impossible; empty if they are possible. Then a compaction may drop every message.
func (s Settings) Off(readOnly bool) string {
	switch {
	case !s.Enabled:
		return "it is disabled (compaction.memoryFlush.enabled)"
	case readOnly:
		return "memory is read-only"
	}
	return ""
}

// OffAtEnd says why the end of a session flushes nothing; empty if it does.
func (s Settings) OffAtEnd(readOnly bool) string {
	if why := s.Off(readOnly); why != "" || s.OnEnd {
		return why
	}
	return "it is disabled for the ends of sessions (compaction.memoryFlush.onEnd)"
}

// Keep returns the maximum sizes, in tokens, of the latest messages and of the summary after a compaction. If the window is
// unknown, they are KeepTokens and 4,000. fixed is the size of the system prompt and the tools, 0 if it is unknown. Together they
// are below the threshold of the next compaction: half of what the summary and the fixed tokens leave stays free for the
// next messages. At least a sixteenth of the window may always stay.
func (s Settings) Keep(window, fixed int) (recent, summary int) {
	most := cmp.Or(s.KeepTokens, keepTokens)
	if window <= 0 {
		return most, maxSummary
	}
	summary = max(1, min(maxSummary, window/summaryParts, (window-fixed)/freeParts))
	return min(most, max(1, window/leastParts, (s.compactAt(window)-fixed-summary)/2)), summary
}

// compactAt returns the number of tokens at which to compact. The reserve is at most half of the window, because a compaction
// must end below the threshold. So the threshold grows with the window, without a step.
func (s Settings) compactAt(window int) int {
	return window - max(1, min(s.ReserveTokens, window/2))
}

// thresholds returns the numbers of tokens at which to flush and to compact. For a window of at least 3 tokens,
// 0 < flushAt <= compactAt < window.
//
// The distance is at most half of what a compaction keeps, less turnTokens: what is said between the flush and the compaction
// stays in the window.
func (s Settings) thresholds(window, fixed int) (flushAt, compactAt int) {
	compactAt = s.compactAt(window)
	recent, _ := s.Keep(window, fixed)
	flushAt = compactAt - max(0, min(s.SoftThresholdTokens, (recent-turnTokens)/2))
	if s.SoftThresholdRatio > 0 {
		// A product such as 0.07 x 100 lies a little above the whole number that is meant.
		part := int(math.Ceil(s.SoftThresholdRatio*float64(window) - 1e-9))
		flushAt = min(flushAt, max(1, part))
	}
	return flushAt, compactAt
}
