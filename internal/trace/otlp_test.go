package trace_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kioku/internal/modelhttp"
	"kioku/internal/testkit"
	"kioku/internal/trace"
)

const key = "Bearer secret-of-the-collector"

// open returns a tracer that sends to a collector, what sends all that waits, and the log.
func open(t *testing.T, endpoint string, sample float64, n *modelhttp.Network) (*trace.Tracer, func(), *strings.Builder) {
	t.Helper()
	var log strings.Builder
	tracer, shutdown, err := trace.Open(t.Context(), trace.Options{Endpoint: endpoint, Sample: sample, Headers: map[string]string{"Authorization": key},
		Transport: n.Transport("traces"), Version: "1.2.3", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return tracer, func() {
		if err := shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}, &log
}

// Spans arrive at the collector with their names, numbers and parents, with the headers that are set, through the network that
// counts what leaves the machine. Of an error they say only that there was one.
func TestTracesArrive(t *testing.T) {
	t.Parallel()
	collector, network := testkit.NewCollector(t), modelhttp.NewNetwork(modelhttp.NetworkOptions{})
	tracer, end, log := open(t, collector.URL, 1, network)
	ctx, call := tracer.Begin(t.Context(), "call")
	call.Name("kioku.agent", "ann")
	_, step := trace.Start(ctx, "step")
	step.Int("chunks", 7)
	step.End(errors.New("secret text of a note"))
	call.End(nil)
	end()
	byName := map[string]testkit.CollectedSpan{}
	for _, s := range collector.Spans() {
		byName[s.Name] = s
		if strings.Contains(s.Whole, "secret") {
			t.Errorf("a span with the text of an error: %s", s.Whole)
		}
	}
	got := byName["step"]
	if len(byName) != 2 || got.Parent != byName["call"].ID || got.Trace != byName["call"].Trace || !got.Failed || got.Message != "" ||
		got.Attributes["chunks"] != "7" || byName["call"].Attributes["kioku.agent"] != "ann" || !strings.Contains(got.Whole, "1.2.3") {
		t.Errorf("%+v", byName)
	}
	if collector.Headers().Get("Authorization") != key {
		t.Errorf("headers %v", collector.Headers())
	}
	uses := network.Uses()
	if len(uses) != 1 || uses[0].Purpose != "traces" || uses[0].Requests == 0 || uses[0].Bytes == 0 {
		t.Errorf("uses %+v", uses)
	}
	if log.Len() > 0 {
		t.Errorf("log: %s", log)
	}
}

// A trace whose caller has decided is sent or not as the caller decided; others by the share that is set.
func TestTracesAreSampled(t *testing.T) {
	t.Parallel()
	const id, sampled, unsampled = "0af7651916cd43dd8448eb211c80319c", "-01", "-00"
	for _, c := range []struct {
		sample      float64
		traceparent string
		want        bool
	}{{0, "", false}, {1, "", true}, {0, sampled, true}, {1, unsampled, false}} {
		collector := testkit.NewCollector(t)
		tracer, end, _ := open(t, collector.URL, c.sample, modelhttp.NewNetwork(modelhttp.NetworkOptions{}))
		ctx := t.Context()
		if c.traceparent != "" {
			ctx = trace.FromMetadata(ctx, map[string][]string{"traceparent": {"00-" + id + "-b7ad6b7169203331" + c.traceparent}})
		}
		ctx, call := tracer.Begin(ctx, "call")
		_, step := trace.Start(ctx, "step")
		step.End(nil)
		call.End(nil)
		end()
		spans := collector.Spans()
		if got := len(spans) == 2; got != c.want {
			t.Errorf("%+v: %d spans", c, len(spans))
		}
		if c.want && c.traceparent != "" && spans[0].Trace != id {
			t.Errorf("%+v: trace %s", c, spans[0].Trace)
		}
	}
}

// Offline, no trace leaves for another machine, and that is counted.
func TestTracesStayOffline(t *testing.T) {
	t.Parallel()
	network := modelhttp.NewNetwork(modelhttp.NetworkOptions{})
	network.SetOffline(true)
	tracer, end, log := open(t, "http://collector.example:4318", 1, network)
	_, span := tracer.Begin(t.Context(), "call")
	span.End(nil)
	end()
	uses := network.Uses()
	if len(uses) != 1 || uses[0].Refused == 0 || uses[0].Requests > 0 || !strings.Contains(log.String(), "offline is set") {
		t.Errorf("uses %+v, log %s", uses, log)
	}
}

// Hazard C13: a collector that refuses traces is told of in the log, without the key that it repeats.
func TestTracesThatAreRefusedAreLoggedWithoutTheKey(t *testing.T) {
	t.Parallel()
	collector := testkit.NewCollector(t)
	collector.Refuse("who is " + key + "?")
	tracer, end, log := open(t, collector.URL, 1, modelhttp.NewNetwork(modelhttp.NetworkOptions{}))
	_, span := tracer.Begin(t.Context(), "call")
	span.End(nil)
	end()
	if !strings.Contains(log.String(), "traces were not sent") || strings.Contains(log.String(), "secret") {
		t.Errorf("log: %s", log)
	}
}

// Endpoints are URLs; one without a path means /v1/traces there.
func TestOpenRefusesAnEndpointThatIsNoURL(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	want := map[string]bool{"http://localhost:4318": true, "https://x.example/otlp/v1/traces": true, "localhost:4318": false, "": false, "ftp://x": false, "http://": false}
	for endpoint := range want {
		_, shutdown, err := trace.Open(t.Context(), trace.Options{Endpoint: endpoint, Transport: http.DefaultTransport})
		got[endpoint] = err == nil
		if err == nil {
			_ = shutdown(t.Context())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
