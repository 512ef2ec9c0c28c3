package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kioku"
	"kioku/indexer"
	"kioku/internal/modelhttp"
)

// stateTimeout is the time for the state of all agents.
const stateTimeout = 5 * time.Second

// gauge describes a metric of one agent, as a state tells it.
type gauge[State any] struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(State) float64
}

func perAgent(name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"agent"}, more...), nil)
}

func gaugeOf[State any](name, help string, value func(State) float64) gauge[State] {
	return gauge[State]{perAgent(name, help), prometheus.GaugeValue, value}
}

func counterOf(name, help string, value func(kioku.Status) float64) gauge[kioku.Status] {
	return gauge[kioku.Status]{perAgent(name, help), prometheus.CounterValue, value}
}

// states tell the states of agents, by their ids.
type states[State any] map[string]func(context.Context) (State, error)

// collector reads the states of agents when somebody asks for the metrics. An agent whose state cannot be read has no metric of it.
type collector[State any] struct {
	ctx    context.Context
	states states[State]
	gauges []gauge[State]
	// more are the metrics that read sends; it is told of each agent, and whether its state was read. nil sends nothing.
	more []*prometheus.Desc
	read func(out chan<- prometheus.Metric, agent string, st State, err error)
}

// Describe implements prometheus.Collector.
func (c collector[State]) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.more {
		out <- d
	}
	for _, g := range c.gauges {
		out <- g.desc
	}
}

// Collect implements prometheus.Collector.
func (c collector[State]) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(c.ctx, stateTimeout)
	defer cancel()
	for agent, state := range c.states {
		st, err := state(ctx)
		if c.read != nil {
			c.read(out, agent, st, err)
		}
		if err != nil {
			continue
		}
		for _, g := range c.gauges {
			out <- prometheus.MustNewConstMetric(g.desc, g.kind, g.value(st), agent)
		}
	}
}

// sender returns what sends a gauge of an agent. The labels are those after the agent.
func sender(out chan<- prometheus.Metric, agent string) func(d *prometheus.Desc, value float64, labels ...string) {
	return func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{agent}, labels...)...)
	}
}

var (
	upDesc       = perAgent("kioku_agent_up", "Whether the state of the agent's index could be read.")
	watchDesc    = perAgent("kioku_watch_mode", "1 for the way in which changes of files are noticed, 0 for the others.", "mode")
	providerDesc = perAgent("kioku_embed_provider_healthy", "Whether the last request to the agent's embedding provider succeeded.", "provider")
	degradedDesc = perAgent("kioku_index_degraded", "1 for each thing that searches lack now.", "code")
	residentDesc = prometheus.NewDesc("kioku_memory_resident_bytes", "Memory that the vectors and words of all agents occupy.", nil, nil)
	budgetDesc   = prometheus.NewDesc("kioku_memory_budget_bytes", "Maximum memory for the vectors and words of all agents.", nil, nil)
)

// stateGauges are the metrics of a memory.
var stateGauges = []gauge[kioku.Status]{
	gaugeOf("kioku_index_files", "Files in the index.", func(s kioku.Status) float64 { return float64(s.Index.Files) }),
	gaugeOf("kioku_index_chunks", "Chunks in the index.", func(s kioku.Status) float64 { return float64(s.Index.Chunks) }),
	gaugeOf("kioku_index_pending_files", "Changed files that are not indexed yet.", func(s kioku.Status) float64 { return float64(s.Index.PendingFiles) }),
	gaugeOf("kioku_index_backlog_chunks", "Chunks without a vector of the embedding provider; 0 without a provider.", backlog),
	gaugeOf("kioku_index_skipped_files", "Files that are not indexed.", skipped),
	gaugeOf("kioku_index_unavailable_roots", "Roots that cannot be read.", func(s kioku.Status) float64 { return float64(len(s.Sync.Unavailable)) }),
	gaugeOf("kioku_index_syncing", "Whether a sync or a rebuild runs.", func(s kioku.Status) float64 { return truth(s.Sync.Syncing) }),
	gaugeOf("kioku_index_last_sync_timestamp_seconds", "End of the last complete sync, in seconds since 1970; 0 if there was none.", lastSync),
	gaugeOf("kioku_database_bytes", "Size of the file of the index.", func(s kioku.Status) float64 { return float64(s.Sizes.Database) }),
	gaugeOf("kioku_wal_bytes", "Size of the write-ahead log of the index.", func(s kioku.Status) float64 { return float64(s.Sizes.WAL) }),
	gaugeOf("kioku_index_resident_bytes", "Memory that the vectors and words of the agent occupy.", func(s kioku.Status) float64 { return float64(s.Sizes.Resident) }),
	gaugeOf("kioku_index_cached_vectors", "Vectors in the cache of embeddings, of chunks and of their windows.", func(s kioku.Status) float64 { return float64(s.Cached) }),
	counterOf("kioku_document_vectors_cached_total", "Chunks that got a vector of the cache.", func(s kioku.Status) float64 { return float64(s.KnownSinceStart) }),
	counterOf("kioku_document_vectors_embedded_total", "Texts of notes that the provider embedded.", func(s kioku.Status) float64 { return float64(s.EmbeddedSinceStart) }),
}

// skipped returns the number of files that are not indexed.
func skipped(s kioku.Status) float64 {
	n := 0
	for _, f := range s.Skipped {
		if !f.Indexed {
			n++
		}
	}
	return float64(n)
}

// backlog returns the number of chunks without a vector that a provider is to make.
func backlog(s kioku.Status) float64 {
	if s.Space.Provider == "" {
		return 0
	}
	return float64(max(s.Index.Chunks-s.Embedded, 0))
}

func lastSync(s kioku.Status) float64 {
	if s.Index.LastSync.IsZero() {
		return 0
	}
	return float64(s.Index.LastSync.UnixMilli()) / 1000
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// sendState sends the metrics of a memory that are not about its agent alone, or have more labels. An agent whose state cannot be read is
// not up.
func sendState(out chan<- prometheus.Metric, agent string, st kioku.Status, err error) {
	send := sender(out, agent)
	send(upDesc, truth(err == nil))
	if err != nil {
		return
	}
	for _, mode := range []string{indexer.ModeInotify, indexer.ModePolling, indexer.ModeOff} {
		send(watchDesc, truth(st.Sync.WatchMode == mode), mode)
	}
	if st.Space.Provider != "" {
		send(providerDesc, truth(st.Health.Healthy), st.Space.Provider)
	}
	told := map[string]bool{}
	for _, d := range st.Degraded {
		if !told[d.Code] {
			told[d.Code] = true
			send(degradedDesc, 1, d.Code)
		}
	}
}

// stateCollector returns what collects the metrics of memories, and of the memory that all of them occupy.
func stateCollector(ctx context.Context, memories states[kioku.Status]) collector[kioku.Status] {
	shared := false
	return collector[kioku.Status]{ctx, memories, stateGauges, []*prometheus.Desc{upDesc, watchDesc, providerDesc, degradedDesc, residentDesc, budgetDesc},
		func(out chan<- prometheus.Metric, agent string, st kioku.Status, err error) {
			sendState(out, agent, st, err)
			if err == nil && !shared {
				shared = true
				out <- prometheus.MustNewConstMetric(residentDesc, prometheus.GaugeValue, float64(st.AllResidentBytes))
				out <- prometheus.MustNewConstMetric(budgetDesc, prometheus.GaugeValue, float64(st.BudgetBytes))
			}
		}}
}

// egressCollector reads what was sent to other machines. Hosts are no labels: a download may lead to any.
type egressCollector struct{ network *modelhttp.Network }

var (
	egressLabels  = []string{"purpose", "local"}
	egressDesc    = prometheus.NewDesc("kioku_egress_requests_total", "Requests that were sent, by purpose, and whether to this machine.", egressLabels, nil)
	sentDesc      = prometheus.NewDesc("kioku_egress_sent_bytes_total", "Bytes in the bodies of the requests that were sent.", egressLabels, nil)
	refusedDesc   = prometheus.NewDesc("kioku_egress_refused_total", "Requests that were not sent because the service is offline.", egressLabels, nil)
	egressMetrics = []*prometheus.Desc{egressDesc, sentDesc, refusedDesc}
)

// Describe implements prometheus.Collector.
func (c egressCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range egressMetrics {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c egressCollector) Collect(out chan<- prometheus.Metric) {
	type key struct{ purpose, local string }
	sums := map[key][3]float64{}
	for _, u := range c.network.Uses() {
		k := key{u.Purpose, "false"}
		if u.Local {
			k.local = "true"
		}
		s := sums[k]
		sums[k] = [3]float64{s[0] + float64(u.Requests), s[1] + float64(u.Bytes), s[2] + float64(u.Refused)}
	}
	for k, values := range sums {
		for i, d := range egressMetrics {
			out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, values[i], k.purpose, k.local)
		}
	}
}
