package metrics

import (
	"context"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"kioku/derive/unit"
)

// Derive has what is derived for an agent among the metrics.
func (m *Metrics) Derive(agent string, d deriver) { m.derivers[agent] = d.Status }

// deriver tells how much is derived; *derive.Service is one.
type deriver interface {
	Status(ctx context.Context) (unit.DeriveStatus, error)
}

// deriveGauges are the metrics of what is derived for an agent. One whose status cannot be read has none.
var deriveGauges = []gauge[unit.DeriveStatus]{
	gaugeOf("kioku_derive_episodes", "Episodes in the index.", func(s unit.DeriveStatus) float64 { return float64(s.Episodes) }),
	gaugeOf("kioku_derive_pending_episodes", "Episodes that wait for the rules.", func(s unit.DeriveStatus) float64 { return float64(s.Pending) }),
	gaugeOf("kioku_derive_unread_episodes", "Episodes that wait for the model; it counts the first ones only.", func(s unit.DeriveStatus) float64 { return float64(s.Unextracted) }),
	gaugeOf("kioku_derive_conflicts", "Conflicts between facts that a person has to settle.", func(s unit.DeriveStatus) float64 { return float64(s.Conflicts) }),
	gaugeOf("kioku_derive_cached_answers", "Answers of the model in the cache, which are not paid for again.", func(s unit.DeriveStatus) float64 { return float64(s.CachedAnswers) }),
	gaugeOf("kioku_derive_tokens_today", "Tokens that the model was asked for today.", func(s unit.DeriveStatus) float64 { return float64(s.TokensToday) }),
	gaugeOf("kioku_derive_calls_today", "Calls of the model today.", func(s unit.DeriveStatus) float64 { return float64(s.CallsToday) }),
	gaugeOf("kioku_derive_budget_exhausted", "Whether the budget of today is used up.", func(s unit.DeriveStatus) float64 { return truth(s.BudgetExhausted) }),
}

var deriveDescs = []*prometheus.Desc{deriveUnitsDesc, deriveJobsDesc, deriveRejectedDesc}

var (
	deriveUnitsDesc    = perAgent("kioku_derive_units", "Facts, loops and summaries by kind and state.", "kind", "state")
	deriveJobsDesc     = perAgent("kioku_derive_jobs", "Jobs of the model that have failed and wait for a person, by status: parked.", "status")
	deriveRejectedDesc = perAgent("kioku_derive_rejected_items", "Items in answers of the model that were rejected, by reason.", "reason")
)

// sendDerived sends the metrics of what is derived that have more labels.
func sendDerived(out chan<- prometheus.Metric, agent string, st unit.DeriveStatus, _ error) {
	send := sender(out, agent)
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
