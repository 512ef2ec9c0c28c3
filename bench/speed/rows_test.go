package speed

import "context"

// Bench declares one row, or one row for each size.
type Bench struct {
	// Name is unique and contains no "@".
	Name string
	// Unit of both figures: "ms", "MB", "bytes" or "requests".
	Unit string
	// Goal is the largest ratio of ours to the yardstick that is good enough.
	Goal float64
	// Sized benches are measured at each size of a run, others once.
	Sized bool
	// MaxSize is the largest size of a sized bench; larger ones are skipped. 0 means no limit.
	MaxSize int
	// Run returns ours and the yardstick in Unit.
	Run func(ctx context.Context, e *Env) (ours, yardstick float64, err error)
}

// Env is the environment of one measurement.
type Env struct {
	// Dir is an empty folder for this measurement. It is removed afterwards.
	Dir string
	// Size is the number of chunks or vectors of a sized bench, 0 for other benches.
	Size int
	// Step reports the progress: done of total steps. It is never nil.
	Step func(done, total int)
	// Program is the path of the kioku binary for benches that start it. If it is empty, they return an error.
	Program string

	// fixtures are shared by the benches of a run.
	fixtures *fixtures
}

// maxVectors is the largest number of vectors that is measured: a million would take 3 GB.
const maxVectors = 250_000

// benches are in the order of the table. DESIGN.md explains each.
func benches() []Bench {
	return []Bench{
		{Name: "vector exact", Unit: "ms", Goal: 1.3, Sized: true, MaxSize: maxVectors, Run: exactAgainstReading},
		{Name: "vector by codes", Unit: "ms", Goal: 0.4, Run: quantizedAgainstReading},
		{Name: "keyword search p95", Unit: "ms", Goal: 0.4, Run: keywordSearch},
		{Name: "keyword candidates p95", Unit: "ms", Goal: 0.4, Sized: true, Run: keywordCandidates},
		{Name: "hybrid search", Unit: "ms", Goal: 2, Run: hybridSearch},
		{Name: "hybrid search overhead", Unit: "ms", Goal: 0.05, Run: hybridOverhead},
		{Name: "search while indexing p95", Unit: "ms", Goal: 3, Run: searchWhileIndexing},
		{Name: "index words", Unit: "ms", Goal: 1, Run: indexWords},
		{Name: "index size", Unit: "MB", Goal: 2.5, Run: indexSize},
		{Name: "backfill, 20 ms a request / latency", Unit: "ms", Goal: 1.11, Run: backfillLatency},
		{Name: "re-sync of 20,000 unchanged files / lstat of each", Unit: "ms", Goal: 2, Run: resyncUnchanged},
		{Name: "one edit among 20,000 files / among 200", Unit: "ms", Goal: 2, Run: oneEdit},
		{Name: "cold start to the first answer, 10,000 chunks / limit", Unit: "ms", Goal: 1, Run: coldStart},
		{Name: "grpc search overhead p50", Unit: "ms", Goal: 1, Run: grpcOverhead},
		{Name: "http search overhead p50", Unit: "ms", Goal: 1, Run: httpOverhead},
		{Name: "mcp search overhead p50", Unit: "ms", Goal: 1, Run: mcpOverhead},
		{Name: "search beside 1,000 heavy ones p99", Unit: "ms", Goal: 3, Run: searchBesideGreedy},
		{Name: "daemon memory", Unit: "MB", Goal: 1.3, Sized: true, MaxSize: maxVectors, Run: daemonMemory},
		{Name: "memory while indexing", Unit: "MB", Goal: 1, Run: indexingMemory},
	}
}
