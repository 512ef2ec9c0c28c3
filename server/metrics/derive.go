package metrics

import (
	"context"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"kioku/derive/unit"
)

// Derive has what is derived for an agent among the metrics.
func (m *Metrics) Derive(agent string, d deriver) { m.derivers[agent] = d }

// deriver tells how much is derived; *derive.Service is one.
type deriver interface {
	Status(ctx context.Context) (unit.DeriveStatus, error)
}

// deriveCollector reads what is derived for agents when somebody asks for the metrics.
type deriveCollector struct {
	ctx      context.Context
	derivers map[string]deriver
}

// deriveGauge describes a metric of what is derived for one agent.
type deriveGauge struct {
	desc  *prometheus.Desc
	value func(unit.DeriveStatus) int
}

var deriveGauges = []deriveGauge{
	{perAgent("kioku_derive_episodes", "Episodes in the index."), func(s unit.DeriveStatus) int { return s.Episodes }},
	{perAgent("kioku_derive_pending_episodes", "Episodes that wait for the rules."), func(s unit.DeriveStatus) int { return s.Pending }},
	{perAgent("kioku_derive_unread_episodes", "Episodes that wait for the model; it counts the first ones only."), func(s unit.DeriveStatus) int { return s.Unextracted }},
	{perAgent("kioku_derive_conflicts", "Conflicts between facts that a person has to settle."), func(s unit.DeriveStatus) int { return s.Conflicts }},
	{perAgent("kioku_derive_cached_answers", "Answers of the model in the cache, which are not paid for again."), func(s unit.DeriveStatus) int { return s.CachedAnswers }},
	{perAgent("kioku_derive_tokens_today", "Tokens that the model was asked for today."), func(s unit.DeriveStatus) int { return s.TokensToday }},
	{perAgent("kioku_derive_calls_today", "Calls of the model today."), func(s unit.DeriveStatus) int { return s.CallsToday }},
	{perAgent("kioku_derive_budget_exhausted", "Whether the budget of today is used up."), func(s unit.DeriveStatus) int {
		if s.BudgetExhausted {
			return 1
		}
		return 0
	}},
}

var (
	deriveUnitsDesc    = perAgent("kioku_derive_units", "Facts, loops and summaries by kind and state.", "kind", "state")
	deriveJobsDesc     = perAgent("kioku_derive_jobs", "Jobs of the model that have failed and wait for a person, by status: parked.", "status")
	deriveRejectedDesc = perAgent("kioku_derive_rejected_items", "Items in answers of the model that were rejected, by reason.", "reason")
)

// Describe implements prometheus.Collector.
func (c deriveCollector) Describe(out chan<- *prometheus.Desc) {
	for _, g := range deriveGauges {
		out <- g.desc
	}
	for _, d := range []*prometheus.Desc{deriveUnitsDesc, deriveJobsDesc, deriveRejectedDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector. An agent whose status cannot be read has no metric.
func (c deriveCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(c.ctx, stateTimeout)
	defer cancel()
	for agent, d := range c.derivers {
		if st, err := d.Status(ctx); err == nil {
			c.collect(out, agent, st)
		}
	}
}

// collect sends the metrics of one agent.
func (c deriveCollector) collect(out chan<- prometheus.Metric, agent string, st unit.DeriveStatus) {
	send := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{agent}, labels...)...)
	}
	for _, g := range deriveGauges {
		send(g.desc, float64(g.value(st)))
	}
	for name, n := range st.Units {
		kind, state, _ := strings.Cut(name, "/")
		send(deriveUnitsDesc, float64(n), kind, state)
	}
	for status, n := range st.Jobs {
		send(deriveJobsDesc, float64(n), status)
	}
	for reason, n := range st.Rejected {
		send(deriveRejectedDesc, float64(n), reason)
	}
}
