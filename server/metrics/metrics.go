// Package metrics counts what a server and its memories do, and tells Prometheus.
//
// A metric has no label but ids of agents that are served, names of methods, modes, codes and providers, so that the number of
// series is bounded and no series contains a text, a path, a host or a name of a token. A caller gets the series of the agents
// that it may reach; those of no agent, such as of the process, are for callers who may reach all.
package metrics

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"google.golang.org/grpc/codes"

	"kioku"
	"kioku/council/engine"
	"kioku/derive/unit"
	"kioku/embed"
	"kioku/internal/modelhttp"
	"kioku/memory"
	"kioku/server"
)

// Options say what is counted.
type Options struct {
	// Version of the program.
	Version string
	// Network is what the process sends through to other machines; nil counts nothing.
	Network *modelhttp.Network
	// Audit records the calls; nil records none.
	Audit server.Auditor
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Metrics counts. Its methods may be called concurrently; [Metrics.Agent], [Metrics.Derive] and [Metrics.Council] must be
// called before the others.
type Metrics struct {
	registry *prometheus.Registry
	now      func() time.Time
	// memories are those of the agents that are served.
	memories states[kioku.Status]
	// derivers are those of the agents for which something is derived.
	derivers states[unit.DeriveStatus]
	// councils by the agents whose memories contain their decisions.
	councils states[engine.Load]

	calls       *prometheus.CounterVec
	callSeconds *prometheus.HistogramVec
	inFlight    *prometheus.GaugeVec
	waits       *prometheus.HistogramVec
	refusals    *prometheus.CounterVec

	searchSeconds *prometheus.HistogramVec
	withoutHits   *prometheus.CounterVec
	degraded      *prometheus.CounterVec
	searchErrors  *prometheus.CounterVec

	lag *prometheus.HistogramVec

	modelTokens *prometheus.CounterVec

	embedRequests *prometheus.CounterVec
	embedTexts    *prometheus.CounterVec
	embedTokens   *prometheus.CounterVec
	embedSecrets  *prometheus.CounterVec
	embedSeconds  *prometheus.HistogramVec
	queryCache    *prometheus.CounterVec
}

// Bounds of the buckets of histograms, in seconds: of what a person or an agent waits for, and of the way of an edit into the
// index, which rests for a while before it is read.
var (
	waitBuckets = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	lagBuckets  = []float64{0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 900, 3600}
)

// New returns metrics in which nothing is counted yet.
func New(opt Options) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), now: opt.Now, memories: states[kioku.Status]{}, derivers: states[unit.DeriveStatus]{},
		councils: states[engine.Load]{}}
	if m.now == nil {
		m.now = time.Now
	}
	m.calls = m.counters("kioku_calls_total", "Calls that have ended, by the code of their outcome.", "agent", "method", "code")
	m.callSeconds = m.histograms("kioku_call_duration_seconds", "How long calls with one response took.", waitBuckets, "agent", "method")
	m.inFlight = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "kioku_calls_in_flight", Help: "Calls under way."}, []string{"method"})
	m.waits = m.histograms("kioku_admission_wait_seconds", "How long calls waited until they were admitted, and searches for their turn.", waitBuckets, "queue")
	m.refusals = m.counters("kioku_admission_refusals_total", "Calls and searches that were refused because too many of their client waited.", "queue")
	m.searchSeconds = m.histograms("kioku_search_duration_seconds", "How long searches took, by the channels that ran.", waitBuckets, "agent", "mode")
	m.withoutHits = m.counters("kioku_searches_without_hits_total", "Searches without a hit.", "agent", "mode")
	m.degraded = m.counters("kioku_searches_degraded_total", "Searches whose answer lacked something, by what it lacked.", "agent", "code")
	m.searchErrors = m.counters("kioku_search_errors_total", "Searches that failed or were refused.", "agent")
	m.lag = m.histograms("kioku_index_lag_seconds", "Time from an edit of a file until searches found it, of edits since the start.", lagBuckets, "agent")
	m.modelTokens = m.counters("kioku_model_tokens_total", "Tokens of requests to the language model, as its provider counts them: input (not cached), cache_read, cache_write and output.", "agent", "kind")
	m.embedRequests = m.counters("kioku_embed_requests_total", "Tries of requests to embedding providers, by outcome.", "provider", "kind", "outcome")
	m.embedTexts = m.counters("kioku_embed_texts_total", "Texts that were sent to embedding providers.", "provider", "kind")
	m.embedTokens = m.counters("kioku_embed_tokens_total", "Tokens that were sent to embedding providers, estimated.", "provider", "kind")
	m.embedSecrets = m.counters("kioku_embed_redactions_total", "Passwords and keys that were left out of texts sent to embedding providers.", "provider", "kind")
	m.embedSeconds = m.histograms("kioku_embed_request_duration_seconds", "How long tries of requests to embedding providers took.", waitBuckets, "provider", "kind")
	m.queryCache = m.counters("kioku_query_vectors_total", "Vectors that queries needed, cached (hit) or not (miss).", "provider", "result")
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "kioku_build_info", Help: "1, with the version of the program.",
		ConstLabels: prometheus.Labels{"version": opt.Version, "goversion": runtime.Version()}})
	build.Set(1)
	start := prometheus.NewGauge(prometheus.GaugeOpts{Name: "kioku_start_time_seconds", Help: "Start of the service, in seconds since 1970."})
	start.Set(float64(m.now().UnixMilli()) / 1000)
	m.registry.MustRegister(m.inFlight, build, start, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if opt.Audit != nil {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "kioku_audit_failing", Help: "1 while calls cannot be recorded in the audit log."},
			func() float64 { err, _ := opt.Audit.Err(); return truth(err != nil) }))
	}
	if opt.Network != nil {
		m.registry.MustRegister(egressCollector{opt.Network})
	}
	return m
}

// counters returns registered counters.
func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

// histograms returns registered histograms.
func (m *Metrics) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(v)
	return v
}

// CallBegun implements server.Observer.
func (m *Metrics) CallBegun(method string) { m.inFlight.WithLabelValues(method).Inc() }

// CallEnded implements server.Observer. A call of a client that may not reach an agent does not count for the agent.
func (m *Metrics) CallEnded(c server.CallRecord) {
	m.inFlight.WithLabelValues(c.Method).Dec()
	agent := c.Reached()
	m.calls.WithLabelValues(agent, c.Method, c.Code.String()).Inc()
	if !c.Stream {
		m.callSeconds.WithLabelValues(agent, c.Method).Observe(c.Took.Seconds())
	}
	if c.Admitted {
		m.waits.WithLabelValues("calls").Observe(c.Waited.Seconds())
	} else if c.Code == codes.ResourceExhausted {
		m.refusals.WithLabelValues("calls").Inc()
	}
}

// SearchWaited counts how long a search waited for its turn; it is made for server.Searches.Waited.
func (m *Metrics) SearchWaited(waited time.Duration, refused bool) {
	if refused {
		m.refusals.WithLabelValues("searches").Inc()
		return
	}
	m.waits.WithLabelValues("searches").Observe(waited.Seconds())
}

// searched counts a search.
func (m *Metrics) searched(agent string, a memory.Answer, took time.Duration, err error) {
	if err != nil {
		m.searchErrors.WithLabelValues(agent).Inc()
		return
	}
	m.searchSeconds.WithLabelValues(agent, a.Mode).Observe(took.Seconds())
	if len(a.Hits) == 0 {
		m.withoutHits.WithLabelValues(agent, a.Mode).Inc()
	}
	told := map[string]bool{}
	for _, d := range a.Degraded {
		if !told[d.Code] && !d.IsHint() {
			told[d.Code] = true
			m.degraded.WithLabelValues(agent, d.Code).Inc()
		}
	}
}

// edited counts the way of an edit into the index. Times from before the start are those of files that were there.
func (m *Metrics) edited(agent string, start time.Time, e kioku.Event) {
	if lag := e.Time.Sub(e.Modified); !e.Modified.Before(start) && lag >= 0 {
		m.lag.WithLabelValues(agent).Observe(lag.Seconds())
	}
}

// Tried counts a try of a request to an embedding provider; it is made for embed.Config.Tried.
func (m *Metrics) Tried(t embed.Try) {
	kind := "document"
	if t.Query {
		kind = "query"
	}
	m.embedRequests.WithLabelValues(t.Provider, kind, t.Outcome).Inc()
	m.embedTexts.WithLabelValues(t.Provider, kind).Add(float64(t.Texts))
	m.embedTokens.WithLabelValues(t.Provider, kind).Add(float64(t.Tokens))
	m.embedSecrets.WithLabelValues(t.Provider, kind).Add(float64(t.Secrets))
	m.embedSeconds.WithLabelValues(t.Provider, kind).Observe(t.Took.Seconds())
}

// QueryLooked counts whether the vector of a query was cached; it is made for embed.Config.QueryLooked.
func (m *Metrics) QueryLooked(provider string, cached bool) {
	result := "miss"
	if cached {
		result = "hit"
	}
	m.queryCache.WithLabelValues(provider, result).Inc()
}
