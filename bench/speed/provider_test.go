package speed

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestProviderServeAnswersAsInTheProcess(t *testing.T) {
	t.Parallel()
	p := provider{8}
	base, stop, err := p.serve()
	if err != nil {
		t.Fatal(err)
	}
	const asked = `{"input":["one: a","two: b"],"encoding_format":"base64"}`
	var bodies [2]string
	for i, transport := range []http.RoundTripper{p, http.DefaultTransport} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/embeddings", strings.NewReader(asked))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.Body.Close() != nil {
			t.Fatal(err)
		}
		bodies[i] = string(text)
	}
	if bodies[0] != bodies[1] || strings.Count(bodies[0], "embedding") != 2 {
		t.Errorf("got %q", bodies)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestProviderClientReturnsTheVectorsOfTheYardstick(t *testing.T) {
	t.Parallel()
	p := provider{vectorDims}
	c, err := p.client("http://localhost")
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"harbor: ships", "harbor: cranes", "港"}
	got, err := c.Documents(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		want := p.vector(text)
		if len(want) != vectorDims || len(blobOf(want)) != 4*vectorDims {
			t.Errorf("%q has %d dimensions", text, len(want))
		}
		if cos := dot(got[i].Vector, want); cos < 0.999 {
			t.Errorf("%q has the cosine %.3f to its vector", text, cos)
		}
	}
	if near, far := dot(got[0].Vector, got[1].Vector), dot(got[0].Vector, got[2].Vector); near < 0.3 || near > 0.7 || far > 0.2 {
		t.Errorf("cosines %.2f within a topic and %.2f between topics, want about 0.5 and 0", near, far)
	}
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
