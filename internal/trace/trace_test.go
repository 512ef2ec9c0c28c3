package trace_test

import (
	"context"
	"testing"

	otel "go.opentelemetry.io/otel/trace"

	"kioku/internal/trace"
)

// Off, a span is nothing, the context stays as it is, and nothing is allocated.
func TestStartWithoutATracerCostsNothing(t *testing.T) {
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() {
		same, span := trace.Start(ctx, "step")
		span.Int("chunks", 3)
		span.Name("provider", "openai")
		span.End(context.Canceled)
		if same != ctx {
			t.Fatal("another context")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if trace.With(ctx, nil) != ctx {
		t.Error("no tracer changes the context")
	}
	if same, _ := (*trace.Tracer)(nil).Begin(ctx, "call"); same != ctx {
		t.Error("a call without a tracer has another context")
	}
}

// The trace of a caller is that of the header traceparent. What is no traceparent is ignored.
func TestTraceContextOfTheCaller(t *testing.T) {
	t.Parallel()
	const id = "0af7651916cd43dd8448eb211c80319c"
	for header, want := range map[string]string{
		"00-" + id + "-b7ad6b7169203331-01": id, "": "", "nonsense": "", "00-" + id + "-0000000000000000-01": "",
	} {
		if got := traceOf(trace.FromMetadata(t.Context(), map[string][]string{"traceparent": {header}})); got != want {
			t.Errorf("%q: trace %q", header, got)
		}
	}
}

// traceOf returns the id of the trace of a context, "" without one.
func traceOf(ctx context.Context) string {
	c := otel.SpanContextFromContext(ctx)
	if !c.IsValid() {
		return ""
	}
	return c.TraceID().String()
}

// BenchmarkStartOff measures a span that nobody wants, below a few contexts as in a search.
func BenchmarkStartOff(b *testing.B) {
	ctx := b.Context()
	for range 10 {
		ctx = context.WithValue(ctx, new(int), 1)
	}
	for b.Loop() {
		_, span := trace.Start(ctx, "step")
		span.End(nil)
	}
}
