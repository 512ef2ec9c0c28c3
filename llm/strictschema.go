package llm

import (
	"bytes"
	"encoding/json"
	"slices"
)

// strictKeys are the keywords of the subset that OpenAI's strict schemas take in every version.
var strictKeys = []string{"type", "enum", "description", "items", "properties", "required", "additionalProperties"}

// isStrict reports whether a schema is of the subset that OpenAI enforces to the letter: an object in which all objects are closed and
// need all of their keys, without a keyword beside strictKeys.
func isStrict(schema json.RawMessage) bool {
	var root struct{ Type any }
	return json.Unmarshal(schema, &root) == nil && root.Type == "object" && isStrictPart(schema)
}

// isStrictPart is isStrict for any schema within another.
func isStrictPart(schema json.RawMessage) bool {
	all, err := members(schema)
	if err != nil {
		return false
	}
	var properties, required []string
	object, closed := false, false
	for _, m := range all {
		switch m.key {
		case "type":
			object = bytes.Contains(m.value, []byte(`"object"`))
		case "properties":
			list, err := members(m.value)
			if err != nil || slices.ContainsFunc(list, func(p member) bool { return !isStrictPart(p.value) }) {
				return false
			}
			for _, p := range list {
				properties = append(properties, p.key)
			}
		case "items":
			if !isStrictPart(m.value) {
				return false
			}
		case "required":
			if json.Unmarshal(m.value, &required) != nil {
				return false
			}
		case "additionalProperties":
			closed = string(m.value) == "false"
		default:
			if !slices.Contains(strictKeys, m.key) {
				return false
			}
		}
	}
	if !object {
		return true
	}
	slices.Sort(properties)
	slices.Sort(required)
	return closed && slices.Equal(properties, required)
}
