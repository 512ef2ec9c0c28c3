package embed

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func FuzzAnAnswerIsWholeOrRefused(f *testing.F) {
	for _, s := range []string{
		`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":"AACAPwAAgD8="}]}`,
		`{"data":[{"index":0,"embedding":[1e39]},{"index":1,"embedding":[null]}]}`,
		`{"data":[{"index":0},{"index":0}]}`, `{}`, `null`, `[]`, `<html>`, `{"data":{"index":0}}`,
		`{"data":[{"index":1e9,"embedding":[]},{}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		vecs, err := parseOpenAI(answer, 2)
		if err != nil && vecs != nil {
			t.Errorf("an error and %v", vecs)
		}
		if err == nil && (len(vecs) != 2 || len(vecs[0]) == 0 || len(vecs[1]) == 0) {
			t.Errorf("accepted as %v", vecs)
		}
	})
}

func FuzzAPauseIsNeverNegativeNorLong(f *testing.F) {
	for _, s := range []string{"5", "-1", "1e300", "NaN", "0.5", "Wed, 21 Oct 2037 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:00 GMT", "soon"} {
		f.Add(s, `{"retryDelay":"`+s+`s"}`)
	}
	f.Fuzz(func(t *testing.T, header, body string) {
		h := http.Header{"Retry-After": {header}}
		if d := pauseAsked(h, []byte(body), time.Unix(1_800_000_000, 0)); d < 0 || d > longestWait {
			t.Errorf("a pause of %s", d)
		}
	})
}

func FuzzAQuoteHoldsNoPartOfTheText(f *testing.F) {
	f.Add("error: cannot embed 'my secret diary', sorry", "my secret diary of May")
	f.Add(`{"detail":"\u8a18\u61b6\u306e\u8a71"}`, "記憶の話")
	f.Add("a\xff\xfeb", "\xff\xfe")
	f.Fuzz(func(t *testing.T, body, text string) {
		if strings.Contains(text, "[...") || strings.Contains(text, "...]") {
			t.Skip("the mark itself")
		}
		got := quotable([]byte(body), nil, []string{text})
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

func TestAQuoteKeepsWhatTheServerSaid(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"no key sk-12345678 here","type":"auth","code":7}}`: "no key [...] here: auth",
		`{"detail":[{"msg":"too long","input":"a line\nfrom the diary"}]}`:       "[...]: too long",
		"  plain\n text ": "plain text",
		`{"a":1}`:         "",
		"pin is 47":       "pin is [...]",
	} {
		got := quotable([]byte(body), []string{"sk-12345678", ""}, []string{"a line\nfrom the diary", "47"})
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestALongRunIsHiddenWhole(t *testing.T) {
	rule := strings.Repeat("-", 100_000)
	if got := quotable([]byte("near "+rule), nil, []string{rule}); got != "near [...]…" {
		t.Errorf("got %q", got)
	}
}

func TestTheAddressFollowsFromTheBase(t *testing.T) {
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
		if got := embeddingsURL(mustParse(t, base)); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}

// Hazard E10: another way to write the same address is the same space, another server is not.
func TestEqualServersHaveEqualFingerprints(t *testing.T) {
	for _, same := range [][]string{
		{"https://api.openai.com", "https://API.OpenAI.com/v1/", "https://api.openai.com:443/v1/embeddings"},
		{"http://localhost:1234", "http://LOCALHOST:1234/v1", "http://localhost:1234/v1/", "http://localhost:1234/?key=abc"},
		{"http://box/vectors", "http://box:80/vectors/v1", "http://me:secret@box/vectors/"},
	} {
		want := fingerprint(mustParse(t, same[0]), openAIBase)
		if (want == "") != (same[0] == openAIBase) {
			t.Errorf("%s: fingerprint %q", same[0], want)
		}
		for _, other := range same[1:] {
			if got := fingerprint(mustParse(t, other), openAIBase); got != want {
				t.Errorf("%s and %s: %q and %q", same[0], other, want, got)
			}
		}
	}
	seen := map[string]string{}
	for _, base := range []string{"http://localhost:1234", "https://localhost:1234", "http://localhost:1235", "http://localhost:1234/v2", "http://localhost:1234/Vectors", "http://localhost:1234/vectors"} {
		f := fingerprint(mustParse(t, base), openAIBase)
		if seen[f] != "" {
			t.Errorf("%s and %s look alike", base, seen[f])
		}
		seen[f] = base
	}
}

func mustParse(t *testing.T, base string) *url.URL {
	t.Helper()
	u, err := parseBase(base)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
