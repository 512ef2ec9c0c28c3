package modelhttp

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func FuzzRetryAfterIsBounded(f *testing.F) {
	for _, s := range []string{"5", "-1", "1e300", "NaN", "0.5", "Wed, 21 Oct 2037 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT", "soon"} {
		f.Add(s, `{"retryDelay":"`+s+`s"}`)
	}
	f.Fuzz(func(t *testing.T, header, body string) {
		h := http.Header{"Retry-After": {header}}
		if d := retryAfter(h, []byte(body), time.Unix(1_800_000_000, 0)); d < 0 || d > maxRetryAfter {
			t.Errorf("a pause of %s", d)
		}
	})
}

const textWindow = 12

func FuzzQuoteContainsNoPartOfTheText(f *testing.F) {
	f.Add("error: cannot embed 'my secret diary', sorry", "my secret diary of May")
	f.Add(`{"detail":"\u8a18\u61b6\u306e\u8a71"}`, "記憶の話")
	f.Add("a\xff\xfeb", "\xff\xfe")
	f.Fuzz(func(t *testing.T, body, text string) {
		if strings.Contains(text, "[...") || strings.Contains(text, "...]") {
			t.Skip("the mark itself")
		}
		got := quote([]byte(body), nil, []string{text}, textWindow)
		if !utf8.ValidString(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		for text = oneLine(text); len(text) >= textWindow; text = text[1:] {
			if strings.Contains(got, text[:textWindow]) {
				t.Errorf("%q is in %q", text[:textWindow], got)
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

func TestEndpoint(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://api.openai.com":                                  "https://api.openai.com/v1/embeddings",
		"http://localhost:1234/":                                  "http://localhost:1234/v1/embeddings",
		"http://localhost:1234/v1":                                "http://localhost:1234/v1/embeddings",
		" http://localhost:1234/v1/ ":                             "http://localhost:1234/v1/embeddings",
		"http://localhost:1234/v1/embeddings":                     "http://localhost:1234/v1/embeddings",
		"https://openrouter.ai/api/v1":                            "https://openrouter.ai/api/v1/embeddings",
		"https://api.deepinfra.com/v1/openai":                     "https://api.deepinfra.com/v1/openai/embeddings",
		"https://generativelanguage.googleapis.com/v1beta/openai": "https://generativelanguage.googleapis.com/v1beta/openai/embeddings",
		"https://example.com/vectors":                             "https://example.com/vectors/v1/embeddings",
		"https://example.com/v1?api-version=2":                    "https://example.com/v1/embeddings?api-version=2",
	} {
		if got := endpoint(t, base); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}

func endpoint(t *testing.T, base string) string {
	t.Helper()
	u, err := ParseBase(base, "remote.baseUrl")
	if err != nil {
		t.Fatal(err)
	}
	return Endpoint(u, "embeddings")
}

func TestParseBaseRefusesWithoutQuoting(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "localhost:1234", "ftp://me:hunter22@host/", "http://", "http://me:hunter22@ho st/"} {
		if _, err := ParseBase(base, "llm.baseUrl"); err == nil || strings.Contains(err.Error(), "hunter22") || !strings.Contains(err.Error(), "llm.baseUrl") {
			t.Errorf("%s: %v", base, err)
		}
	}
}
