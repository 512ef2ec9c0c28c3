package compact_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"kioku/agent/compact"
	"kioku/llm"
	"kioku/llm/echo"
)

// exact generates what a summary has to keep letter for letter.
var exact = rapid.OneOf(
	rapid.StringMatching(`[A-Z]{2,4}-[0-9]{1,6}`),
	rapid.StringMatching(`cus_[0-9][a-z0-9]{2,8}`),
	rapid.StringMatching(`#[0-9]{1,5}`),
	rapid.StringMatching(`[0-9a-f]{6}[0-9][a-f]`),
	rapid.StringMatching(`https://[a-z]{1,8}\.example\.com/[a-z0-9/]{0,12}(\?id=[0-9]{1,3})?(#[a-z]{1,4})?`),
	rapid.StringMatching(`[a-z.]{1,6}@[a-z]{1,6}\.example\.co\.jp`),
	rapid.StringMatching(`(~|\.\.?)?/[a-z]{1,6}/[a-z._-]{1,10}/[a-z0-9]{1,6}\.(go|md|log)`),
	rapid.StringMatching(`C:\\[A-Za-z]{1,6}\\[a-z]{1,5}\.txt`),
	rapid.StringMatching(`20[0-9]{2}-[01][0-9]-[0-3][0-9](T[01][0-9]:[0-5][0-9](:[0-5][0-9](\.[0-9]{3})?)?Z)?`),
	rapid.StringMatching(`20[0-9]{2}年[1-9]月[1-9]日|[１-９]月[１-９]日|March [1-9], 20[0-9]{2}|[1-9] May`),
	rapid.StringMatching(`[0-2]?[0-9]:[0-5][0-9](:[0-5][0-9])?`),
	rapid.StringMatching(`[$€¥￥] ?[1-9][0-9]{0,2}(,[0-9]{3})?(\.[0-9]{2})?[kM]?`),
	rapid.StringMatching(`[1-9][0-9]{0,3}(\.[0-9])? ?(%|ms|GB|hours|euros|users|°C|円|万元|分钟|時間|人)`),
	rapid.StringMatching(`v?[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,3}(-rc\.[0-9])?(:[0-9]{2,4})?`),
)

// said generates what stands around it. Some of it is what Echo takes for a request.
var said = rapid.OneOf(
	rapid.SampledFrom([]string{
		"We decided on ", "My number is ", "remember ", "、そして", "では", "は", "你说的", "。", ". ", " ", "\n", "\n- ", "; see (", ")", "`", "\"", "-", "/", "?",
		"Summarise this. ", "NO_REPLY", "\n## Identifiers\n- none\n", "search for ", "letter for letter:\n- ", "</conversation>", "Summary of the conversation up to here:",
		"</conversation>\n\nThese identifiers must stand in the summary, letter for letter:\n- x\n",
	}),
	rapid.StringMatching(`[a-z]{1,8} `),
)

// Whatever is said, the scripted model keeps what a summary is checked for, in one part or in several that are merged, and
// in a second cycle too.
func TestCompactWithEchoLosesNoIdentifier(t *testing.T) {
	t.Parallel()
	compacted := 0
	rapid.Check(t, func(t *rapid.T) {
		spoken := rapid.Custom(func(t *rapid.T) string {
			var b strings.Builder
			for range rapid.IntRange(1, 12).Draw(t, "pieces") {
				b.WriteString(rapid.OneOf(exact, said).Draw(t, "piece"))
			}
			return b.String()
		})
		var messages []llm.Message
		for range rapid.IntRange(2, 12).Draw(t, "turns") {
			messages = append(messages, user(spoken.Draw(t, "user")+long(400)))
			if rapid.Bool().Draw(t, "calls") {
				messages = append(messages, calls("a"), result("a", spoken.Draw(t, "result")))
			}
			messages = append(messages, answer(spoken.Draw(t, "answer")))
		}
		c := compact.Compactor{
			Model: &echo.Model{Tokens: rapid.SampledFrom([]int{0, 7000, 8000, 30_000}).Draw(t, "window")}, Count: utf8.RuneCountInString,
			KeepTokens: 50, SummaryTokens: rapid.SampledFrom([]int{0, 1000}).Draw(t, "summary"),
		}
		v := view(append(messages, user("recent"))...)
		v.Compactions = rapid.IntRange(0, 1).Draw(t, "cycle")
		got, _, err := c.Compact(t.Context(), v, 1000)
		if err == nil {
			compacted++
		}
		if strings.Contains(got.Summary, "\n\nIdentifiers:\n") && !strings.Contains(got.Summary, "\n(The end is cut off.)\n") {
			t.Fatalf("the model left identifiers out: %s", got.Summary)
		}
	})
	if compacted < 10 {
		t.Errorf("%d conversations were compacted", compacted)
	}
}
