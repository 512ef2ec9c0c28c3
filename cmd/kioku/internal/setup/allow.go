package setup

import (
	"regexp"
	"slices"

	"github.com/tailscale/hujson"
)

// allowPath is the place of the list of tools that Claude Code may call without a question
// (https://code.claude.com/docs/en/permissions).
var allowPath = []string{"permissions", "allow"}

// notInServerName are the characters that Claude Code replaces in the name of a server in the names of its tools.
var notInServerName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// allowedTools returns the names of the tools of a server in permissions.
func allowedTools(server string) []string {
	var names []string
	for _, tool := range []string{"search", "get", "append", "update", "links"} {
		names = append(names, "mcp__"+notInServerName.ReplaceAllString(server, "_")+"__memory_"+tool)
	}
	return names
}

// allow returns the text with the permissions that it lacks.
func (f hooksFormat) allow(doc []byte) ([]byte, error) {
	content, err := f.json.decode(doc)
	for _, tool := range f.allowed {
		if err == nil && !slices.Contains(allowedIn(content), tool) {
			doc, err = appendJSON(doc, allowPath, tool)
		}
	}
	return doc, err
}

// disallow returns the text without the permissions, unless an earlier content has them, and without the list and the block that are
// empty then.
func (f hooksFormat) disallow(doc []byte, earlier map[string]any) ([]byte, error) {
	content, err := f.json.decode(doc)
	if err != nil {
		return nil, err
	}
	tools, before := allowedIn(content), allowedIn(earlier)
	left := len(tools)
	for i, tool := range slices.Backward(tools) {
		if slices.Contains(f.allowed, tool) && !slices.Contains(before, tool) {
			if doc, left, err = removeElement(doc, allowPath, nil, i); err != nil {
				return nil, err
			}
		}
	}
	if left > 0 || len(tools) == 0 {
		return doc, nil
	}
	had, _ := earlier[allowPath[0]].(map[string]any)
	if had[allowPath[1]] != nil {
		return doc, nil
	}
	if doc, err = removeJSON(doc, allowPath); err != nil || had != nil {
		return doc, err
	}
	tree, err := hujson.Parse(doc)
	if err != nil {
		return nil, err
	}
	if block, err := follow(tree, allowPath[:1]); err != nil || block == nil || !isEmptyObject(block) {
		return doc, err
	}
	return removeJSON(doc, allowPath[:1])
}

// withoutAllowed removes the permissions from a content, and the list and the block that are empty then.
func (f hooksFormat) withoutAllowed(content map[string]any) {
	block, ok := content[allowPath[0]].(map[string]any)
	list, isList := block[allowPath[1]].([]any)
	if len(f.allowed) == 0 || !ok || !isList && len(block) > 0 {
		return // a list that is none is refused by allow
	}
	list = slices.DeleteFunc(list, func(item any) bool {
		tool, _ := item.(string)
		return slices.Contains(f.allowed, tool)
	})
	if block[allowPath[1]] = list; len(list) == 0 {
		delete(block, allowPath[1])
	}
	if len(block) == 0 {
		delete(content, allowPath[0])
	}
}

// allowedIn returns the elements of the list in a content.
func allowedIn(content map[string]any) []string {
	block, _ := content[allowPath[0]].(map[string]any)
	return texts(block[allowPath[1]])
}
