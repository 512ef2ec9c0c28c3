package llm

import (
	"encoding/json"
	"fmt"
	"slices"
)

// geminiBody is a request to generateContent.
type geminiBody struct {
	System   *geminiContent  `json:"systemInstruction,omitempty"`
	Contents []geminiContent `json:"contents"`
	Tools    []geminiTools   `json:"tools,omitempty"`
	Config   geminiConfig    `json:"generationConfig"`
}

type geminiContent struct {
	Role  string       `json:"role,omitempty"`
	Parts []geminiPart `json:"parts"`
}

// geminiPart has one of its fields, and a call perhaps a signature.
type geminiPart struct {
	Text      string        `json:"text,omitempty"`
	Thought   bool          `json:"thought,omitempty"`
	Image     *geminiImage  `json:"inlineData,omitempty"`
	Call      *geminiCall   `json:"functionCall,omitempty"`
	Result    *geminiResult `json:"functionResponse,omitempty"`
	Signature string        `json:"thoughtSignature,omitempty"`
}

type geminiImage struct {
	MediaType string `json:"mimeType"`
	Data      []byte `json:"data"`
}

type geminiCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type geminiResult struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

type geminiTools struct {
	Functions []geminiFunction `json:"functionDeclarations"`
}

type geminiFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type geminiConfig struct {
	MaxTokens int             `json:"maxOutputTokens,omitempty"`
	MediaType string          `json:"responseMimeType,omitempty"`
	Schema    json.RawMessage `json:"responseSchema,omitempty"`
}

// unsigned is the signature that the API takes for calls of which the signature is not known, since transcripts have none.
const unsigned = "skip_thought_signature_validator"

// body returns req in Gemini's form. It returns an error for a schema that is not a JSON object.
func (g *gemini) body(req Request, mode schemaMode) (geminiBody, error) {
	b := geminiBody{Contents: g.contents(req.Messages), Config: geminiConfig{MaxTokens: req.MaxTokens}}
	if req.System != "" {
		b.System = &geminiContent{Parts: []geminiPart{{Text: req.System}}}
	}
	var functions []geminiFunction
	for _, t := range req.Tools {
		schema, err := geminiSchema(t.Schema)
		if err != nil {
			return b, fmt.Errorf("the schema of the tool %s is no JSON object: %w", t.Name, err)
		}
		functions = append(functions, geminiFunction{t.Name, t.Description, schema})
	}
	if len(functions) > 0 {
		b.Tools = []geminiTools{{functions}}
	}
	if mode == schemaEnforced && len(req.Tools) == 0 { // the API takes one of the two
		schema, err := geminiSchema(req.Schema)
		if err != nil {
			return b, fmt.Errorf("the schema of the answer is no JSON object: %w", err)
		}
		b.Config.MediaType, b.Config.Schema = "application/json", schema
	}
	return b, nil
}

// contents returns messages in Gemini's form, in which the results of all calls of one message are in the one content after it.
func (g *gemini) contents(messages []Message) []geminiContent {
	var all []geminiContent
	for _, m := range messages {
		c := geminiContent{Role: "user", Parts: g.parts(m)}
		if m.Role == RoleAssistant {
			c.Role = "model"
		}
		if len(c.Parts) == 0 {
			continue
		}
		if n := len(all); n > 0 && all[n-1].Role == c.Role {
			all[n-1].Parts = append(all[n-1].Parts, c.Parts...)
			continue
		}
		all = append(all, c)
	}
	return all
}

func (g *gemini) parts(m Message) []geminiPart {
	var parts []geminiPart
	if m.Role == RoleTool {
		key := "output"
		if m.Failed {
			key = "error"
		}
		parts = append(parts, geminiPart{Result: &geminiResult{ID: m.ToolCallID, Name: m.ToolName, Response: map[string]string{key: m.Text}}})
	} else if text := withTurn(m); text != "" {
		parts = append(parts, geminiPart{Text: text})
	}
	for _, image := range m.Images {
		parts = append(parts, geminiPart{Image: &geminiImage{image.MediaType, image.Data}})
	}
	for i, c := range m.ToolCalls {
		part := geminiPart{Call: &geminiCall{ID: c.ID, Name: c.Name, Args: objectOf(c.Input)}}
		if g.signed && i == 0 {
			part.Signature = unsigned
		}
		parts = append(parts, part)
	}
	return parts
}

// geminiKeys are the keywords of JSON Schema that Gemini's schemas have too. Others are left out: they only restrict an answer further.
var geminiKeys = []string{"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required", "minProperties", "maxProperties",
	"minLength", "maxLength", "pattern", "anyOf", "items", "minimum", "maximum"}

// geminiSchema returns a JSON Schema in Gemini's form: without the keywords that it does not know, a value that may be null marked as
// nullable, and the order of properties said. The error is of a schema that is no object.
func geminiSchema(schema json.RawMessage) (json.RawMessage, error) {
	all, err := members(schema)
	if err != nil {
		return nil, err
	}
	var kept []member
	for _, m := range all {
		switch {
		case m.key == "type":
			kept = append(kept, geminiType(m.value)...)
		case m.key == "properties":
			properties, err := geminiProperties(m.value)
			if err != nil {
				return nil, err
			}
			kept = append(kept, properties...)
		case m.key == "items":
			if m.value, err = geminiSchema(m.value); err != nil {
				return nil, err
			}
			kept = append(kept, m)
		case m.key == "anyOf":
			if m.value, err = geminiSchemas(m.value); err != nil {
				return nil, err
			}
			kept = append(kept, m)
		case slices.Contains(geminiKeys, m.key):
			kept = append(kept, m)
		}
	}
	return objectOfMembers(kept), nil
}

// geminiType returns the members for a type, which may be a list of a type and "null".
func geminiType(value json.RawMessage) []member {
	var types []string
	if json.Unmarshal(value, &types) != nil || len(types) == 0 {
		return []member{{"type", value}}
	}
	nullable := slices.Contains(types, "null")
	types = slices.DeleteFunc(types, func(t string) bool { return t == "null" })
	if len(types) == 0 {
		return nil
	}
	name, _ := json.Marshal(types[0]) // a string always has a JSON form
	kept := []member{{"type", name}}
	if nullable {
		kept = append(kept, member{"nullable", json.RawMessage("true")})
	}
	return kept
}

// geminiProperties returns the members for the properties of an object.
func geminiProperties(value json.RawMessage) ([]member, error) {
	all, err := members(value)
	if err != nil || len(all) == 0 {
		return nil, err // Gemini takes no object with an empty list of properties
	}
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.key
		if all[i].value, err = geminiSchema(m.value); err != nil {
			return nil, err
		}
	}
	order, _ := json.Marshal(names) // strings always have a JSON form
	return []member{{"properties", objectOfMembers(all)}, {"propertyOrdering", order}}, nil
}

// geminiSchemas is geminiSchema for each schema of a list.
func geminiSchemas(value json.RawMessage) (json.RawMessage, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(value, &list); err != nil {
		return nil, err
	}
	for i := range list {
		var err error
		if list[i], err = geminiSchema(list[i]); err != nil {
			return nil, err
		}
	}
	return json.Marshal(list)
}
