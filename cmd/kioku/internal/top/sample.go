// Package top shows what a running service does, live: it reads the metrics of the service and the status of its agents.
package top

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Sample is what the service has counted up to a time.
type Sample struct {
	// At is the time of the sample.
	At       time.Time
	families map[string]*dto.MetricFamily
}

// Parse reads the text of /metrics.
func Parse(r io.Reader, at time.Time) (Sample, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	if err != nil {
		return Sample{}, fmt.Errorf("read the metrics: %w", err)
	}
	return Sample{At: at, families: families}, nil
}

// labels are pairs of a name and a value that a series must have.
type labels map[string]string

// series returns the series of a metric that have these labels.
func (s Sample) series(name string, want labels) []*dto.Metric {
	var out []*dto.Metric
	for _, m := range s.families[name].GetMetric() {
		have := 0
		for _, l := range m.GetLabel() {
			if v, ok := want[l.GetName()]; ok && v == l.GetValue() {
				have++
			}
		}
		if have == len(want) {
			out = append(out, m)
		}
	}
	return out
}

// sum returns the sum of counters or gauges; 0 if there are none.
func (s Sample) sum(name string, want labels) float64 {
	var sum float64
	for _, m := range s.series(name, want) {
		sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
	}
	return sum
}

// has reports whether the caller gets a metric at all.
func (s Sample) has(name string) bool { return s.families[name] != nil }

// values returns the values of a label of a metric, sorted.
func (s Sample) values(name, label string) []string {
	var out []string
	for _, m := range s.families[name].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == label {
				out = append(out, l.GetValue())
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// histogram is the sum of histograms with the same bounds.
type histogram struct {
	count  float64
	bounds []float64
	// below counts what is at most each bound.
	below []float64
}

// histogram returns the sum of the histograms of a metric.
func (s Sample) histogram(name string, want labels) histogram {
	var h histogram
	for _, m := range s.series(name, want) {
		h.count += float64(m.GetHistogram().GetSampleCount())
		buckets := m.GetHistogram().GetBucket()
		if h.bounds == nil {
			h.bounds, h.below = make([]float64, len(buckets)), make([]float64, len(buckets))
		}
		for i, b := range buckets[:min(len(buckets), len(h.bounds))] {
			h.bounds[i] = b.GetUpperBound()
			h.below[i] += float64(b.GetCumulativeCount())
		}
	}
	return h
}

// since returns what was added after an earlier histogram.
func (h histogram) since(before histogram) histogram {
	out := histogram{count: h.count - before.count, bounds: h.bounds, below: slices.Clone(h.below)}
	for i := range min(len(out.below), len(before.below)) {
		out.below[i] -= before.below[i]
	}
	return out
}

// quantile returns the value below which a share of the observations is, by straight lines between the bounds; NaN if there are
// none. Above the last bound it returns that.
func (h histogram) quantile(q float64) float64 {
	if h.count <= 0 || len(h.bounds) == 0 {
		return math.NaN()
	}
	rank, low, lowCount := q*h.count, 0.0, 0.0
	for i, bound := range h.bounds {
		if h.below[i] >= rank {
			if math.IsInf(bound, 1) || h.below[i] == lowCount {
				return low
			}
			return low + (bound-low)*(rank-lowCount)/(h.below[i]-lowCount)
		}
		if !math.IsInf(bound, 1) {
			low = bound
		}
		lowCount = h.below[i]
	}
	return low
}
