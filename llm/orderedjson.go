package llm

import (
	"bytes"
	"encoding/json"
	"errors"
)

// member is a key of a JSON object with its value.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the members of a JSON object in their order.
func members(object json.RawMessage) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.Join(errors.New("no object"), err)
	}
	var all []member
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: key.(string)} // the key of an object is a string
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	_, err := dec.Token()
	return all, err
}

// objectOfMembers returns the JSON object with these members.
func objectOfMembers(all []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(m.key) // a string always has a JSON form
		b.Write(key)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// objectSchema returns the schema of an object with its bytes as they are, and the type in front if it has none.
func objectSchema(schema json.RawMessage) (json.RawMessage, error) {
	all, err := members(schema)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.key == "type" {
			return schema, nil
		}
	}
	return objectOfMembers(append([]member{{"type", json.RawMessage(`"object"`)}}, all...)), nil
}

// closeObjects adds to each object of a schema that it has no other properties than those listed, unless the schema says
// something about them: Anthropic's API requires it. The order of the keys stays, because it is the order of the answer and
// part of what is cached. The error is of a schema that is no object.
func closeObjects(schema json.RawMessage) (json.RawMessage, error) {
	if _, err := members(schema); err != nil {
		return nil, err
	}
	return closeValue(schema), nil
}

// closeValue is closeObjects for any value within a schema.
func closeValue(value json.RawMessage) json.RawMessage {
	if all, err := members(value); err == nil {
		listed, said := false, false
		for i, m := range all {
			listed = listed || m.key == "properties" && bytes.HasPrefix(bytes.TrimSpace(m.value), []byte("{"))
			said = said || m.key == "additionalProperties"
			all[i].value = closeValue(m.value)
		}
		if listed && !said {
			all = append(all, member{"additionalProperties", json.RawMessage("false")})
		}
		return objectOfMembers(all)
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil || list == nil {
		return value
	}
	for i := range list {
		list[i] = closeValue(list[i])
	}
	closed, _ := json.Marshal(list) // valid JSON in a list
	return closed
}
