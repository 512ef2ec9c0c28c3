package trace

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traceContext reads the headers traceparent and tracestate of W3C Trace Context.
var traceContext propagation.TraceContext

// FromMetadata returns a context that belongs to the trace that the metadata of a call names. A trace that ctx has stays.
func FromMetadata(ctx context.Context, md map[string][]string) context.Context {
	if trace.SpanContextFromContext(ctx).IsValid() || len(md["traceparent"]) == 0 {
		return ctx
	}
	return traceContext.Extract(ctx, metadataCarrier(md))
}

// metadataCarrier gives access to metadata, whose keys are in lower case.
type metadataCarrier map[string][]string

// Get returns the first value of a key, "" if there is none.
func (m metadataCarrier) Get(key string) string {
	if values := m[key]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// Set implements propagation.TextMapCarrier.
func (m metadataCarrier) Set(key, value string) { m[key] = []string{value} }

// Keys implements propagation.TextMapCarrier.
func (m metadataCarrier) Keys() []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}
