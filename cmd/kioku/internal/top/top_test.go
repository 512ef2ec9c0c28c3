package top

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku/cmd/kioku/internal/render"
	kiokuv1 "kioku/proto/kioku/v1"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// sample parses metrics as they are after some seconds.
func sample(t *testing.T, seconds int, text string) Sample {
	t.Helper()
	s, err := Parse(strings.NewReader(text), start.Add(time.Duration(seconds)*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const before = `# TYPE kioku_start_time_seconds gauge
kioku_start_time_seconds 1.7723664e+09
# TYPE kioku_agent_up gauge
kioku_agent_up{agent="ann"} 1
kioku_agent_up{agent="bob"} 0
# TYPE kioku_search_duration_seconds histogram
kioku_search_duration_seconds_bucket{agent="ann",mode="hybrid",le="0.01"} 100
kioku_search_duration_seconds_bucket{agent="ann",mode="hybrid",le="0.1"} 100
kioku_search_duration_seconds_bucket{agent="ann",mode="hybrid",le="+Inf"} 100
kioku_search_duration_seconds_sum{agent="ann",mode="hybrid"} 1
kioku_search_duration_seconds_count{agent="ann",mode="hybrid"} 100
# TYPE kioku_calls_total counter
kioku_calls_total{agent="ann",code="OK",method="a"} 100
`

var after = strings.NewReplacer(`le="0.01"} 100`, `le="0.01"} 100`, `le="0.1"} 100`, `le="0.1"} 120`, `le="+Inf"} 100`, `le="+Inf"} 120`, `count{agent="ann",mode="hybrid"} 100`,
	`count{agent="ann",mode="hybrid"} 120`, `method="a"} 100`, `method="a"} 110`).Replace(before) + `kioku_calls_total{agent="ann",code="NotFound",method="a"} 10
# TYPE kioku_searches_without_hits_total counter
kioku_searches_without_hits_total{agent="ann",mode="hybrid"} 5
# TYPE kioku_index_backlog_chunks gauge
kioku_index_backlog_chunks{agent="ann"} 12345
# TYPE kioku_council_open_tasks gauge
kioku_council_open_tasks{agent="council"} 4
# TYPE kioku_council_stalled_tasks gauge
kioku_council_stalled_tasks{agent="council"} 1
# TYPE kioku_council_token_limit gauge
kioku_council_token_limit{agent="council"} 2000
# TYPE kioku_egress_requests_total counter
kioku_egress_requests_total{purpose="embeddings",local="false"} 3
kioku_egress_requests_total{purpose="re-ranking",local="true"} 3
`

// Rates and latencies are those between two samples; shares are of the searches between them.
func TestViewTakesWhatHappenedBetweenTwoSamples(t *testing.T) {
	t.Parallel()
	slow := []*kiokuv1.StatusResponse{{Agent: "ann", Version: "1.2.3", SlowCalls: []*kiokuv1.SlowCall{
		{Method: "MemorySearch", Code: "OK", Took: durationpb.New(time.Second), StartTime: timestamppb.New(start), RequestId: "r1"},
		{Method: "Explain", Code: "OK", Took: durationpb.New(2 * time.Second), StartTime: timestamppb.New(start.Add(time.Minute)), RequestId: "r2"},
	}}}
	v := NewView(sample(t, 10, before), sample(t, 20, after), slow)
	if want := []Council{{Agent: "council", Open: 4, Stalled: 1, Limit: 2000}}; !slices.Equal(v.Councils, want) {
		t.Errorf("councils: %+v", v.Councils)
	}
	a := v.Agents[0]
	if v.Version != "1.2.3" || v.Window != 10 || v.Uptime != 20 || len(v.Agents) != 2 || v.Agents[1].Up {
		t.Errorf("%+v", v)
	}
	if a.Searches != 2 || math.Abs(*a.P50-55) > 0.1 || *a.P99 < 99 || a.WithoutHits != 0.25 || a.Backlog != 12345 || a.Lag != nil {
		t.Errorf("ann: %+v, p50 %v, p99 %v", a, *a.P50, *a.P99)
	}
	if v.Process.Calls != 2 || v.Process.Failed != 1 || len(v.Egress) != 1 || v.Egress[0].Purpose != "embeddings" {
		t.Errorf("%+v %+v", v.Process, v.Egress)
	}
	if v.Slow[0].Request != "r2" || v.Slow[0].Took != 2000 {
		t.Errorf("slow calls: %+v", v.Slow)
	}
	p := render.NewPage(false)
	v.Write(p, start)
	for _, want := range []string{"kioku 1.2.3   up 20 s   over 10 s", "calls 2.00/s   failed 1.00/s", "12,345", "its index cannot be read", "Explain", "2000 ms", "embeddings"} {
		if !strings.Contains(p.String(), want) {
			t.Errorf("no %q on the screen:\n%s", want, p)
		}
	}
}

// The first view counts since the start of the service. A caller who is not told about the process, because it may not reach all
// agents, gets neither figures of the process nor rates before the second sample.
func TestViewOfTheFirstSample(t *testing.T) {
	t.Parallel()
	v := NewView(Sample{}, sample(t, 50, before), nil)
	if v.Window != 50 || v.Agents[0].Searches != 2 || v.Agents[0].P50 == nil {
		t.Errorf("%+v", v)
	}
	_, own, _ := strings.Cut(before, "# TYPE kioku_agent_up gauge")
	v = NewView(Sample{}, sample(t, 50, "# TYPE kioku_agent_up gauge"+own), nil)
	if v.Process != nil || v.Agents[0].Searches != 0 || v.Window != 0 {
		t.Errorf("%+v", v)
	}
	if text, err := json.Marshal(v); err != nil || strings.Contains(string(text), `"agents":null`) {
		t.Errorf("%s, %v", text, err)
	}
}

// A quantile lies between the bounds of its bucket, and is none without observations.
func TestQuantileLiesInItsBucket(t *testing.T) {
	t.Parallel()
	h := histogram{count: 10, bounds: []float64{1, 2, math.Inf(1)}, below: []float64{4, 8, 10}}
	for q, want := range map[float64]float64{0.2: 0.5, 0.4: 1, 0.6: 1.5, 0.8: 2, 0.99: 2} {
		if got := h.quantile(q); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %v = %v, want %v", q, got, want)
		}
	}
	if !math.IsNaN((histogram{}).quantile(0.5)) {
		t.Error("a quantile of nothing")
	}
}

// A terminal of 80 columns shows everything, also of a busy service: what waits is what one looks for.
func TestViewFitsATerminalOf80Columns(t *testing.T) {
	t.Parallel()
	ms, seconds := 12345.0, 99.9
	v := View{Councils: []Council{{Agent: "a-rather-long-id", Open: 1e4, Waiting: 1e4, Stalled: 1e3, Absent: 9, Tokens: 2e6, Limit: 2e6, Cost: 1234.5}}, Version: "v1.22.333", Uptime: 9e6, Window: 30, Process: &Process{Calls: 1e5, Failed: 1e5, InFlight: 1e4, Refused: 1e5, Processors: 64, MemoryBytes: 1e11,
		ResidentBytes: 1e10, BudgetBytes: 1e10, Goroutines: 1e5, OpenFiles: 1e4},
		Agents: []Agent{{ID: "a-rather-long-id", Up: true, Searches: 12345, P50: &ms, P99: &ms, WithoutHits: 1, Degraded: 1, Lag: &seconds, Files: 1e5, Chunks: 1e6,
			Pending: 99_999, Backlog: 1e6, ResidentBytes: 1e9, DiskBytes: 1e10}}}
	p := render.NewPage(false)
	v.Write(p, start)
	for line := range strings.Lines(p.String()) {
		if n := render.Width(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(p.String(), "99,999") {
		t.Errorf("what waits is missing: %s", p)
	}
}
