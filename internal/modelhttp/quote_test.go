package modelhttp

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
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

// FuzzRefused describes refusals with foreign bodies and headers: the error is short, shows no key and no text of the request,
// and never asks for a long pause.
func FuzzRefused(f *testing.F) {
	f.Add(429, "3", `{"error":{"message":"no key sk-0123456789abcdef"}}`, "/x?key=sk-0123456789abcdef")
	f.Add(400, "", "context length exceeded by the secret diary of May", "http://user:sk-0123456789abcdef@host/sk-0123456789abcdef")
	f.Add(302, "-1", "\xff\x00", "//[::1%25]\n")
	f.Add(301, "0", "moved", "https://sk-0123456789abcdef.example/v1")
	f.Add(-7, "1e99", `{"retryDelay":"9e9s"}`, "")
	const key, original = "sk-0123456789abcdef", "the secret diary of May"
	c := New(Config{Provider: "test", APIKey: key, TextWindow: textWindow, Now: func() time.Time { return time.Unix(1_800_000_000, 0) }})
	f.Fuzz(func(t *testing.T, status int, after, body, location string) {
		u, _ := url.Parse("http://localhost/")
		resp := &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {after}, "Location": {location}}, Request: &http.Request{URL: u}}
		err := c.Refused(resp, []byte(body), []string{original})
		if said := err.Error(); !utf8.ValidString(said) || strings.ContainsFunc(said, unicode.IsControl) || len(said) > 8*maxSaid+200 {
			t.Errorf("the error is %q", said)
		}
		if said := err.Error(); strings.Contains(said, key) || strings.Contains(said, original) {
			t.Errorf("the error shows too much: %q", said)
		}
		if err.RetryAfter < 0 || err.RetryAfter > maxRetryAfter || err.RetryAfter > 0 && !err.Class.Transient() {
			t.Errorf("a pause of %s after %d", err.RetryAfter, status)
		}
	})
}
