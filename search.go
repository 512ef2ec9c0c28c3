package kioku

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kioku/memory"
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
	found.Hits = m.withoutForgotten(found.Hits, q.Text)
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
	done := m.catchUp(ctx)
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

// Explain says what became of the passage at a line of a file. If path is empty, it explains only the hits. Errors are those
// of Search, and a *memory.InputError for a line below 0. The line 0 is that of the path, which may be a citation, else the first.
func (m *Memory) Explain(ctx context.Context, q memory.Query, path string, line int) (memory.Explanation, error) {
	if err := m.enter(); err != nil {
		return memory.Explanation{}, err
	}
	defer m.leave()
	ctx, done := context.WithCancel(ctx) // the embedder of the query may be closed after that
	defer done()
	stats, err := m.store.Stats(ctx)
	if err != nil {
		return memory.Explanation{}, err
	}
	if path != "" {
		cited, from := m.citedFile(ctx, path)
		path, line = cited, cmp.Or(line, from, 1)
	}
	ex, err := m.searcher.Load().Explain(ctx, q, path, line)
	ex.Answer.Hits = m.withoutForgotten(ex.Answer.Hits, q.Text)
	if ex.Passage != nil {
		masked := *ex.Passage
		masked.Headings, masked.Snippet = "", ""
		if shown := m.withoutForgotten([]memory.Hit{*ex.Passage}, q.Text); len(shown) == 1 {
			masked = shown[0]
		}
		ex.Passage = &masked
	}
	ex.Answer.Index = lag(ex.Answer.Index, stats, m.indexer.SyncState())
	if err == nil && path != "" {
		ex.Links, err = m.fileLinks(ctx, path)
	}
	if err != nil || ex.Outcome != memory.NotACandidate {
		return ex, err
	}
	// A search sees only chunks; the index of files knows why there is no chunk at all.
	outcome, text, err := m.absent(ctx, path, line)
	if err == nil && outcome != "" {
		ex.Outcome, ex.Text = outcome, text
	}
	return ex, err
}

// fileLinks returns the links of the file at a path, nil if the index does not have it, though it may have files of this name.
func (m *Memory) fileLinks(ctx context.Context, path string) (*memory.Links, error) {
	links, err := m.store.Links(ctx, path)
	var named *memory.InputError
	if errors.Is(err, memory.ErrNotFound) || errors.As(err, &named) || err == nil && links.Path != path {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m.hideLinks(&links)
	return &links, nil
}

// absent says why the index has no chunk at a line of a file; outcome is empty if it has one.
func (m *Memory) absent(ctx context.Context, path string, line int) (outcome, text string, err error) {
	l, err := m.store.Locate(ctx, path, line)
	switch {
	case err != nil:
		return "", "", err
	case !l.Known:
		return memory.NotIndexed, m.unknown(path), nil
	case l.Skipped != "":
		return memory.Skipped, fmt.Sprintf("%s is skipped: %s.", path, l.Skipped), nil
	case !l.Chunk:
		return memory.NotIndexed, m.noChunk(path, line), nil
	}
	return "", "", nil
}

// noChunk says why the index of a file has no chunk at a line.
func (m *Memory) noChunk(path string, line int) string {
	text, err := m.indexer.Show(path)
	if err != nil {
		return fmt.Sprintf("%s is indexed, but cannot be read now.", path)
	}
	ex := memory.GetRequest{Path: path, From: line, Lines: 1}.Excerpt(text)
	switch {
	case ex.Lines == 0:
		return fmt.Sprintf("%s is indexed, but line %d lies beyond its end at line %d.", path, line, ex.TotalLines)
	case strings.TrimSpace(ex.Text) == "":
		return fmt.Sprintf("%s is indexed, but its line %d is blank.", path, line)
	}
	return fmt.Sprintf("%s is indexed, but its line %d holds nothing to search, or was written since the last sync.", path, line)
}

// unknown says why the index does not know a file.
func (m *Memory) unknown(path string) string {
	if _, err := m.indexer.Show(path); errors.Is(err, memory.ErrNotFound) && filepath.IsAbs(path) {
		return "That is no file of this memory." // whose place is nobody's business
	} else if errors.Is(err, memory.ErrNotFound) {
		return path + " is no file of this memory."
	}
	return path + " is not indexed yet; it will be with the next sync."
}
