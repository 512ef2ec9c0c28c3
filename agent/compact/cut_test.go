package compact

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"kioku/agent/session"
	"kioku/llm"
)

// conversation makes a view of messages of which each letter is one: u and a say something, c calls two tools, t is a
// result. Each has 10 tokens.
func conversation(letters string) session.View {
	var v session.View
	for i, l := range letters {
		role := map[rune]llm.Role{'u': llm.RoleUser, 'a': llm.RoleAssistant, 'c': llm.RoleAssistant, 't': llm.RoleTool}[l]
		v.Messages = append(v.Messages, llm.Message{Role: role})
		v.IDs, v.Counts, v.Tokens = append(v.IDs, fmt.Sprint(i)), append(v.Counts, 10), v.Tokens+10
	}
	return v
}

func TestCutKeepsACallWithItsResult(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		messages string
		keep     int
		want     int
	}{
		{"uaua", 20, 2},
		{"uaua", 29, 2},
		{"uaua", 30, 1},
		{"uaua", 40, 0},
		{"uaua", 0, 3},
		{"ucttaua", 30, 4},
		{"ucttaua", 40, 4}, // the second result would lose its call
		{"ucttaua", 50, 4},
		{"ucttaua", 60, 1},
		{"uctt", 20, 1}, // the last call is kept with its results, whatever their size
		{"uctt", 5, 1},
		{"tt", 5, 0},
		{"", 5, 0},
	} {
		if got := Cut(conversation(tt.messages), tt.keep, len(tt.messages)); got != tt.want {
			t.Errorf("%s, keep %d: cut at %d, want %d", tt.messages, tt.keep, got, tt.want)
		}
	}
}

func TestCutKeepsWholeMessagesThatFit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		letters := ""
		for range rapid.IntRange(0, 30).Draw(t, "turns") {
			letters += rapid.SampledFrom([]string{"ua", "ucta", "ucttcta", "uctt"}).Draw(t, "turn")
		}
		keep := rapid.IntRange(0, 400).Draw(t, "keep")
		v := conversation(letters)
		at := Cut(v, keep, len(v.Messages))
		if at < len(v.Messages) && at > 0 && v.Messages[at].Role == llm.RoleTool {
			t.Fatalf("%s: cut at %d, a result", letters, at)
		}
		kept := 10 * (len(v.Messages) - at)
		for i := at + 1; kept > keep && i < len(v.Messages); i++ {
			if v.Messages[i].Role != llm.RoleTool {
				t.Fatalf("%s: %d tokens are kept of %d, though a later cut is possible", letters, kept, keep)
			}
		}
	})
}

// Messages that are not free to drop are kept, with the call that a result answers.
func TestCutKeepsWhatIsNotFree(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		messages   string
		keep, free int
		want       int
	}{
		{"uauaua", 20, 6, 4},
		{"uauaua", 20, 3, 3},
		{"uauaua", 20, 0, 0},
		{"ucttaua", 0, 3, 1},
		{"ucttaua", 0, 4, 4},
		{"ctt", 0, 2, 0},
	} {
		if got := Cut(conversation(tt.messages), tt.keep, tt.free); got != tt.want {
			t.Errorf("%s, keep %d, %d free: cut at %d, want %d", tt.messages, tt.keep, tt.free, got, tt.want)
		}
	}
}

func TestSplitLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab\n記憶🙂"))).Draw(t, "text")
		most := rapid.IntRange(1, 20).Draw(t, "most")
		joined := ""
		for _, part := range split(text, most, utf8.RuneCountInString) {
			if n := utf8.RuneCountInString(part); n > most || !utf8.ValidString(part) {
				t.Fatalf("part %q of %d", part, n)
			}
			joined += part
		}
		if joined != text {
			t.Fatalf("%q became %q", text, joined)
		}
	})
}
