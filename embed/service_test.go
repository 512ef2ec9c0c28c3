package embed

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"testing"

	"kioku/internal/modelhttp"
)

func FuzzParseOpenAIIsWholeOrRefused(f *testing.F) {
	for _, s := range []string{
		`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[3e-3]}]}`,
		`{"data":[{"index":0,"embedding":[1e39]},{"index":1,"embedding":[null]}]}`,
		`{"data":[{"index":0},{"index":0}]}`, `{}`, `null`, `[]`, `<html>`, `{"data":{"index":0}}`,
		`{"data":[{"index":1e9,"embedding":[]},{}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		c, err := New(Config{Provider: "openai", APIKey: "k", Transport: answering(answer)})
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.provider.embed(t.Context(), document, []string{"a", "b"})
		if err != nil && out != nil {
			t.Errorf("an error and %v", out)
		}
		if err == nil && (len(out) != 2 || len(out[0].Vector) == 0 || len(out[1].Vector) == 0) {
			t.Errorf("accepted as %v", out)
		}
	})
}

// answering answers each request with the same body.
type answering []byte

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a)), Request: r}, nil
}

// Hazard E10: all ways to write one address are one space, another server is another space.
func TestFingerprintOfEqualServersIsEqual(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"https://api.openai.com", "https://API.OpenAI.com/v1/", "https://api.openai.com:443/v1/embeddings"},
		{"http://localhost:1234", "http://LOCALHOST:1234/v1", "http://localhost:1234/v1/", "http://localhost:1234/?key=abc"},
		{"http://box/vectors", "http://box:80/vectors/v1", "http://me:secret@box/vectors/"},
	} {
		want := services["openai"].fingerprint(mustParse(t, same[0]), "")
		if (want == "") != (same[0] == services["openai"].base) {
			t.Errorf("%s: fingerprint %q", same[0], want)
		}
		for _, other := range same[1:] {
			if got := services["openai"].fingerprint(mustParse(t, other), ""); got != want {
				t.Errorf("%s and %s: %q and %q", same[0], other, want, got)
			}
		}
	}
	seen := map[string]string{}
	for _, base := range []string{"http://localhost:1234", "https://localhost:1234", "http://localhost:1235", "http://localhost:1234/v2", "http://localhost:1234/Vectors", "http://localhost:1234/vectors"} {
		f := services["openai"].fingerprint(mustParse(t, base), "")
		if seen[f] != "" {
			t.Errorf("%s and %s look alike", base, seen[f])
		}
		seen[f] = base
	}
}

func mustParse(t *testing.T, base string) *url.URL {
	t.Helper()
	u, err := modelhttp.ParseBase(base, "remote.baseUrl")
	if err != nil {
		t.Fatal(err)
	}
	return u
}
