package view_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kioku/derive/unit"
	"kioku/derive/view"
	"kioku/memory"
)

// episode returns an episode at noon of a day of November 2026, of lines of one speaker.
func episode(uid string, day int, salience float64, speaker, text string) unit.EpisodeText {
	at := time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC)
	e := unit.EpisodeText{Episode: memory.Episode{UID: uid, Date: at.Format(time.DateOnly), OccurredAt: at, Salience: salience}}
	for line := range strings.SplitSeq(text, "\n") {
		e.Lines = append(e.Lines, unit.Line{Speaker: speaker, Text: line})
	}
	return e
}

func TestSumUpQuotesTheEpisodesThatMatterMost(t *testing.T) {
	t.Parallel()
	episodes := []unit.EpisodeText{
		episode("a", 16, .9, "note", "## 10:00 - decision\n- We **decided** to use [SQLite](https://sqlite.org). It is one file.\n"),
		episode("b", 17, .1, "note", "Nothing much happened today"),
		episode("c", 18, .5, "user", "来週ポルトに引っ越します。荷物は来月届きます。"),
		episode("d", 18, .4, "assistant", "我已经预订了去波尔图的机票。"),
		episode("e", 18, .3, "note", "A third one of the same day comes last."),
		episode("f", 19, .2, "tool", "The tool has printed a lot of text."),
		episode("g", 20, .2, "note", "```\nvar code = \"is not quoted\"\n```\n| a | b |\n<div>\nOK.\nDr. Silva has called about the flat."),
		episode("h", 21, .8, "note", "We decided to use SQLite."),
	}
	got, ok := view.SumUp("", episodes)
	// The episode of the 21st says what the more salient one of the 16th says.
	want := memory.Summary{
		Text: `2026-11-16 “We decided to use SQLite.”
2026-11-17 “Nothing much happened today”
2026-11-18 “来週ポルトに引っ越します。”
2026-11-18 “我已经预订了去波尔图的机票。” (assistant)
2026-11-20 “Dr. Silva has called about the flat.”`,
		Events: []memory.KeyEvent{{EpisodeUID: "a", Why: "We decided to use SQLite."}, {EpisodeUID: "b", Why: "Nothing much happened today"},
			{EpisodeUID: "c", Why: "来週ポルトに引っ越します。"}, {EpisodeUID: "d", Why: "我已经预订了去波尔图的机票。"},
			{EpisodeUID: "g", Why: "Dr. Silva has called about the flat."}},
	}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Error(ok, diff)
	}
	for i := range 20 {
		rand.New(rand.NewPCG(1, uint64(i))).Shuffle(len(episodes), func(a, b int) { episodes[a], episodes[b] = episodes[b], episodes[a] })
		if again, _ := view.SumUp("", episodes); !cmp.Equal(got, again) {
			t.Fatalf("in another order: %s", cmp.Diff(got, again))
		}
	}
}

func TestSumUpTakesTheThirdOfADayIfThereIsNothingElse(t *testing.T) {
	t.Parallel()
	got, ok := view.SumUp("", []unit.EpisodeText{episode("a", 16, .9, "note", "The first of the day."), episode("b", 16, .8, "note", "The second of the day."),
		episode("c", 16, .7, "note", "The third of the day.")})
	if !ok || len(got.Events) != 3 {
		t.Errorf("got %+v", got)
	}
}

func TestSumUpPrefersSentencesWithTheName(t *testing.T) {
	t.Parallel()
	episodes := []unit.EpisodeText{episode("a", 16, .5, "note", "The flat is cold. Dário brought a heater. He is kind."),
		episode("b", 17, .5, "assistant", "I have written to dario about it."), episode("c", 18, .5, "user", "Tomorrow the heater goes back.")}
	got, ok := view.SumUp("Dario", episodes)
	want := "2026-11-16 “Dário brought a heater.”\n2026-11-17 “I have written to dario about it.” (assistant)\n2026-11-18 “Tomorrow the heater goes back.”"
	if diff := cmp.Diff(want, got.Text); diff != "" || !ok {
		t.Error(ok, diff)
	}
}

func TestSumUpOfNothingIsNoSummary(t *testing.T) {
	t.Parallel()
	for name, episodes := range map[string][]unit.EpisodeText{
		"no episodes": nil,
		"headings":    {episode("a", 16, .9, "note", "# One\n## Two\n---\n\nOK!\nhttps://example.org/a-long-address")},
		"tools":       {episode("a", 16, .9, "tool", "The tool has printed a lot of text.")},
	} {
		if got, ok := view.SumUp("", episodes); ok || got.Text != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzSumUp(f *testing.F) {
	f.Add("One sentence is here. Another.\n- [ ] todo: call", "Dario", uint8(5))
	f.Add(strings.Repeat("長い文章です", 200), "長い", uint8(3))
	f.Fuzz(func(t *testing.T, text, name string, n uint8) {
		var episodes []unit.EpisodeText
		for i := range int(n%8) + 1 {
			episodes = append(episodes, episode(fmt.Sprint(i), 1+i, .5, name, fmt.Sprint(text, i)))
		}
		s, ok := view.SumUp(name, episodes)
		if n := utf8.RuneCountInString(s.Text); n > 600 || ok != (n > 0) || len(s.Events) > 5 || !utf8.ValidString(s.Text) {
			t.Errorf("%d characters in %d events, %v", n, len(s.Events), ok)
		}
		for _, e := range s.Events {
			if n := utf8.RuneCountInString(e.Why); n == 0 || n > 200 {
				t.Errorf("%d characters in an event", n)
			}
		}
	})
}
