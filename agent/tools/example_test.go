package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"kioku/agent/tools"
	"kioku/memory"
)

// Run the tool that a model asked for.
func ExampleCall() {
	notes := &fakeMemory{answer: memory.Answer{Mode: memory.ModeKeyword, Hits: []memory.Hit{
		{Path: "MEMORY.md", StartLine: 4, EndLine: 4, Score: 0.62, Snippet: "- Prefers green tea."},
	}}}
	output, err := tools.Call(context.Background(), notes, memory.NoteFromAgent, "memory_search", json.RawMessage(`{"query": "tea", "limit": 3}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(output))
	// Output: {"results":[{"path":"MEMORY.md","start_line":4,"end_line":4,"score":0.62,"snippet":"- Prefers green tea.","citation":"MEMORY.md#L4-L4"}],"mode":"keyword"}
}
