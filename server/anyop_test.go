package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"kioku/server"
	"kioku/server/op"
)

// agentOps are the operations that are for one agent.
func agentOps() []op.About {
	var list []op.About
	for _, o := range server.Operations() {
		if a := o.About(); a.Right == "agent" || a.Right == "agent:write" {
			list = append(list, a)
		}
	}
	return list
}

// takes reports whether a request has a member.
func takes(a op.About, member string) bool { return op.Members(a.In)[member] != nil }

// filled are values for the members that requests need.
func filled(agent string) map[string]any {
	return map[string]any{"agent": agent, "query": "tea", "text": "tea", "session": "tea", "message": "tea", "path": "MEMORY.md", "id": "9f", "lease": "tea",
		"old_text": "a", "verb": "pin"}
}

// askAny asks an operation, with those of the values that it takes, and returns the code of its error, empty for none, and its first answer.
func askAny(ctx context.Context, conn http.RoundTripper, a op.About, values map[string]any) (code, answer string) {
	path, body, query := a.Path(), map[string]any{}, url.Values{}
	for name, place := range op.Members(a.In) {
		value, known := values[name]
		if a.In.FieldByIndex(place).Type.Kind() == reflect.Int64 {
			value = 1 // it is the number of a job
		}
		at := fmt.Sprint(value)
		if at == "" || !known {
			at = "x"
		}
		switch in := strings.NewReplacer("{"+name+"}", url.PathEscape(at), "{"+name+"...}", url.PathEscape(at)).Replace(path); {
		case in != path:
			path = in
		case known && a.InBody():
			body[name] = value
		case known:
			query.Set(name, fmt.Sprint(value))
		}
	}
	target, sent := "http://kioku"+path, []byte(nil)
	if a.InBody() {
		sent, _ = json.Marshal(body)
	} else {
		target += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, a.Method(), target, bytes.NewReader(sent))
	if err != nil {
		return err.Error(), ""
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := conn.RoundTrip(r)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", "" // a stream that has not begun
	case err != nil:
		return err.Error(), ""
	}
	defer resp.Body.Close()
	line, err := bufio.NewReader(resp.Body).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, context.DeadlineExceeded) {
		return err.Error(), ""
	}
	var said struct {
		Error *op.Error `json:"error"`
	}
	if json.Unmarshal(line, &said) == nil && said.Error != nil && said.Error.Code != "" {
		return said.Error.Code, said.Error.Error()
	}
	return "", string(line)
}
