package trace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Options say where traces go.
type Options struct {
	// Endpoint is the URL of the collector, "http://localhost:4318"; without a path, traces go to /v1/traces.
	Endpoint string
	// Sample is the share of traces that are sent, in [0,1], of those whose callers have not decided that.
	Sample float64
	// Headers are sent with every request, such as a key of the collector; nil adds none.
	Headers map[string]string
	// Transport sends the requests.
	Transport http.RoundTripper
	// Version of the program.
	Version string
	// Log is told when traces could not be sent.
	Log *slog.Logger
}

const (
	// sendTimeout is the time limit of one request, retryTime that of all tries.
	sendTimeout, retryTime = 5 * time.Second, 15 * time.Second
	// maxWaiting is the number of spans that wait to be sent; more are dropped.
	maxWaiting = 8192
)

// Open returns a tracer and what ends it, which sends the spans that wait. It sends nothing before the first span.
func Open(ctx context.Context, opt Options) (*Tracer, func(context.Context) error, error) {
	endpoint, err := parseEndpoint(opt.Endpoint)
	if err != nil {
		return nil, nil, err
	}
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(endpoint),
		otlptracehttp.WithHeaders(opt.Headers),
		otlptracehttp.WithHTTPClient(&http.Client{Transport: opt.Transport, Timeout: sendTimeout}),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: time.Second, MaxInterval: 5 * time.Second, MaxElapsedTime: retryTime}))
	if err != nil {
		return nil, nil, fmt.Errorf("tracing.endpoint: %w", err)
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(logged{exporter, opt.Log, opt.Headers}, sdktrace.WithMaxQueueSize(maxWaiting)),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(opt.Sample))),
		sdktrace.WithResource(resourceOf(opt.Version)))
	return New(provider), provider.Shutdown, nil
}

// parseEndpoint returns the URL that traces are sent to.
func parseEndpoint(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("tracing.endpoint must be a URL such as http://localhost:4318")
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/traces"
	}
	return u.String(), nil
}

// resourceOf describes this process, and nothing of the machine.
func resourceOf(version string) *resource.Resource {
	return resource.NewSchemaless(attribute.String("service.name", "kioku"), attribute.String("service.version", version))
}

// logged is an exporter whose errors are logged, and not those of the whole process.
type logged struct {
	sdktrace.SpanExporter
	log     *slog.Logger
	headers map[string]string
}

// ExportSpans sends spans.
func (e logged) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err != nil && e.log != nil {
		e.log.Warn("traces were not sent", "spans", len(spans), "err", e.withoutKeys(err.Error()))
	}
	return nil
}

// withoutKeys returns a text without the values of headers: a collector may repeat a key in its answer.
func (e logged) withoutKeys(text string) string {
	for _, value := range e.headers {
		if value != "" {
			text = strings.ReplaceAll(text, value, "...")
		}
	}
	return text
}
