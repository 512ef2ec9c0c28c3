package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Hazard F09: what is typed at the command line is the user's, also if processes write at once.
func TestAppendWaitsForOthers(t *testing.T) {
	t.Parallel()
	s := newSandbox(t, notes())
	const n = 8
	var group sync.WaitGroup
	outcomes := make([]outcome, n)
	for i := range n {
		group.Go(func() { outcomes[i] = s.run("append", fmt.Sprintf("note <%d>", i)) })
	}
	group.Wait()
	for _, got := range outcomes {
		got.wants(t, exitOK)
	}
	files, err := filepath.Glob(filepath.Join(s.workspace, "memory", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for i := range n {
		if strings.Count(all.String(), fmt.Sprintf("note <%d> <!-- kioku from=user -->\n", i)) != 1 {
			t.Errorf("note %d is not there once, as the user's", i)
		}
	}
}
