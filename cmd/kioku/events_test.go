package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// A stream of events over HTTP begins at once, and ends with an error that says so when the service stops (G01): a browser connects
// again then.
func TestEventsOverHTTPEndWithTheService(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	p, address := s.serve()
	for accept, want := range map[string]string{"text/event-stream": "event: failure\ndata: {", "application/json": "{"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/v1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || !strings.Contains(string(body), want+`"error":{"code":"UNAVAILABLE"`) {
				t.Errorf("%s: the stream ends with %v: %s", accept, err, body)
			}
		}()
	}
	p.terminates()
}
