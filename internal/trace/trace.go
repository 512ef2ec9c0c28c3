// Package tracing records spans of what the program does, if somebody wants them. Off, it costs a look into a context.
//
// The roots of traces are the calls of the server and the syncs of the daemon, which have a [Tracer]; everything below them
// begins its spans with [Start]. A span carries names and numbers of the program only: no text of a note or of a query, no path
// and no text of an error, because traces leave the machine.
package trace

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Scope is the name of the instrumentation, as OpenTelemetry calls it.
const Scope = "kioku"

// Tracer begins traces. Nil begins none.
type Tracer struct{ tracer trace.Tracer }

// New returns a tracer of a provider of OpenTelemetry.
func New(p trace.TracerProvider) *Tracer { return &Tracer{p.Tracer(Scope)} }

// Begin begins the root of a trace, or, if ctx has the trace of a remote caller, its part in this process.
func (t *Tracer) Begin(ctx context.Context, name string) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer))
	return ctx, Span{span}
}

type tracerKey struct{}

// With returns a context in which [Start] begins traces where none is under way.
func With(ctx context.Context, t *Tracer) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, tracerKey{}, t)
}

// Start begins a span within the trace of ctx. Without a trace it begins one if ctx comes from [With], and nothing otherwise.
// The caller ends the span.
func Start(ctx context.Context, name string) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	var tracer trace.Tracer
	switch {
	case parent.IsRecording():
		tracer = parent.TracerProvider().Tracer(Scope)
	case parent.SpanContext().IsValid():
		return ctx, Span{} // of a trace that is not sampled
	default:
		t, _ := ctx.Value(tracerKey{}).(*Tracer)
		if t == nil {
			return ctx, Span{}
		}
		tracer = t.tracer
	}
	ctx, span := tracer.Start(ctx, name)
	return ctx, Span{span}
}

// Span is a step of a trace. The zero Span records nothing.
type Span struct{ span trace.Span }

// Int records a number.
func (s Span) Int(key string, n int) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(key, n))
	}
}

// Name records a name of the program, such as that of an agent or a provider; never a text of a note or a query.
func (s Span) Name(key, name string) {
	if s.span != nil {
		s.span.SetAttributes(attribute.String(key, name))
	}
}

// End ends the span. Of an error it records only that there was one, because its text may quote a note.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}
