package kioku

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"kioku/indexer"
	"kioku/memory"
)

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
	case longTermFile, "USER.md", "memory":
		return true
	}
	return strings.HasPrefix(path, "memory/") && indexer.DateOf(path) != ""
}
