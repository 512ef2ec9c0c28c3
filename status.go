package kioku

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"kioku/embed"
	"kioku/indexer"
	"kioku/memory"
	"kioku/store"
	"kioku/vectors"
)

// Status describes a memory for people.
type Status struct {
	// Agent is the id of the agent, and Workspace the absolute path of the folder.
	Agent     string `json:"agent"`
	Workspace string `json:"workspace"`
	// Index is what the index has.
	Index memory.IndexStats `json:"index"`
	// Skipped is what is not indexed, or not wholly; nil if there is nothing.
	Skipped []memory.SkippedFile `json:"skipped,omitempty"`
	// Sync is how far the index is in step with the folder.
	Sync indexer.SyncState `json:"sync"`
	// Sizes are those of the index.
	Sizes store.Sizes `json:"sizes"`
	// Space is the space of the vectors that the embedding provider returns.
	Space embed.Space `json:"space"`
	// ProviderReason says why the embedding provider was chosen, or why there is none; empty if it is not known.
	ProviderReason string `json:"provider_reason,omitempty"`
	// Health of the embedding provider.
	Health embed.Health `json:"health"`
	// Active is the space of the vectors that searches use; zero if there are none.
	Active embed.Space `json:"active"`
	// Built is how many chunks have a vector of Space while the vectors that searches use are of another one; 0 otherwise.
	Built int `json:"built,omitempty"`
	// Embedded is the number of chunks that have a vector of Space.
	Embedded int `json:"embedded"`
	// Cached counts the vectors of the cache of embeddings, of chunks and of their windows.
	Cached int `json:"cached"`
	// Backfill is how far the backfill is; zero while none runs.
	Backfill vectors.State `json:"backfill,omitzero"`
	// KnownSinceStart counts the chunks that got a vector of the cache since the memory was opened, and EmbeddedSinceStart the
	// texts that the provider embedded, of runs that have ended.
	KnownSinceStart    int64 `json:"known_since_start"`
	EmbeddedSinceStart int64 `json:"embedded_since_start"`
	// AllResidentBytes of vectors and words are in RAM, of all memories that share a budget of BudgetBytes.
	AllResidentBytes int64 `json:"all_resident_bytes,omitempty"`
	BudgetBytes      int64 `json:"budget_bytes,omitempty"`
	// Reranker names the provider and the model of the re-ranker; empty without one.
	Reranker string `json:"reranker,omitempty"`
	// RerankerErr is why the re-ranker was last not answering; nil if it answers or was not asked yet.
	RerankerErr error `json:"reranker_error,omitempty"`
	// Degraded is what searches lack now; nil if they lack nothing.
	Degraded []memory.Degradation `json:"degraded"`
	// Check is the last check of the index; nil before the first.
	Check *IndexCheck `json:"check,omitempty"`
	// Transcripts are the folders of the transcripts that are indexed; nil if there are none.
	Transcripts []indexer.TranscriptFolder `json:"transcripts,omitempty"`
	// Beside counts the Markdown files of the workspace that the settings do not include.
	Beside indexer.Beside `json:"beside"`
}

const (
	// besideWait is how long Status counts files that are not indexed, and besideEmptyWait how long a search without hits does.
	besideWait      = time.Second
	besideEmptyWait = 200 * time.Millisecond
)

// IndexStats returns how far the index is.
func (m *Memory) IndexStats(ctx context.Context) (memory.IndexStats, error) {
	if err := m.enter(); err != nil {
		return memory.IndexStats{}, err
	}
	defer m.leave()
	stats, err := m.store.Stats(ctx)
	if err != nil {
		return memory.IndexStats{}, err
	}
	return indexState(stats, m.indexer.SyncState()), nil
}

// indexState returns the state of an index and how far it lags behind the files.
func indexState(stats store.Stats, state indexer.SyncState) memory.IndexStats {
	return lag(memory.IndexStats{Generation: stats.Generation, Files: stats.Files, Chunks: stats.Chunks}, stats, state)
}

// lag adds to the state of an index how far it lags behind the files.
func lag(st memory.IndexStats, stats store.Stats, state indexer.SyncState) memory.IndexStats {
	st.PendingFiles, st.LastSync = state.PendingFiles, state.LastSync
	if st.LastSync.Before(stats.LastSync) {
		st.LastSync = stats.LastSync
	}
	return st
}

// Status describes the memory.
func (m *Memory) Status(ctx context.Context) (Status, error) {
	if err := m.enter(); err != nil {
		return Status{}, err
	}
	defer m.leave()
	stats, statsErr := m.store.Stats(ctx)
	skipped, skippedErr := m.store.Skipped(ctx)
	sizes := m.store.Sizes()
	if err := cmp.Or(statsErr, skippedErr); err != nil {
		return Status{}, err
	}
	beside, err := m.indexer.Beside(ctx, besideWait)
	if err != nil {
		return Status{}, err
	}
	cached, err := m.cache.Len(ctx)
	if err != nil {
		return Status{}, err
	}
	built, err := m.built(ctx, stats)
	if err != nil {
		return Status{}, err
	}
	degraded := m.degradedVectors(stats, built)
	if m.otherModel(stats) {
		stats.Embedded = built // of this model
	}
	st := Status{
		Agent: m.opt.Agent, Workspace: m.workspace, Sync: m.indexer.SyncState(), Skipped: skipped, Sizes: sizes,
		Space: m.opt.Embedder.Space(), ProviderReason: m.opt.Embedder.Reason(), Health: m.opt.Embedder.Health(),
		Active: stats.Space, Built: built, Embedded: stats.Embedded, Cached: cached, Backfill: m.fill.State(),
		AllResidentBytes: m.opt.Vectors.Held(), BudgetBytes: m.opt.Vectors.Limit(),
		Check: m.lastCheck.Load(), Beside: beside, Transcripts: m.indexer.TranscriptFolders(),
	}
	st.Index = indexState(stats, st.Sync)
	st.KnownSinceStart, st.EmbeddedSinceStart = m.fill.Counts()
	st.KnownSinceStart += m.indexer.Known()
	if r, ok := m.opt.Search.Reranker.(*embed.Reranker); ok && r != nil {
		st.Reranker, st.RerankerErr = r.Name(), r.Health().Err
	}
	st.Degraded = slices.Concat(degraded, degradedIndex(stats, st.Sync, m.stale(st.Sync)), skippedFiles(skipped))
	return st, nil
}

// Damaged reports whether the index was found damaged and is not whole yet.
func (m *Memory) Damaged() bool { return m.store.Repair() != nil }

// degradedVectors returns what is wrong with the vector channel, nothing if there is no provider. built is the number of chunks
// with a vector of the provider's model, if the index has vectors of another one.
func (m *Memory) degradedVectors(stats store.Stats, built int) []memory.Degradation {
	e := m.opt.Embedder
	if !e.Enabled() {
		return nil
	}
	var d []memory.Degradation
	if h := e.Health(); !h.Healthy {
		d = append(d, memory.Degradation{Code: memory.ProviderDown,
			Text: fmt.Sprintf("embedding provider %s gives no vectors: %v", e.Space().Provider, h.Err)})
	}
	switch {
	case m.otherModel(stats):
		d = append(d, memory.Degradation{Code: memory.SpaceChanged,
			Text: fmt.Sprintf("searches use the vectors of %s until those of %s are whole: %d of %d chunks; kioku index and kioku serve go on with them",
				stats.Space.Name(), e.Space().Name(), built, stats.Chunks)})
	case stats.Embedded < stats.Chunks:
		text := fmt.Sprintf("%d of %d passages have no vector yet", stats.Chunks-stats.Embedded, stats.Chunks)
		if refused, err := m.fill.Refused(); refused > 0 {
			text += fmt.Sprintf("; the provider refuses %d texts: %v", refused, err)
		}
		d = append(d, memory.Degradation{Code: memory.VectorsMissing, Text: text})
	}
	return d
}

// degradedIndex says what is wrong with the index, and how far it lags behind the disk.
func degradedIndex(stats store.Stats, st indexer.SyncState, stale string) []memory.Degradation {
	var d []memory.Degradation
	if r := stats.Repair; r != nil {
		d = append(d, memory.Degradation{Code: memory.IndexDamaged, Text: repairText(r, stats.Files)})
	}
	if len(st.Unavailable) > 0 {
		d = append(d, memory.Degradation{Code: memory.WorkspaceUnavailable,
			Text: "cannot be read now, answers come from what was indexed before: " + strings.Join(st.Unavailable, ", ")})
	}
	if stale != "" {
		d = append(d, memory.Degradation{Code: memory.IndexStale, Text: stale})
	}
	return d
}

// stale returns why the index may lag behind the folder, or "" if it does not as far as is known.
func (m *Memory) stale(st indexer.SyncState) string {
	m.work.mu.Lock()
	notes := m.work.written - m.work.seen
	m.work.mu.Unlock()
	switch {
	case st.LastErr != nil:
		return failedSync(st)
	case st.PendingFiles > 0:
		return changedFiles(st.PendingFiles)
	case m.opt.Mode == Own && st.LastSync.IsZero():
		return "the folder has not been compared with the index since the start"
	case notes > 0:
		return fmt.Sprintf("not indexed yet: the newest notes (%d)", notes)
	}
	return ""
}

// changedFiles says how many changed files wait for a sync.
func changedFiles(n int) string {
	if n == 1 {
		return "1 changed file is not indexed yet"
	}
	return fmt.Sprintf("%d changed files are not indexed yet", n)
}

// repairText describes a repair for people. files is the number of files in the new index.
func repairText(r *store.Repair, files int) string {
	if r.Err != nil {
		return fmt.Sprintf("the index is damaged (%s) and is still used as far as it can be read: %v", r.Cause, r.Err)
	}
	of := ""
	if r.Files > 0 {
		of = fmt.Sprintf(" of %d", r.Files)
	}
	return fmt.Sprintf("the index was damaged and is made again: %d%s files so far; until then answers may lack notes", files, of)
}

// failedSync says why the last sync failed and what waits for the next one.
func failedSync(st indexer.SyncState) string {
	waiting := "it is not known which files have changed since"
	if st.PendingFiles > 0 {
		waiting = changedFiles(st.PendingFiles)
	}
	return fmt.Sprintf("the last sync failed, and %s: %v", waiting, st.LastErr)
}

// maxNamedSkips is how many skipped files a Degradation names.
const maxNamedSkips = 3

// skippedNotes is what an index lacks of the files that matter most: MEMORY.md, USER.md and the files of days.
type skippedNotes struct {
	mu sync.Mutex
	// generation is the generation of the index that degraded is about; 0 before the first.
	generation int64
	degraded   []memory.Degradation
}

// degradedFiles says which curated and daily files the index skips. It reads the list once for each generation of the index.
func (m *Memory) degradedFiles(ctx context.Context, generation int64) []memory.Degradation {
	s := &m.skipped
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.generation == generation {
		return s.degraded
	}
	files, err := m.store.Skipped(ctx)
	if err != nil {
		m.log.Warn("list what is skipped", "err", err)
		return nil
	}
	s.generation, s.degraded = generation, skippedFiles(files)
	return s.degraded
}

// skippedFiles says which of the files that an index skips are curated or daily, nothing if none is.
func skippedFiles(files []memory.SkippedFile) []memory.Degradation {
	var names []string
	for _, f := range files {
		if !f.Indexed && isNotes(f.Path) {
			names = append(names, fmt.Sprintf("%s (%s)", f.Path, f.Reason))
		}
	}
	count := len(names)
	if count == 0 {
		return nil
	}
	if count > maxNamedSkips {
		names = append(names[:maxNamedSkips], fmt.Sprintf("and %d more", count-maxNamedSkips))
	}
	what := "a file of notes is"
	if count > 1 {
		what = fmt.Sprintf("%d files of notes are", count)
	}
	return []memory.Degradation{{Code: memory.FilesSkipped, Text: what + " not indexed: " + strings.Join(names, ", ")}}
}

// isNotes reports whether a path of the index is that of MEMORY.md, USER.md, the folder of the daily files or one of them.
func isNotes(path string) bool {
	switch path {
	case "MEMORY.md", "USER.md", "memory":
		return true
	}
	return strings.HasPrefix(path, "memory/") && indexer.DateOf(path) != ""
}

const (
	// firstCheck is how long after the start of a watch the index is checked for the first time. checkInterval is how long after
	// a check the next one begins, and checkRetry how long after a check that failed.
	firstCheck    = 2 * time.Minute
	checkInterval = 24 * time.Hour
	checkRetry    = 5 * time.Minute
	// checkRest is how many times as long as it works a check rests, so that it takes 1 % of a core.
	checkRest = 99
)

// checkRegularly checks the index from time to time, and the files after it, until ctx is done.
func (m *Memory) checkRegularly(ctx context.Context) error {
	for wait := firstCheck; sleep(ctx, wait) == nil; {
		wait = m.checkOnce(ctx)
	}
	return nil
}

// checkOnce checks the index at leisure, and then all files against it. It logs what it finds: Status tells of it, and
// searches tell of damage themselves. It returns how long to wait before the next check.
func (m *Memory) checkOnce(ctx context.Context) time.Duration {
	checked, err := m.checkIndex(ctx, func(worked time.Duration) error { return sleep(ctx, checkRest*worked) })
	if err == nil {
		_, err = m.indexer.Sync(ctx, SyncOptions{Verify: true, NoRebuild: true, DeferSessions: len(checked.Found) == 0}, nil)
	}
	if err == nil || ctx.Err() != nil {
		return checkInterval
	}
	m.log.Error("check of the index", "err", err, "again_in", checkRetry)
	return checkRetry
}

// IndexCheck is the outcome of a check.
type IndexCheck struct {
	store.Checked
	// Time is the end of the check.
	Time time.Time `json:"time,omitzero"`
}

// checkIndex checks the index and records the outcome.
func (m *Memory) checkIndex(ctx context.Context, pace func(worked time.Duration) error) (store.Checked, error) {
	checked, err := m.store.Check(ctx, pace)
	if err == nil {
		var found []string
		found, err = m.derived.Check(ctx, true)
		checked.Found = append(checked.Found, found...)
	}
	if len(checked.Found) > 0 {
		m.log.Warn("the check of the index has found damage", "found", checked.Found)
	}
	if err == nil {
		m.lastCheck.Store(&IndexCheck{Checked: checked, Time: m.opt.Now()})
	}
	return checked, err
}

// sleep waits, or returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Inspect looks for damage in the index for about as long as wait, and changes nothing. It returns what it has found; whole is false
// if it has not looked at everything.
func (m *Memory) Inspect(ctx context.Context, wait time.Duration) (checked store.Checked, whole bool, err error) {
	if err := m.enter(); err != nil {
		return store.Checked{}, false, err
	}
	defer m.leave()
	end := time.Now().Add(wait)
	checked, err = m.store.Inspect(ctx, func() error {
		if time.Now().After(end) {
			return errInspected
		}
		return nil
	})
	if errors.Is(err, errInspected) {
		return checked, false, nil
	}
	if err == nil {
		var found []string
		found, err = m.derived.Check(ctx, false)
		checked.Found = append(checked.Found, found...)
	}
	return checked, err == nil, err
}

// errInspected ends an inspection for which there is no more time.
var errInspected = errors.New("no time to look further")

// FreeMemory gives memory that closed memories had back to the system.
func FreeMemory() { store.FreeMemory() }
