package top

import (
	"math"
	"slices"
	"time"

	kiokuv1 "kioku/proto/kioku/v1"
)

// View is what is shown of a service at one time.
type View struct {
	// Version of the service.
	Version string `json:"version"`
	// Uptime is the time since the start of the service; 0 if the caller is not told.
	Uptime float64 `json:"uptimeSeconds"`
	// Window is the time over which rates and latencies are taken.
	Window float64 `json:"windowSeconds"`
	// Agents that the caller may reach, by id.
	Agents []Agent `json:"agents"`
	// Councils that the service runs, by the agents whose memories have their decisions.
	Councils []Council `json:"councils"`
	// Process is what the whole service does; null for a caller who may not reach all agents.
	Process *Process `json:"process"`
	// Slow are the recent calls that took long, the most recent first.
	Slow []Slow `json:"slowCalls"`
	// Egress is what was sent to other machines, by purpose; null likewise.
	Egress []Egress `json:"egress"`
}

// Agent is what the service does for one agent.
type Agent struct {
	// ID of the agent.
	ID string `json:"id"`
	// Up reports that its index can be read.
	Up bool `json:"up"`
	// Searches in a second.
	Searches float64 `json:"searchesPerSecond"`
	// P50 is the median of the time that searches took, in milliseconds; null without a search.
	P50 *float64 `json:"p50Ms"`
	// P99 is how long the slowest searches in a hundred took; null without a search.
	P99 *float64 `json:"p99Ms"`
	// WithoutHits is the share of the searches without a hit.
	WithoutHits float64 `json:"withoutHits"`
	// Degraded is the share of the searches whose answer lacked something.
	Degraded float64 `json:"degraded"`
	// Lag is how long the slowest edit in twenty took until searches found it, in seconds; null without an edit.
	Lag *float64 `json:"lagP95Seconds"`
	// Files in the index.
	Files float64 `json:"files"`
	// Chunks in the index.
	Chunks float64 `json:"chunks"`
	// Pending are changed files that are not indexed yet.
	Pending float64 `json:"pendingFiles"`
	// Backlog are chunks without a vector.
	Backlog float64 `json:"backlogChunks"`
	// ResidentBytes of vectors and words are in memory.
	ResidentBytes float64 `json:"residentBytes"`
	// DiskBytes are those of the files of the index.
	DiskBytes float64 `json:"diskBytes"`
}

// Council is how busy a council is.
type Council struct {
	// Agent whose memory has the decisions.
	Agent string `json:"agent"`
	// Open are the tasks that have not ended.
	Open float64 `json:"openTasks"`
	// Waiting are those of them that wait for a person.
	Waiting float64 `json:"waitingTasks"`
	// Stalled are those of them on which the council cannot decide.
	Stalled float64 `json:"stalledTasks"`
	// Absent members had no vote in the last round, or are paused.
	Absent float64 `json:"absentMembers"`
	// Tokens of today.
	Tokens float64 `json:"tokensToday"`
	// Limit is the most tokens that a day may cost.
	Limit float64 `json:"tokenLimit"`
	// Cost of today in US dollars; 0 without prices.
	Cost float64 `json:"costTodayDollars"`
}

// Process is what the whole service uses.
type Process struct {
	// Calls that ended in a second.
	Calls float64 `json:"callsPerSecond"`
	// Failed are those of Calls whose outcome is an error.
	Failed float64 `json:"failedPerSecond"`
	// InFlight are the calls under way.
	InFlight float64 `json:"inFlight"`
	// Refused are the calls and searches in a second that were refused because too many of their client waited.
	Refused float64 `json:"refusedPerSecond"`
	// Processors is how many the process kept busy.
	Processors float64 `json:"processors"`
	// MemoryBytes is the memory of the process.
	MemoryBytes float64 `json:"memoryBytes"`
	// ResidentBytes of it are vectors and words.
	ResidentBytes float64 `json:"residentBytes"`
	// BudgetBytes is the most that ResidentBytes may be.
	BudgetBytes float64 `json:"budgetBytes"`
	// Goroutines of the process.
	Goroutines float64 `json:"goroutines"`
	// OpenFiles of the process, with connections.
	OpenFiles float64 `json:"openFiles"`
}

// Slow is a call that took long.
type Slow struct {
	// Agent that the call was for.
	Agent string `json:"agent"`
	// Method without its service.
	Method string `json:"method"`
	// Code of the outcome.
	Code string `json:"code"`
	// Took is in milliseconds.
	Took float64 `json:"tookMs"`
	// Time of the call.
	Time time.Time `json:"time"`
	// Request is the id of the request, as in the log.
	Request string `json:"request"`
}

// Egress is what was sent for one purpose, since the start.
type Egress struct {
	// Purpose of the requests.
	Purpose string `json:"purpose"`
	// Requests that were sent.
	Requests float64 `json:"requests"`
	// Refused are the requests that were not sent because the service is offline.
	Refused float64 `json:"refused"`
	// Bytes in the bodies of the requests.
	Bytes float64 `json:"bytes"`
}

// NewView returns what happened between two samples of a service. A zero sample before stands for the start of the service.
func NewView(before, now Sample, statuses []*kiokuv1.StatusResponse) View {
	uptime := now.uptime()
	v := View{Version: version(now, statuses), Uptime: uptime, Window: uptime, Agents: []Agent{}, Councils: []Council{}, Slow: []Slow{}}
	if before.families != nil {
		v.Window = now.At.Sub(before.At).Seconds()
	}
	d := delta{before, now, v.Window}
	if d.seconds == 0 { // nobody knows since when it counts
		d.seconds = math.Inf(1)
	}
	for _, id := range now.values("kioku_agent_up", "agent") {
		v.Agents = append(v.Agents, d.agent(id))
	}
	for _, id := range now.values("kioku_council_open_tasks", "agent") {
		v.Councils = append(v.Councils, now.council(id))
	}
	if now.has("kioku_start_time_seconds") {
		v.Process, v.Egress = d.process(), egress(now)
	}
	for _, st := range statuses {
		for _, c := range st.GetSlowCalls() {
			v.Slow = append(v.Slow, Slow{Agent: st.GetAgent(), Method: c.GetMethod(), Code: c.GetCode(), Request: c.GetRequestId(),
				Took: float64(c.GetTook().AsDuration().Microseconds()) / 1000, Time: c.GetStartTime().AsTime()})
		}
	}
	slices.SortFunc(v.Slow, func(a, b Slow) int { return b.Time.Compare(a.Time) })
	return v
}

// uptime returns the seconds since the start of the service, 0 if the caller is not told.
func (s Sample) uptime() float64 {
	start := s.sum("kioku_start_time_seconds", nil)
	if start == 0 {
		return 0
	}
	return max(float64(s.At.UnixMilli())/1000-start, 0)
}

// version returns the version of the service.
func version(s Sample, statuses []*kiokuv1.StatusResponse) string {
	for _, st := range statuses {
		return st.GetVersion()
	}
	return append(s.values("kioku_build_info", "version"), "")[0]
}

// delta is what happened between two samples.
type delta struct {
	before, now Sample
	seconds     float64
}

// grown returns how much a counter has grown.
func (d delta) grown(name string, want labels) float64 {
	return max(d.now.sum(name, want)-d.before.sum(name, want), 0)
}

// rate returns how much a counter has grown in a second.
func (d delta) rate(name string, want labels) float64 { return d.grown(name, want) / d.seconds }

// histogram returns what was observed.
func (d delta) histogram(name string, want labels) histogram {
	return d.now.histogram(name, want).since(d.before.histogram(name, want))
}

// number returns a pointer to a number, nil for NaN.
func number(n float64) *float64 {
	if math.IsNaN(n) {
		return nil
	}
	return &n
}

// agent returns what the service did for an agent.
func (d delta) agent(id string) Agent {
	of := labels{"agent": id}
	searches := d.histogram("kioku_search_duration_seconds", of)
	all := max(searches.count, 1)
	gauge := func(name string) float64 { return d.now.sum(name, of) }
	return Agent{
		ID: id, Up: gauge("kioku_agent_up") == 1, Searches: searches.count / d.seconds,
		P50: number(1000 * searches.quantile(0.5)), P99: number(1000 * searches.quantile(0.99)),
		WithoutHits: d.grown("kioku_searches_without_hits_total", of) / all,
		Degraded:    min(d.grown("kioku_searches_degraded_total", of)/all, 1),
		Lag:         number(d.now.histogram("kioku_index_lag_seconds", of).quantile(0.95)), // edits are rare
		Files:       gauge("kioku_index_files"), Chunks: gauge("kioku_index_chunks"),
		Pending: gauge("kioku_index_pending_files"), Backlog: gauge("kioku_index_backlog_chunks"),
		ResidentBytes: gauge("kioku_index_resident_bytes"), DiskBytes: gauge("kioku_database_bytes") + gauge("kioku_wal_bytes"),
	}
}

// council returns how busy the council of an agent is.
func (s Sample) council(agent string) Council {
	gauge := func(name string) float64 { return s.sum("kioku_council_"+name, labels{"agent": agent}) }
	return Council{Agent: agent, Open: gauge("open_tasks"), Waiting: gauge("waiting_tasks"), Stalled: gauge("stalled_tasks"), Absent: gauge("absent_members"),
		Tokens: gauge("tokens_today"), Limit: gauge("token_limit"), Cost: gauge("cost_today_dollars")}
}

// process returns what the whole service did.
func (d delta) process() *Process {
	return &Process{
		Calls:    d.rate("kioku_calls_total", nil),
		Failed:   d.rate("kioku_calls_total", nil) - d.rate("kioku_calls_total", labels{"code": "OK"}),
		InFlight: d.now.sum("kioku_calls_in_flight", nil), Refused: d.rate("kioku_admission_refusals_total", nil),
		Processors: d.rate("process_cpu_seconds_total", nil), MemoryBytes: d.now.sum("process_resident_memory_bytes", nil),
		ResidentBytes: d.now.sum("kioku_memory_resident_bytes", nil), BudgetBytes: d.now.sum("kioku_memory_budget_bytes", nil),
		Goroutines: d.now.sum("go_goroutines", nil), OpenFiles: d.now.sum("process_open_fds", nil),
	}
}

// egress returns what was sent to other machines.
func egress(s Sample) []Egress {
	out := []Egress{}
	for _, purpose := range s.values("kioku_egress_requests_total", "purpose") {
		of := labels{"purpose": purpose, "local": "false"}
		e := Egress{Purpose: purpose, Requests: s.sum("kioku_egress_requests_total", of), Refused: s.sum("kioku_egress_refused_total", of), Bytes: s.sum("kioku_egress_sent_bytes_total", of)}
		if e.Requests+e.Refused > 0 {
			out = append(out, e)
		}
	}
	return out
}
