package metrics

import (
	"context"
	"maps"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/server"
	"kioku/server/httpapi"
)

// errOnlyRead is why a request is refused that would change metrics.
var errOnlyRead = httpapi.WithStatus(status.Error(codes.Unimplemented, "metrics are only read; use GET"), http.StatusMethodNotAllowed)

// Handler returns what answers /metrics, in the text format of Prometheus or OpenMetrics. conn knows who asks: a caller
// gets the metrics of the agents that it may list.
func (m *Metrics) Handler(conn http.RoundTripper) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			httpapi.WriteError(w, errOnlyRead)
			return
		}
		listed, err := server.Notes.Agents.Call(r.Context(), conn, server.None{})
		if err != nil {
			httpapi.WriteError(w, err)
			return
		}
		agents := map[string]bool{}
		for _, a := range listed {
			agents[a.ID] = true
		}
		promhttp.HandlerFor(m.gatherer(r.Context(), agents), promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, r)
	})
}

// gatherer returns the metrics of some agents, and those of no agent if these are all.
func (m *Metrics) gatherer(ctx context.Context, agents map[string]bool) prometheus.Gatherer {
	memories := map[string]Memory{}
	for id, mem := range m.memories {
		if agents[id] {
			memories[id] = mem
		}
	}
	derivers := map[string]deriver{}
	for id, d := range m.derivers {
		if agents[id] {
			derivers[id] = d
		}
	}
	councils := maps.Clone(m.councils)
	maps.DeleteFunc(councils, func(id string, _ Council) bool { return !agents[id] })
	state := prometheus.NewRegistry()
	state.MustRegister(stateCollector{ctx, memories}, deriveCollector{ctx, derivers}, councilCollector{ctx, councils})
	all := len(memories) == len(m.memories)
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := prometheus.Gatherers{m.registry, state}.Gather()
		return visible(families, agents, all), err
	})
}

// visible returns the series of some agents, and those of no agent if all is true.
func visible(families []*dto.MetricFamily, agents map[string]bool, all bool) []*dto.MetricFamily {
	var out []*dto.MetricFamily
	for _, f := range families {
		var seen []*dto.Metric
		for _, series := range f.GetMetric() {
			if agent := agentOf(series); agents[agent] || agent == "" && all {
				seen = append(seen, series)
			}
		}
		if len(seen) > 0 {
			out = append(out, &dto.MetricFamily{Name: f.Name, Help: f.Help, Type: f.Type, Unit: f.Unit, Metric: seen})
		}
	}
	return out
}

// agentOf returns the agent of a series, "" if it is of none.
func agentOf(series *dto.Metric) string {
	for _, l := range series.GetLabel() {
		if l.GetName() == "agent" {
			return l.GetValue()
		}
	}
	return ""
}
