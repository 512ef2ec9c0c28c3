package kioku_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"kioku"
	"kioku/memory"
)

// Remember something and find it again.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "kioku-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	m, err := kioku.Open(ctx, kioku.Options{Workspace: dir, StateDir: filepath.Join(dir, "state")})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	note := memory.Note{Text: "Mia drinks green tea in the morning.", Target: memory.TargetLongTerm, Source: memory.NoteFromUser}
	if _, err := m.Append(ctx, note); err != nil {
		log.Fatal(err)
	}
	if _, err := m.Sync(ctx, kioku.SyncOptions{}, nil); err != nil {
		log.Fatal(err)
	}
	answer, err := m.Search(ctx, memory.Query{Text: "what does Mia drink?", MaxResults: 3})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range answer.Hits {
		fmt.Println(hit.Cite(), hit.Snippet)
	}
	// Output: MEMORY.md#L1-L1 - Mia drinks green tea in the morning.
}
