package modelhttp

import (
	"strings"
	"testing"
	"unicode/utf8"

	"kioku/internal/text"
)

const textWindow = 12

func FuzzQuoteContainsNoPartOfTheText(f *testing.F) {
	f.Add("error: cannot embed 'my secret diary', sorry", "my secret diary of May")
	f.Add(`{"detail":"\u8a18\u61b6\u306e\u8a71"}`, "記憶の話")
	f.Add("a\xff\xfeb", "\xff\xfe")
	f.Fuzz(func(t *testing.T, body, original string) {
		if strings.Contains(original, "[...") || strings.Contains(original, "...]") {
			t.Skip("the mark itself")
		}
		got := quote([]byte(body), nil, []string{original}, textWindow)
		if !utf8.ValidString(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		for rest := text.OneLine(original); len(rest) >= textWindow; rest = rest[1:] {
			if strings.Contains(got, rest[:textWindow]) {
				t.Errorf("%q is in %q", rest[:textWindow], got)
			}
		}
	})
}

func TestQuoteKeepsWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":{"message":"no key sk-12345678 here","type":"auth","code":7}}`: "no key [...] here: auth",
		`{"detail":[{"msg":"too long","input":"a line\nfrom the diary"}]}`:       "[...]: too long",
		"  plain\n text ": "plain text",
		`{"a":1}`:         "",
		"pin is 47":       "pin is [...]",
	} {
		got := quote([]byte(body), []string{"sk-12345678", ""}, []string{"a line\nfrom the diary", "47"}, textWindow)
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestQuoteHidesALongRun(t *testing.T) {
	t.Parallel()
	rule := strings.Repeat("-", 100_000)
	if got := quote([]byte("near "+rule), nil, []string{rule}, textWindow); got != "near [...]…" {
		t.Errorf("got %q", got)
	}
}
