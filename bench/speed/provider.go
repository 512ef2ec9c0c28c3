package speed

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"

	"kioku/embed"
)

// provider answers like an embeddings server, in this process and without a network. Texts about one topic have vectors
// near each other (their cosine is about 0.5), other texts have none in common; equal texts have equal vectors.
type provider struct{ dims int }

// newProvider returns a client of a provider with vectors of dims numbers.
func newProvider(dims int) (*embed.Client, error) {
	c, err := embed.New(embed.Config{Provider: "openai", Model: "speed", APIKey: "none", Dims: dims, Transport: provider{dims}})
	if err != nil {
		return nil, fmt.Errorf("open provider: %w", err)
	}
	return c, nil
}

// RoundTrip implements http.RoundTripper.
func (p provider) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked struct{ Input []string }
	err := json.NewDecoder(r.Body).Decode(&asked)
	r.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	var body bytes.Buffer
	body.WriteString(`{"data":[`)
	for i, text := range asked.Input {
		if i > 0 {
			body.WriteByte(',')
		}
		fmt.Fprintf(&body, `{"index":%d,"embedding":"%s"}`, i, encode(vectorOf(text, p.dims)))
	}
	body.WriteString("]}")
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(&body), ContentLength: int64(body.Len()), Request: r}, nil
}

// encode writes a vector as the servers do: float32, little-endian, in base64.
func encode(v []float32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// vectorOf returns the unit vector of a text: half the direction of its topic, which is its first word, and half its own.
func vectorOf(text string, dims int) []float32 {
	topic, _, _ := strings.Cut(text, ":")
	v := direction(topic, dims)
	for i, x := range direction(text, dims) {
		v[i] += x
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// direction returns a random vector that is always the same for a text.
func direction(text string, dims int) []float32 {
	h := fnv.New64a()
	io.WriteString(h, text)
	r := rand.New(rand.NewPCG(h.Sum64(), 42))
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}
