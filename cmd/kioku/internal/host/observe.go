package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"kioku/cmd/kioku/config"
	"kioku/internal/trace"
	"kioku/server"
	"kioku/server/audit"
	"kioku/server/metrics"
)

// tracesWait is how long the last traces may take to be sent.
const tracesWait = 3 * time.Second

// observation is what a daemon records of itself.
type observation struct {
	metrics *metrics.Metrics
	// tracer is nil if no traces are sent, and audit if no calls are recorded.
	tracer *trace.Tracer
	audit  *audit.Log
	// endTraces sends the traces that wait; nil without a tracer.
	endTraces func(context.Context) error
}

// openObservation opens what the settings want recorded.
func openObservation(ctx context.Context, conf *config.Config, version string, log *slog.Logger) (o observation, err error) {
	counted := metrics.Options{Version: version, Network: conf.Network}
	if opt := conf.Audit; opt.File != "" {
		opt.Log = log
		if o.audit, err = audit.Open(opt); err != nil {
			return o, err
		}
		counted.Audit = o.audit
	}
	o.metrics = metrics.New(counted)
	if opt := conf.Tracing; opt.Endpoint != "" {
		opt.Transport, opt.Version, opt.Log = conf.Network.Transport("traces"), version, log
		if o.tracer, o.endTraces, err = trace.Open(ctx, opt); err != nil {
			return o, errors.Join(conf.Wrong("tracing.endpoint", err.Error()), o.close())
		}
	}
	return o, nil
}

// handler returns what answers /metrics for whoever a connection knows; nil if nothing is counted.
func (o observation) handler() func(http.RoundTripper) http.Handler {
	if o.metrics == nil {
		return nil
	}
	return o.metrics.Handler
}

// observe has a server tell what it does.
func (o observation) observe(opt *server.Options) {
	if o.metrics != nil {
		opt.Observers = []server.Observer{o.metrics}
	}
	opt.Tracer = o.tracer
	if o.audit != nil {
		opt.Audit = o.audit
	}
}

// close writes and sends what waits.
func (o observation) close() error {
	var errs []error
	if o.endTraces != nil {
		ctx, cancel := context.WithTimeout(context.Background(), tracesWait)
		defer cancel()
		if err := o.endTraces(ctx); err != nil {
			errs = append(errs, fmt.Errorf("send the last traces: %w", err))
		}
	}
	if o.audit != nil {
		errs = append(errs, o.audit.Close())
	}
	return errors.Join(errs...)
}
