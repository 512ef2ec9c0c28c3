package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"kioku/server/op"
)

// members returns the names of the JSON members of a request.
func members(t reflect.Type) map[string]bool {
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" && !f.Anonymous {
			names[name] = true
		}
	}
	return names
}

// askOperation sends the request of an operation with the values that it takes, by their names.
func (d doors) askOperation(t *testing.T, a op.About, values map[string]any) (int, string) {
	t.Helper()
	path, body, query := a.Path(), map[string]any{}, url.Values{}
	for name := range members(a.In) {
		value, known := values[name]
		switch wild := strings.NewReplacer("{"+name+"}", url.PathEscape(fmt.Sprint(value)), "{"+name+"...}", url.PathEscape(fmt.Sprint(value))); {
		case wild.Replace(path) != path:
			path = wild.Replace(path)
		case known && a.InBody():
			body[name] = value
		case known:
			query.Set(name, fmt.Sprint(value))
		}
	}
	if !a.InBody() {
		return d.get(t, d.token, a.Method(), path+"?"+query.Encode(), nil)
	}
	sent, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return d.get(t, d.token, a.Method(), path, bytes.Clone(sent))
}

// wants are the values that somebody sends who wants the note of an agent.
func wants(agent, path string) map[string]any {
	values := map[string]any{"path": path, "query": "Zanzibar treaty", "message": "Zanzibar treaty?", "text": "a note", "session": "s",
		"messages": []any{map[string]string{"id": "m1", "role": "user", "text": "Zanzibar treaty?"}}}
	if agent != "" {
		values["agent"], values["shared_agents"] = agent, []string{agent}
	}
	return values
}

// checkOperation asks an operation for what the token does not reach.
func (d doors) checkOperation(t *testing.T, a op.About) {
	t.Helper()
	for _, path := range d.paths {
		_, answer := d.askOperation(t, a, wants("", path))
		d.checkSecrets(t, "without an agent, the operation", answer)
	}
	if strings.HasPrefix(a.Right, "council") {
		return // TestCouncilRightsOfEachRoute has them
	}
	if names := members(a.In); !names["agent"] {
		if len(names) > 0 {
			t.Error("the request has members, and no agent")
		}
		return
	}
	code, other := d.askOperation(t, a, wants(d.other, d.paths[0]))
	_, nobody := d.askOperation(t, a, wants("nobody", d.paths[0]))
	if other != nobody || code != http.StatusNotFound && code != http.StatusForbidden {
		t.Errorf("for %s %d %s\nfor nobody %s", d.other, code, other, nobody)
	}
	d.checkSecrets(t, "the operation", other)
}
