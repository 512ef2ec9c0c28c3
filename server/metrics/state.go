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

// stateCollector reads the state of the memories of agents when somebody asks for the metrics.
type stateCollector struct {
	ctx      context.Context
	memories map[string]Memory
}

// gauge describes a metric of the state of one agent.
type gauge struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(kioku.Status) float64
}

func perAgent(name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"agent"}, more...), nil)
}

func gaugeOf(name, help string, value func(kioku.Status) float64) gauge {
	return gauge{perAgent(name, help), prometheus.GaugeValue, value}
}

func counterOf(name, help string, value func(kioku.Status) float64) gauge {
	return gauge{perAgent(name, help), prometheus.CounterValue, value}
}

var (
	upDesc       = perAgent("kioku_agent_up", "Whether the state of the agent's index could be read.")
	watchDesc    = perAgent("kioku_watch_mode", "1 for the way in which changes of files are noticed, 0 for the others.", "mode")
	providerDesc = perAgent("kioku_embed_provider_healthy", "Whether the last request to the agent's embedding provider succeeded.", "provider")
	degradedDesc = perAgent("kioku_index_degraded", "1 for each thing that searches lack now.", "code")
	residentDesc = prometheus.NewDesc("kioku_memory_resident_bytes", "Memory that the vectors and words of all agents occupy.", nil, nil)
	budgetDesc   = prometheus.NewDesc("kioku_memory_budget_bytes", "Maximum memory for the vectors and words of all agents.", nil, nil)
)

var gauges = []gauge{
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

// Describe implements prometheus.Collector.
func (c stateCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{upDesc, watchDesc, providerDesc, degradedDesc, residentDesc, budgetDesc} {
		out <- d
	}
	for _, g := range gauges {
		out <- g.desc
	}
}

// Collect implements prometheus.Collector. An agent whose state cannot be read is not up, and has no other metric.
func (c stateCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(c.ctx, stateTimeout)
	defer cancel()
	var any *kioku.Status
	for agent, m := range c.memories {
		st, err := m.Status(ctx)
		out <- prometheus.MustNewConstMetric(upDesc, prometheus.GaugeValue, truth(err == nil), agent)
		if err != nil {
			continue
		}
		any = &st
		collectAgent(out, agent, st)
	}
	if any != nil {
		out <- prometheus.MustNewConstMetric(residentDesc, prometheus.GaugeValue, float64(any.AllResidentBytes))
		out <- prometheus.MustNewConstMetric(budgetDesc, prometheus.GaugeValue, float64(any.BudgetBytes))
	}
}

// collectAgent sends the metrics of one agent.
func collectAgent(out chan<- prometheus.Metric, agent string, st kioku.Status) {
	send := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{agent}, labels...)...)
	}
	for _, g := range gauges {
		out <- prometheus.MustNewConstMetric(g.desc, g.kind, g.value(st), agent)
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
