package soak

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// provider is an OpenAI-compatible embeddings server that can be made to fail.
type provider struct {
	*httptest.Server
	// fault is how it fails now; fine if it does not.
	fault atomic.Int32
	// asked counts requests, texts the texts that were embedded.
	asked, texts atomic.Int64
}

// Faults of a provider.
const (
	fine = iota
	limits
	breaks
	hangs
	garbles
	faults
)

// newProvider starts a server, which is stopped with the test.
func newProvider(t testing.TB) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		switch p.fault.Load() {
		case limits:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		case breaks:
			w.WriteHeader(http.StatusInternalServerError)
		case hangs:
			select {
			case <-time.After(2 * time.Second):
			case <-t.Context().Done():
			}
			w.WriteHeader(http.StatusGatewayTimeout)
		case garbles:
			fmt.Fprint(w, "<html>service is being updated</html>")
		default:
			p.embed(t, w, r)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// embed answers with a vector that depends on nothing but its text.
func (p *provider) embed(t testing.TB, w http.ResponseWriter, r *http.Request) {
	var req struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		return // the daemon was killed
	}
	type item struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var data []item
	for i, text := range req.Input {
		sum := sha256.Sum256([]byte(text))
		v := make([]float32, len(sum))
		for k, b := range sum {
			v[k] = float32(b) - 127.5
		}
		data = append(data, item{i, v})
	}
	p.texts.Add(int64(len(req.Input)))
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data}) // the daemon may be gone
}
