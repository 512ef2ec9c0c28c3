package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"kioku/council/engine"
)

// Council tells how busy it is.
type Council interface {
	Load(ctx context.Context) (engine.Load, error)
}

// Council has a council among the metrics, as of the agent whose memory contains its decisions.
func (m *Metrics) Council(agent string, c Council) { m.councils[agent] = c }

// councilCollector asks councils how busy they are when somebody asks for the metrics.
type councilCollector struct {
	ctx      context.Context
	councils map[string]Council
}

// councilGauge describes a metric of a council.
type councilGauge struct {
	desc  *prometheus.Desc
	value func(engine.Load) float64
}

var councilGauges = []councilGauge{
	{perAgent("kioku_council_open_tasks", "Tasks of the council that have not ended."), func(l engine.Load) float64 { return float64(l.Open) }},
	{perAgent("kioku_council_waiting_tasks", "Tasks of the council that wait for a person, with the stalled ones."), func(l engine.Load) float64 { return float64(l.Waiting) }},
	{perAgent("kioku_council_stalled_tasks", "Tasks on which the council cannot decide."), func(l engine.Load) float64 { return float64(l.Stalled) }},
	{perAgent("kioku_council_absent_members", "Members who are paused, or had no ballot in the last sealed round."), func(l engine.Load) float64 { return float64(len(l.Absent)) }},
	{perAgent("kioku_council_tokens_today", "Tokens that members have cost today, with those reserved."), func(l engine.Load) float64 {
		return float64(l.Today.TokensIn + l.Today.TokensOut)
	}},
	{perAgent("kioku_council_token_limit", "Tokens that members may cost in a day."), func(l engine.Load) float64 { return float64(l.Limit) }},
	{perAgent("kioku_council_cost_today_dollars", "What members have cost today by the prices of the council."), func(l engine.Load) float64 { return l.Today.Cost }},
}

// Describe implements prometheus.Collector.
func (c councilCollector) Describe(out chan<- *prometheus.Desc) {
	for _, g := range councilGauges {
		out <- g.desc
	}
}

// Collect implements prometheus.Collector. A council whose folder cannot be read has no metric.
func (c councilCollector) Collect(out chan<- prometheus.Metric) {
	for agent, one := range c.councils {
		load, err := one.Load(c.ctx)
		for _, g := range councilGauges {
			if err == nil {
				out <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, g.value(load), agent)
			}
		}
	}
}
