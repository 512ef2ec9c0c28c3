package kioku

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"kioku/memory"
	"kioku/search"
	"kioku/store"
)

// emptyWait is how long a search waits for the first sync of an empty index.
const emptyWait = 2 * time.Second

// Search answers a query; see search.Searcher.Search for the ranking and the errors. If the index is empty, it syncs first,
// for at most 2 s. If files are known to have changed, it starts to index them and does not wait. Answer.Degraded lists what
// the answer had to do without.
func (m *Memory) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	if err := m.enter(); err != nil {
		return memory.Answer{}, err
	}
	defer m.leave()
	ctx, done := context.WithCancel(ctx) // the embedder of the query may be closed after that
	defer done()
	start := time.Now()
	stats, err := m.freshen(ctx)
	if err != nil {
		return memory.Answer{}, err
	}
	stale := m.stale(m.indexer.SyncState())
	found, err := m.searcher.Load().Search(ctx, q)
	if err == nil && m.store.IndexID() != stats.IndexID {
		// The search itself has met damage: the index that answers now is another one.
		if stats, err = m.freshen(ctx); err == nil {
			found, err = m.searcher.Load().Search(ctx, q)
		}
	}
	if err != nil {
		return memory.Answer{}, err
	}
	stats.Repair = m.store.Repair()
	state := m.indexer.SyncState()
	// What was indexed during the search is missing in its answer.
	stale = cmp.Or(m.stale(state), stale)
	found.Degraded = slices.Concat(found.Degraded, degradedIndex(stats, state, stale), m.degradedFiles(ctx, stats.Generation))
	if len(found.Hits) == 0 {
		found.Degraded = append(found.Degraded, m.degradedBeside(ctx)...)
	}
	if q.AsksDerived() {
		found.Degraded = append(found.Degraded, memory.Degradation{Code: memory.DeriveOff, Text: "Only passages were searched for, by the query as it stands: " +
			"derivation is off. It gives context a meaning, and finds facts, loops and summaries; set derive.enabled to true."})
	}
	found.Index = lag(found.Index, stats, state)
	found.Took = time.Since(start)
	return found, nil
}

// SearchWith answers a query by the index as it is, with other search settings than those of the memory. Vectors of queries that
// were asked before are in the cache, so that it costs little to try many settings.
func (m *Memory) SearchWith(ctx context.Context, q memory.Query, opt search.Options) (memory.Answer, error) {
	if err := m.enter(); err != nil {
		return memory.Answer{}, err
	}
	defer m.leave()
	return m.searcherOf(opt).Search(ctx, q)
}

// freshen starts a sync in the background if the index is known to lag: of the changed files if a watch knows them, of all
// files otherwise. After a failed sync it leaves the index until the next one is due. If the index is empty, it waits for up to emptyWait. It returns the statistics from before the sync.
func (m *Memory) freshen(ctx context.Context) (store.Stats, error) {
	stats, err := m.store.Stats(ctx)
	if err != nil || m.opt.Mode != Own {
		return stats, err
	}
	state := m.indexer.SyncState()
	empty := stats.Files == 0 && (state.LastSync.IsZero() || state.Dirty || stats.Repair != nil)
	if time.Now().Before(state.RetryAt) || !empty && (!state.Dirty || state.Syncing || m.indexer.IndexPending()) {
		return stats, nil
	}
	done := m.syncInBackground(ctx)
	if !empty {
		return stats, nil
	}
	wait := time.NewTimer(emptyWait)
	defer wait.Stop()
	select {
	case <-done:
	case <-wait.C:
	case <-ctx.Done():
		return stats, ctx.Err()
	}
	return stats, nil
}

// degradedBeside says how many Markdown files an empty answer did not look at, because they could not be indexed or the settings do not
// include them; nothing if there are none.
func (m *Memory) degradedBeside(ctx context.Context) (all []memory.Degradation) {
	add := func(text string) { all = append(all, memory.Degradation{Code: memory.FilesBeside, Text: text}) }
	skipped, err := m.store.Skipped(ctx)
	skipped = slices.DeleteFunc(skipped, func(f memory.SkippedFile) bool { return f.Indexed })
	switch {
	case err != nil: // the answer is whole without it
	case len(skipped) == 1:
		add("1 file is not indexed (kioku status says why).")
	case len(skipped) > 1:
		add(fmt.Sprintf("%d files are not indexed (kioku status says why).", len(skipped)))
	}
	if beside, err := m.indexer.Beside(ctx, besideEmptyWait); err == nil && beside.Files > 0 {
		add("Markdown files of the folder that the settings do not include: " + beside.String() + "; kioku index --all takes them in")
	}
	return all
}
