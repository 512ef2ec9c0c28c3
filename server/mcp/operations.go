package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kioku/server"
	"kioku/server/op"
)

// operationTemplate is the template of what operations answer that only read and need no path: kioku://operations/activity.
var operationTemplate = &sdk.ResourceTemplate{
	Name: "operation", Title: "What an operation answers", URITemplate: scheme + "://operations/{name}", MIMEType: "application/json",
	Description: "JSON of GET /v1/NAME for this memory, such as activity, revisions or agents.",
}

// operationOf returns the operation that a URI names; false if there is none.
func operationOf(uri string) (op.About, bool) {
	name, ok := strings.CutPrefix(uri, scheme+"://operations/")
	for _, o := range server.Operations() {
		a := o.About()
		reads := a.Method() == http.MethodGet && !a.Stream && !strings.Contains(a.Path(), "{") && !strings.HasPrefix(a.Right, "council")
		if ok && reads && a.Path() == "/v1/"+name {
			return a, true
		}
	}
	return op.About{}, false
}

// readOperation returns what an operation answers.
func (s *session) readOperation(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	a, ok := operationOf(req.Params.URI)
	if !ok {
		return nil, sdk.ResourceNotFoundError(req.Params.URI)
	}
	m, ask, err := s.openForRead(ctx, req)
	if ask != nil {
		return ask, nil
	}
	if err != nil {
		return nil, errors.New(message(err))
	}
	query := url.Values{}
	if op.Members(a.In)["agent"] != nil && m.Agent != "" {
		query.Set("agent", m.Agent)
	}
	r, err := http.NewRequestWithContext(ctx, a.Method(), "http://"+op.Host+a.Path()+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := m.Conn.RoundTrip(r)
	if err != nil {
		return nil, errors.New(message(err))
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, errors.New(message(err))
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: req.Params.URI, MIMEType: operationTemplate.MIMEType, Text: string(text)}}}, nil
}
