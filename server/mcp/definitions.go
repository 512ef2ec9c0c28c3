package mcp

import (
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kioku/agent/tools"
)

// Names of the tools that package agent does not have.
const (
	// ToolStatus reports the state of a memory.
	ToolStatus = "memory_status"
	// ToolLinks returns the links of a note.
	ToolLinks = "memory_links"
)

// Tools returns the definitions of the tools. Those of package agent/tools have the same names, descriptions and inputs there.
func Tools() []*sdk.Tool {
	outputs := map[string]string{tools.Search: searchOutput, tools.Get: getOutput, tools.Append: appendOutput}
	titles := map[string]string{tools.Search: "Search memory", tools.Get: "Read a note", tools.Append: "Remember"}
	var all []*sdk.Tool
	for _, t := range tools.All() {
		all = append(all, &sdk.Tool{
			Name: t.Name, Description: t.Description, InputSchema: t.Schema, OutputSchema: json.RawMessage(outputs[t.Name]),
			Annotations: annotations(titles[t.Name], t.Name != tools.Append),
		})
	}
	return append(all, &sdk.Tool{
		Name: ToolStatus, Annotations: annotations("Memory status", true),
		Description:  "How many notes there are, how current the index is, what searches lack. Use it if results are missing or old.",
		InputSchema:  json.RawMessage(statusInput),
		OutputSchema: json.RawMessage(statusOutput),
	}, &sdk.Tool{
		Name: ToolLinks, Annotations: annotations("Links of a note", true),
		Description:  "Links of a note to others, and links of others to it.",
		InputSchema:  json.RawMessage(linksInput),
		OutputSchema: json.RawMessage(linksOutput),
	})
}

// annotations describe a tool to the client. No tool overwrites anything, the same call again changes nothing, and none reaches
// beyond the memory.
func annotations(title string, reads bool) *sdk.ToolAnnotations {
	no := false
	return &sdk.ToolAnnotations{Title: title, ReadOnlyHint: reads, DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no}
}

const (
	statusInput = `{"type":"object","properties":{"sync":{"type":"boolean","description":"First index the files that have changed."}},"additionalProperties":false}`
	linksInput  = `{"type":"object","properties":{"path":{"type":"string","description":"Path, title or alias."}},"required":["path"],"additionalProperties":false}`

	searchOutput = `{"type":"object","properties":{"results":{"type":"array","items":{"type":"object"}},"mode":{"type":"string"},"degraded":{"type":"array"}},"required":["results","mode"]}`
	getOutput    = `{"type":"object","properties":{"text":{"type":"string"},"next_from":{"type":"integer"}},"required":["text","next_from"]}`
	appendOutput = `{"type":"object","properties":{"path":{"type":"string"},"start_line":{"type":"integer"}},"required":["path"]}`
	statusOutput = `{"type":"object","properties":{"files":{"type":"integer"},"pending_files":{"type":"integer"},"degraded":{"type":"array"}},"required":["files"]}`
	linksOutput  = `{"type":"object","properties":{"outgoing":{"type":"array"},"incoming":{"type":"array"}},"required":["outgoing","incoming"]}`
)
