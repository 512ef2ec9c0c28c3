package mcp

import (
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kioku/agent/tools"
)

// ToolLinks is the name of the tool that package agent/tools does not have. It returns the links of a note.
const ToolLinks = "memory_links"

// Tools returns the definitions of the tools. Those of package agent/tools have the same names, descriptions and inputs there.
func Tools() []*sdk.Tool {
	outputs := map[string]string{tools.Search: searchOutput, tools.Get: getOutput, tools.Append: appendOutput, tools.Update: updateOutput}
	titles := map[string]string{tools.Search: "Search memory", tools.Get: "Read a note", tools.Append: "Remember", tools.Update: "Correct a note"}
	var all []*sdk.Tool
	for _, t := range tools.All() {
		all = append(all, &sdk.Tool{
			Name: t.Name, Description: t.Description, InputSchema: t.Schema, OutputSchema: json.RawMessage(outputs[t.Name]),
			Annotations: annotations(titles[t.Name], !tools.Writes(t.Name), t.Name == tools.Update),
		})
	}
	return append(all, &sdk.Tool{
		Name: ToolLinks, Annotations: annotations("Links of a note", true, false),
		Description:  "Links of a note to others, and links of others to it.",
		InputSchema:  json.RawMessage(linksInput),
		OutputSchema: json.RawMessage(linksOutput),
	})
}

// annotations describe a tool to the client. The same call again changes nothing, and no tool reaches beyond the memory.
func annotations(title string, reads, replaces bool) *sdk.ToolAnnotations {
	no := false
	return &sdk.ToolAnnotations{Title: title, ReadOnlyHint: reads, DestructiveHint: &replaces, IdempotentHint: true, OpenWorldHint: &no}
}

const (
	linksInput = `{"type":"object","properties":{"path":{"type":"string","description":"Path, title or alias."}},"required":["path"],"additionalProperties":false}`

	searchOutput = `{"type":"object","properties":{"results":{"type":"array","items":{"type":"object"}},"mode":{"type":"string"},"degraded":{"type":"array"}},"required":["results","mode"]}`
	getOutput    = `{"type":"object","properties":{"text":{"type":"string"},"next_from":{"type":"integer"}},"required":["text","next_from"]}`
	appendOutput = `{"type":"object","properties":{"path":{"type":"string"},"start_line":{"type":"integer"}},"required":["path"]}`
	updateOutput = `{"type":"object","properties":{"path":{"type":"string"},"revision":{"type":"string"}},"required":["path"]}`
	linksOutput  = `{"type":"object","properties":{"outgoing":{"type":"array"},"incoming":{"type":"array"}},"required":["outgoing","incoming"]}`
)
