package speed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"

	"kioku/embed"
)

// provider answers like an OpenAI embeddings server that needs no time to think. It is an http.RoundTripper for clients
// in this process; serve makes it a server for others. Texts about one topic have vectors near each other (their cosine
// is about 0.5), other texts have nothing in common; equal texts have equal vectors.
type provider struct {
	// dims is the length of the vectors.
	dims int
}

// model is the name of the model that clients of a provider ask for.
const model = "speed"

// client returns a client that calls p in this process, nil if p has no dimensions. Its embedding space is that of a server
// at baseURL.
func (p provider) client(baseURL string) (*embed.Client, error) {
	if p.dims == 0 {
		return nil, nil
	}
	c, err := embed.New(embed.Config{Provider: "openai", Model: model, BaseURL: baseURL, Dims: p.dims, Transport: p})
	if err != nil {
		return nil, fmt.Errorf("open provider: %w", err)
	}
	return c, nil
}

// RoundTrip implements http.RoundTripper.
func (p provider) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked struct{ Input []string }
	err := errors.Join(json.NewDecoder(r.Body).Decode(&asked), r.Body.Close())
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	body := []byte(`{"data":[`)
	for i, text := range asked.Input {
		if i > 0 {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, `{"index":%d,"embedding":[`, i)
		for _, x := range p.vector(text) {
			body = append(strconv.AppendFloat(body, float64(x), 'g', -1, 32), ',')
		}
		body = append(body[:len(body)-1], "]}"...)
	}
	body = append(body, "]}"...)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
}

// vector returns the unit vector of a text: the direction of its topic, which ends at the first colon, plus its own.
func (p provider) vector(text string) []float32 {
	topic, _, _ := strings.Cut(text, ":")
	v := make([]float32, p.dims)
	for _, part := range []string{topic, text} {
		h := fnv.New64a()
		io.WriteString(h, part)
		addNoise(v, h.Sum64(), 1)
	}
	return normalize(v)
}

// serve serves p on loopback, for other processes, until stop is called.
func (p provider) serve() (baseURL string, stop func() error, err error) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("serve embeddings: %w", err)
	}
	srv := &http.Server{Handler: &httputil.ReverseProxy{Transport: p, Rewrite: func(*httputil.ProxyRequest) {},
		ErrorLog: log.New(io.Discard, "", 0)}} // a client that is gone is no news
	return "http://" + lis.Addr().String(), background(func() error { return srv.Serve(lis) }, srv.Close), nil
}

// background calls serve in a goroutine. The function that it returns calls stop, waits until serve has returned, and
// returns the errors of both, except those that report the end itself.
func background(serve, stop func() error) func() error {
	served := make(chan error, 1)
	go func() { served <- serve() }()
	return func() error {
		err := stop()
		if end := <-served; !errors.Is(end, http.ErrServerClosed) && !errors.Is(end, context.Canceled) {
			err = errors.Join(err, end)
		}
		return err
	}
}
