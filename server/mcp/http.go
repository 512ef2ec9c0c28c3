package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"kioku/server"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	// idleTimeout ends a session that has sent nothing for so long.
	idleTimeout = time.Hour
	// maxSessions is the maximum number of sessions of one token, or of all clients without one.
	maxSessions = 128
	// maxBody is the maximum size of a request, as for gRPC.
	maxBody = 4 << 20
	// withoutSessions is the first version of the protocol that has none: each request stands for itself.
	withoutSessions = "2026-07-28"

	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	// methodHeader names the method of a message since there are no sessions; the SDK refuses one that says another.
	methodHeader = "Mcp-Method"
	// contextHeader leads from a message to the HTTP request that carried it. What a client sends in it is replaced.
	contextHeader = "Kioku-Request"
)

// HTTPOptions are what the handler of MCP over HTTP needs.
type HTTPOptions struct {
	// Conn reaches the operations. A call is made on behalf of the client whose HTTP request the context of the call descends from.
	Conn http.RoundTripper
	// Version of the program.
	Version string
}

// handler serves MCP over HTTP: to clients of older protocols in sessions, to newer ones request by request.
type handler struct {
	opt             HTTPOptions
	lasting, single *sdk.StreamableHTTPHandler
	// blank stands for the server of a session where the SDK only wants to know the versions of the protocol.
	blank *sdk.Server
	// tools serves calls of tools outside of sessions, which need neither a list of resources nor a subscription.
	tools *sdk.Server

	mu sync.Mutex
	// sessions by id. Guarded by mu.
	sessions map[string]binding
	// requests are the contexts of the HTTP requests under way, by the value of contextHeader. Guarded by mu.
	requests map[string]context.Context
}

// binding is to whom a session belongs, and which memory it serves.
type binding struct {
	credential [sha256.Size]byte
	agent      string
}

// NewHandler returns the handler of MCP over HTTP ("streamable HTTP"). The path value "agent" names the agent; without it, it is the
// only one that the client may reach. A session belongs to the token, or certificate, of the request that opened it.
func NewHandler(opt HTTPOptions) http.Handler {
	h := &handler{opt: opt, blank: New(Options{}), sessions: map[string]binding{}, requests: map[string]context.Context{}}
	common := sdk.StreamableHTTPOptions{
		// The server around checks hosts and origins.
		DisableLocalhostProtection: true, MaxRequestBodyBytes: maxBody, SessionTimeout: idleTimeout, PropagateRequestCancellation: true,
	}
	h.tools = New(Options{
		Open: func(ctx context.Context, _ []string) (*Memory, error) {
			agent, _ := ctx.Value(agentKey{}).(string) // none means the only one that the client may reach
			return h.memoryOf(agent), nil
		},
		Version: opt.Version, shared: true, around: h.onBehalf,
	})
	h.lasting = sdk.NewStreamableHTTPHandler(h.serverOf, &common)
	alone := common
	alone.Stateless = true
	h.single = sdk.NewStreamableHTTPHandler(h.serverOf, &alone)
	return h
}

// serverKey and agentKey are the keys of the server and the agent of a request in its context.
type serverKey struct{}
type agentKey struct{}

// memoryOf returns the memory of an agent.
func (h *handler) memoryOf(agent string) *Memory {
	return &Memory{Conn: h.opt.Conn, Agent: agent}
}

// serverOf returns the server that serves a request.
func (h *handler) serverOf(r *http.Request) *sdk.Server {
	if s, ok := r.Context().Value(serverKey{}).(*sdk.Server); ok {
		return s
	}
	return h.blank
}

// ServeHTTP serves one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := checkBatch(r); err != nil {
		refuse(w, err)
		return
	}
	b := binding{credentialOf(r), r.PathValue("agent")}
	id := r.Header.Get(sessionHeader)
	isSingle := r.Header.Get(versionHeader) >= withoutSessions
	switch {
	case isSingle && r.Header.Get(methodHeader) == "tools/call":
		ctx := context.WithValue(context.WithValue(r.Context(), agentKey{}, b.agent), serverKey{}, h.tools)
		h.serve(h.single, w, r.WithContext(ctx))
	case isSingle || id == "" && r.Method == http.MethodPost:
		h.serveFirst(w, r, b, isSingle)
	case id != "" && !h.belongs(id, b):
		refuse(w, status.Error(codes.NotFound, "session not found: it has ended, or was opened by another client; send initialize again"))
	default:
		h.serve(h.lasting, w, r)
	}
}

// serveFirst serves a request outside of a session, which may open one.
func (h *handler) serveFirst(w http.ResponseWriter, r *http.Request, b binding, isSingle bool) {
	agent, err := choose(r.Context(), h.opt.Conn, b.agent)
	if err != nil {
		refuse(w, err)
		return
	}
	m := h.memoryOf(agent)
	opt := Options{
		Open:    func(context.Context, []string) (*Memory, error) { return m, nil },
		Version: h.opt.Version, around: h.onBehalf,
	}
	if isSingle {
		ctx, end := context.WithCancel(r.Context())
		defer end()
		opt.brief = end
		h.serve(h.single, w, r.WithContext(context.WithValue(ctx, serverKey{}, New(opt))))
		return
	}
	id, ok := h.begin(b)
	if !ok {
		refuse(w, errTooManySessions())
		return
	}
	var opened atomic.Bool
	opt.sessionID = func() string { return id }
	opt.around = func(next sdk.MethodHandler) sdk.MethodHandler {
		return h.onBehalf(func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			result, err := next(ctx, method, req)
			if client, ok := req.GetSession().(*sdk.ServerSession); ok && err == nil && method == "initialize" {
				opened.Store(true)
				go func() {
					_ = client.Wait() // however it ends
					h.end(id)
				}()
			}
			return result, err
		})
	}
	h.serve(h.lasting, w, r.WithContext(context.WithValue(r.Context(), serverKey{}, New(opt))))
	if !opened.Load() {
		h.end(id)
	}
}

// serve serves a request in whose context the calls of its messages are made.
func (h *handler) serve(by *sdk.StreamableHTTPHandler, w http.ResponseWriter, r *http.Request) {
	key := rand.Text()
	h.mu.Lock()
	h.requests[key] = r.Context()
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.requests, key)
	}()
	r.Header.Set(contextHeader, key)
	by.ServeHTTP(w, r)
}

// onBehalf is the middleware that gives a message the values of the HTTP request that carried it: who calls, and the request id.
func (h *handler) onBehalf(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if extra := req.GetExtra(); extra != nil {
			h.mu.Lock()
			request := h.requests[extra.Header.Get(contextHeader)]
			h.mu.Unlock()
			if request != nil {
				ctx = messageContext{ctx, request}
			}
		}
		return next(ctx, method, req)
	}
}

// messageContext is the context of a message with the values of the HTTP request that carried it.
type messageContext struct {
	context.Context
	request context.Context
}

// Value returns a value of the request or, if it has none, of the session.
func (c messageContext) Value(key any) any {
	if v := c.request.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// begin counts a session and returns its id, or false if its client has too many.
func (h *handler) begin(b binding) (id string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	open := 0
	for _, other := range h.sessions {
		if other.credential == b.credential {
			open++
		}
	}
	if open >= maxSessions {
		return "", false
	}
	id = rand.Text()
	h.sessions[id] = b
	return id, true
}

// end forgets a session.
func (h *handler) end(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, id)
}

// belongs reports whether a session was opened with this credential, for this agent.
func (h *handler) belongs(id string, b binding) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	owner, ok := h.sessions[id]
	return ok && owner == b
}

// credentialOf returns a hash of what a request proves its caller with: token and certificate. The server around makes a token in
// a cookie one of the header.
func credentialOf(r *http.Request) [sha256.Size]byte {
	sum := sha256.New()
	for _, value := range r.Header.Values("Authorization") {
		fmt.Fprintf(sum, "%d %s", len(value), value)
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		sum.Write(r.TLS.PeerCertificates[0].Raw)
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

// choose returns the agent that a client means: the named one if it may reach it, else the only one that it may reach.
func choose(ctx context.Context, conn http.RoundTripper, named string) (string, error) {
	all, err := server.Notes.Agents.Call(ctx, conn, server.None{})
	if err != nil {
		return "", err
	}
	var ids []string
	for _, a := range all {
		if a.ID == named {
			return named, nil
		}
		ids = append(ids, a.ID)
	}
	switch {
	case named != "":
		return "", status.Error(codes.NotFound, "no such agent, or none that this client may reach; the path is /mcp/AGENT")
	case len(ids) == 0:
		return "", status.Error(codes.PermissionDenied, "this client may reach no agent")
	case len(ids) > 1:
		return "", status.Error(codes.InvalidArgument, "this client may reach several agents; name one in the path: /mcp/"+strings.Join(ids, ", /mcp/"))
	}
	return ids[0], nil
}
