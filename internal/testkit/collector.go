package testkit

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/proto"
)

// Collector takes traces by OTLP over HTTP.
type Collector struct {
	// URL of the collector.
	URL string

	mu      sync.Mutex
	spans   []CollectedSpan // guarded by mu
	headers http.Header     // guarded by mu; of the last request
	refusal string          // guarded by mu; see Refuse
}

// CollectedSpan is a span as the collector got it.
type CollectedSpan struct {
	// Name of the span.
	Name string
	// Trace, ID and Parent are ids in hexadecimal digits; Parent is empty for the root of a trace.
	Trace, ID, Parent string
	// Attributes are the values as text.
	Attributes map[string]string
	// Failed reports that the span ended with an error.
	Failed bool
	// Message is what the span says of its error.
	Message string
	// Whole is all of the span as text.
	Whole string
}

// NewCollector starts a collector, which ends with the test.
func NewCollector(t testing.TB) *Collector {
	c := &Collector{}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	c.URL = s.URL
	return c
}

// Refuse has the collector refuse requests with a text; an empty text has it take them again.
func (c *Collector) Refuse(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusal = text
}

// Spans returns the spans so far.
func (c *Collector) Spans() []CollectedSpan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Headers returns those of the last request.
func (c *Collector) Headers() http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.headers
}

// ServeHTTP takes the spans of a request to /v1/traces.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = r.Header
	if r.URL.Path != "/v1/traces" {
		http.NotFound(w, r)
		return
	}
	if c.refusal != "" {
		http.Error(w, c.refusal, http.StatusBadRequest)
		return
	}
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	data, err := io.ReadAll(body)
	var req collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(data, &req)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.add(&req)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// add keeps the spans of a request. The caller holds mu.
func (c *Collector) add(req *collector.ExportTraceServiceRequest) {
	for _, resource := range req.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, CollectedSpan{
					Name: s.GetName(), Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()),
					Attributes: attributes(s.GetAttributes()), Failed: s.GetStatus().GetCode() == 2, Message: s.GetStatus().GetMessage(),
					Whole: fmt.Sprint(resource.GetResource(), s),
				})
			}
		}
	}
}

// attributes returns attributes as text.
func attributes(list []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, kv := range list {
		_, value, _ := strings.Cut(fmt.Sprint(kv.GetValue()), ":")
		out[kv.GetKey()] = strings.Trim(value, `"`)
	}
	return out
}
