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

	"kioku/council/engine"
	"kioku/derive/unit"
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
	memories := reached(m.memories, agents)
	state := prometheus.NewRegistry()
	state.MustRegister(stateCollector(ctx, memories),
		collector[unit.DeriveStatus]{ctx, reached(m.derivers, agents), deriveGauges, deriveDescs, sendDerived},
		collector[engine.Load]{ctx: ctx, states: reached(m.councils, agents), gauges: councilGauges})
	all := len(memories) == len(m.memories)
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := prometheus.Gatherers{m.registry, state}.Gather()
		return visible(families, agents, all), err
	})
}

// reached returns the states of some agents.
func reached[State any](all states[State], agents map[string]bool) states[State] {
	some := maps.Clone(all)
	maps.DeleteFunc(some, func(id string, _ func(context.Context) (State, error)) bool { return !agents[id] })
	return some
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
