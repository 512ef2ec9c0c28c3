package flush_test

import (
	"math"
	"strings"
	"testing"

	"kioku/agent/flush"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestThresholdsFitTheWindow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ window, flushAt, compactAt int }{
		{1_000, 500, 500},
		{2_000, 1_000, 1_000},
		{4_096, 2_048, 2_048},
		{8_192, 4_096, 4_096},
		{16_000, 8_000, 8_000},
		{24_000, 11_750, 12_000},
		{32_768, 15_288, 16_384},
		{40_000, 18_000, 20_000},
		{64_000, 40_000, 44_000},
		{128_000, 104_000, 108_000},
		{200_000, 176_000, 180_000},
		{2_000_000, 1_976_000, 1_980_000},
	} {
		d := flush.Defaults().Decide(flush.State{Window: c.window})
		if d.FlushAt != c.flushAt || d.CompactAt != c.compactAt {
			t.Errorf("window %d: flush at %d, compact at %d; want %d and %d", c.window, d.FlushAt, d.CompactAt, c.flushAt, c.compactAt)
		}
	}
}

func TestKeepIsBelowTheThresholds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s, window := anySettings(r), rapid.IntRange(16, 2_000_000).Draw(r, "window")
		s.SoftThresholdRatio = 0
		fixed := rapid.IntRange(0, window/4).Draw(r, "fixed")
		d := s.Decide(flush.State{Window: window, Fixed: fixed})
		recent, summary := s.Keep(window, fixed)
		if recent < 1 || summary < 1 || recent+summary >= d.CompactAt {
			r.Errorf("window %d: %d and a summary of %d stay, compacted from %d on", window, recent, summary, d.CompactAt)
		}
		if soft := d.CompactAt - d.FlushAt; soft > recent/2 {
			r.Errorf("window %d: %d come between flush and compaction, %d stay", window, soft, recent)
		}
	})
	if recent, summary := flush.Defaults().Keep(0, 0); recent != 20_000 || summary != 4000 {
		t.Errorf("a window that is not known: %d, %d", recent, summary)
	}
}

func anySettings(r *rapid.T) flush.Settings {
	return flush.Settings{
		Enabled:             rapid.Bool().Draw(r, "enabled"),
		ReserveTokens:       rapid.IntRange(0, 100_000).Draw(r, "reserve"),
		SoftThresholdTokens: rapid.IntRange(0, 100_000).Draw(r, "soft"),
		SoftThresholdRatio:  rapid.SampledFrom([]float64{0, 0, 0.0001, 0.07, 0.75, 0.999}).Draw(r, "ratio"),
		KeepTokens:          rapid.SampledFrom([]int{0, 500, 20_000, 100_000}).Draw(r, "keep"),
		TranscriptBytes:     rapid.Int64Range(0, 1000).Draw(r, "bytes"),
	}
}

func TestThresholdsAreOrderedAndGrowWithTheWindow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s, window := anySettings(r), rapid.IntRange(3, 2_000_000).Draw(r, "window")
		d := s.Decide(flush.State{Window: window})
		if !(0 < d.FlushAt && d.FlushAt <= d.CompactAt && d.CompactAt < window) {
			r.Errorf("window %d: flush at %d, compact at %d", window, d.FlushAt, d.CompactAt)
		}
		wider := s.Decide(flush.State{Window: window + 1})
		if wider.FlushAt < d.FlushAt || wider.CompactAt < d.CompactAt {
			r.Errorf("a window of %d has %+v, one more %+v", window, d, wider)
		}
	})
}

func TestDecideSaysWhatIsDue(t *testing.T) {
	t.Parallel()
	full := func(projected int) flush.State {
		return flush.State{Window: 200_000, Projected: projected, Uncovered: 9, Dropped: 5}
	}
	for name, c := range map[string]struct {
		edit           func(*flush.Settings, *flush.State)
		state          flush.State
		flush, compact bool
		reason         string
	}{
		"below":               {state: full(175_999), reason: "below the threshold: 175999 of 176000 tokens"},
		"at the soft one":     {state: full(176_000), flush: true, reason: "176000 tokens have reached the threshold of 176000"},
		"before the hard one": {state: full(179_999), flush: true, reason: "the threshold of 176000"},
		"at the hard one":     {state: full(180_000), flush: true, compact: true, reason: "180000 tokens have reached the limit of 180000"},
		"window unknown":      {state: flush.State{Projected: 1e6}, reason: "window of the model is not known"},
		"unknown but long":    {state: flush.State{Bytes: 2 << 20, Uncovered: 1, Dropped: 1}, flush: true, compact: true, reason: "2097152 bytes"},
		"almost long":         {state: flush.State{Window: 200_000, Bytes: 2<<20 - 1}, reason: "below the threshold"},
		"overflow":            {state: flush.State{Overflow: true, Uncovered: 1}, flush: true, compact: true, reason: "too long"},
		"forced":              {state: flush.State{Window: 200_000, Forced: true, Uncovered: 1, Wait: "later"}, flush: true, compact: true, reason: "asked for"},
		"ratio below": {
			edit: func(s *flush.Settings, _ *flush.State) { s.SoftThresholdRatio = 0.75 }, state: full(149_999), reason: "149999 of 150000"},
		"ratio reached": {
			edit: func(s *flush.Settings, _ *flush.State) { s.SoftThresholdRatio = 0.75 }, state: full(150_000), flush: true, reason: "150000"},
		"ratio above the rest": {
			edit: func(s *flush.Settings, _ *flush.State) { s.SoftThresholdRatio = 0.99 }, state: full(176_000), flush: true, reason: "176000"},
		"no limit of bytes": {
			edit:  func(s *flush.Settings, _ *flush.State) { s.TranscriptBytes = 0 },
			state: flush.State{Window: 200_000, Bytes: math.MaxInt64}, reason: "below"},
		"small window":      {state: flush.State{Window: 2_000, Projected: 1000, Uncovered: 2, Dropped: 1}, flush: true, compact: true, reason: "1000 tokens"},
		"what is new stays": {state: flush.State{Window: 200_000, Projected: 185_000, Uncovered: 2}, compact: true, reason: "would drop are stored already"},
		"interrupted":       {state: flush.State{Projected: 10, Interrupted: 2}, flush: true, reason: "2 messages of an interrupted flush"},
	} {
		t.Run(name, func(t *testing.T) {
			s := flush.Defaults()
			if c.edit != nil {
				c.edit(&s, &c.state)
			}
			d := s.Decide(c.state)
			if d.Flush != c.flush || d.Compact != c.compact || !strings.Contains(d.Reason, c.reason) {
				t.Errorf("%+v", d)
			}
		})
	}
}

func TestDecideSaysWhyNothingIsFlushed(t *testing.T) {
	t.Parallel()
	for reason, edit := range map[string]func(*flush.Settings, *flush.State){
		"disabled (compaction.memoryFlush.enabled)": func(s *flush.Settings, _ *flush.State) { s.Enabled = false },
		"memory is read-only":                       func(_ *flush.Settings, st *flush.State) { st.ReadOnly = true },
		"all messages are stored already":           func(_ *flush.Settings, st *flush.State) { st.Uncovered, st.Dropped = 0, 0 },
		"the next try is at noon":                   func(_ *flush.Settings, st *flush.State) { st.Wait = "the next try is at noon" },
	} {
		for _, projected := range []int{176_000, 180_000} {
			s, st := flush.Defaults(), flush.State{Window: 200_000, Projected: projected, Uncovered: 3, Dropped: 2}
			if d := s.Decide(st); !d.Flush {
				t.Fatalf("not due: %+v", d)
			}
			edit(&s, &st)
			d := s.Decide(st)
			if d.Flush || d.Compact != (projected == 180_000) || !strings.Contains(d.Reason, reason) {
				t.Errorf("%s at %d: %+v", reason, projected, d)
			}
		}
	}
	beat := flush.State{Window: 200_000, Projected: 185_000, Uncovered: 3, Dropped: 2, Heartbeat: true, Interrupted: 1}
	if d := flush.Defaults().Decide(beat); d.Flush || d.Compact || !strings.Contains(d.Reason, "heartbeat") {
		t.Errorf("heartbeat: %+v", d)
	}
}

func TestDecideFlushesBeforeACompactionThatWouldDropUncoveredMessages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := anySettings(r)
		s.Enabled = true
		st := flush.State{
			Window: rapid.IntRange(0, 10_000).Draw(r, "window"), Projected: rapid.IntRange(0, 10_000).Draw(r, "projected"),
			Bytes: rapid.Int64Range(0, 2000).Draw(r, "transcript"), Overflow: rapid.Bool().Draw(r, "overflow"), Forced: rapid.Bool().Draw(r, "forced"),
			Dropped: rapid.IntRange(0, 2).Draw(r, "dropped"),
		}
		st.Uncovered = st.Dropped + rapid.IntRange(0, 2).Draw(r, "kept")
		if d := s.Decide(st); d.Compact && !d.Flush && st.Dropped > 0 || d.Flush && st.Uncovered == 0 || d.Reason == "" {
			r.Errorf("%+v", d)
		}
	})
}

func TestDecideOfTheZeroValueNeverFlushes(t *testing.T) {
	t.Parallel()
	var s flush.Settings
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if d := s.Decide(flush.State{Window: 10, Projected: 10, Forced: true}); d.Flush || !d.Compact {
		t.Errorf("%+v", d)
	}
}

func TestCheckNamesSettingsAsInTheConfiguration(t *testing.T) {
	t.Parallel()
	if err := flush.Defaults().Check(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	s := flush.Settings{
		Enabled: true, ReserveTokens: -1, SoftThresholdTokens: -2, SoftThresholdRatio: math.NaN(), TranscriptBytes: -3, KeepTokens: -4, Idle: -5,
	}
	want := []string{
		"compaction.reserveTokensFloor must be at least 0, not -1",
		"compaction.keepRecentTokens must be at least 0, not -4",
		"compaction.memoryFlush.softThresholdTokens must be at least 0, not -2",
		"compaction.memoryFlush.softThresholdRatio must be at least 0 and below 1, not NaN",
		"compaction.memoryFlush.forceFlushTranscriptBytes must be at least 0, not -3",
		"compaction.memoryFlush.idleSeconds must be at least 0, not -5ns",
	}
	if diff := cmp.Diff(want, strings.Split(s.Check().Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}
