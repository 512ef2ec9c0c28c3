package client_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"kioku/client"
	"kioku/memory"
)

// startMemory stands for "kioku serve", with one note in its memory.
func startMemory() (target string, stop func()) {
	dir, err := os.MkdirTemp("", "k")
	if err != nil {
		log.Fatal(err)
	}
	target, stopService, err := start(dir, &fakeService{answer: memory.Answer{Mode: "keyword", Hits: []memory.Hit{{
		Path: "MEMORY.md", StartLine: 4, EndLine: 4, Score: 0.62, Snippet: "- Prefers green tea.",
	}}}})
	if err != nil {
		log.Fatal(err)
	}
	return target, func() { stopService(); os.RemoveAll(dir) }
}

// Ask a memory from a program.
func ExampleClient_Search() {
	target, stop := startMemory()
	defer stop()
	client, err := client.Dial(target, client.Options{Agent: "main"})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	answer, err := client.Search(context.Background(), memory.Query{Text: "what does she drink?", MaxResults: 3})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range answer.Hits {
		fmt.Println(hit.Cite(), hit.Snippet)
	}
	// Output: MEMORY.md#L4-L4 - Prefers green tea.
}
