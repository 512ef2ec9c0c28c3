package server

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/server/httpapi"
	"kioku/server/op"
)

// Operations describes what a server can do. They are called over a connection; their Do is of no server.
func Operations() []op.Any { return (*Server)(nil).operations() }

// operations returns what the server can do.
func (s *Server) operations() []op.Any {
	memories := slices.Concat(opsOf(memoryOps(s)), opsOf(historyOps(s)), opsOf(deriveOps(s)))
	if s != nil && (s.opt.Memory != nil || s.opt.Cluster != nil) {
		forward := s.forwardOfSidecars()
		if s.opt.Cluster != nil {
			forward = s.forwardInCluster()
		}
		for i, o := range memories {
			if o.About().Right == "" {
				continue // it is about no agent, and asks the other server itself
			}
			memories[i] = o.Via(forward)
		}
	}
	return slices.Concat(memories, opsOf(agentOps(s)), opsOf(councilOps(s)))
}

// HandleOperations adds the routes of operations to a mux. Their callers are the clients of the HTTP requests, and have the same rights
// and limits as over gRPC.
func (s *Server) HandleOperations(mux *http.ServeMux) {
	refuse := func(w http.ResponseWriter, r *http.Request, err error) {
		httpapi.WriteError(w, s.status(r.Context(), r.Pattern, err))
	}
	op.Handler(mux, func(w http.ResponseWriter, r *http.Request, a op.About, in any, run func(context.Context) error) {
		if err := s.serveOperation(r, a, in, run); err != nil {
			httpapi.WriteError(w, err)
		}
	}, refuse, s.operations()...)
	op.AddDocument(mux, "Kioku", s.opt.Version, s.operations()...)
}

// serveOperation serves a call of an operation for the client of an HTTP request.
func (s *Server) serveOperation(r *http.Request, a op.About, in any, run func(context.Context) error) error {
	from, err := httpOrigin(r.Context())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	c := &call{origin: from, method: a.Name, stream: a.Stream, cancel: cancel, agent: agentOf(in)}
	if !a.Stream {
		most, err := s.patience(r, a.Name)
		if err != nil {
			return err
		}
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, most)
		defer end()
	}
	return s.serveCall(withCall(ctx, c), c, func(ctx context.Context) error {
		c.grant.Shrink(c.leastBytes()) // its body was counted when it was read
		return run(op.WithErrors(ctx, func(ctx context.Context, err error) error { return s.status(ctx, a.Name, err) }))
	})
}

// timeoutUnits are the units of the header.
var timeoutUnits = map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': 1}

// patience returns how long a call may take: what its caller says, else what is usual.
func (s *Server) patience(r *http.Request, name string) (time.Duration, error) {
	said := r.Header.Get(op.TimeoutHeader)
	if said == "" {
		return s.timeout(name), nil
	}
	n, unit := 0, timeoutUnits[said[len(said)-1]]
	for _, digit := range said[:len(said)-1] {
		if n = 10*n + int(digit-'0'); digit < '0' || digit > '9' || n > 99_999_999 {
			unit = 0
		}
	}
	if unit == 0 || len(said) == 1 {
		return 0, status.Errorf(codes.InvalidArgument, "%s: %q is no time; send one such as 30S", op.TimeoutHeader, clip(said, 40))
	}
	return time.Duration(n) * unit, nil
}

// LocalOperations reaches the operations of this process with every right, without a socket.
func (s *Server) LocalOperations() http.RoundTripper {
	mux := http.NewServeMux()
	fail := func(w http.ResponseWriter, r *http.Request, err error) {
		httpapi.WriteError(w, s.ownStatus(r.Context(), r.Pattern, err))
	}
	op.Handler(mux, func(w http.ResponseWriter, r *http.Request, a op.About, _ any, run func(context.Context) error) {
		ctx := op.WithErrors(withCall(r.Context(), &call{caller: owner}), func(ctx context.Context, err error) error { return s.ownStatus(ctx, a.Name, err) })
		if !a.Stream {
			most, err := s.patience(r, a.Name)
			if err != nil {
				fail(w, r, err)
				return
			}
			var end context.CancelFunc
			ctx, end = context.WithTimeout(ctx, most)
			defer end()
		}
		if err := run(ctx); err != nil {
			fail(w, r.WithContext(ctx), err)
		}
	}, fail, s.operations()...)
	return op.Local{Handler: mux}
}

// RightWrite is the right of operations that write to the memory of an agent, and rightAgent that of others.
const (
	rightAgent = "agent"
	RightWrite = "agent:write"
)

// NoteOperations describes the operations on notes and their index.
func NoteOperations() []op.Any { return opsOf(Notes) }

// opsOf returns the operations that a struct has.
func opsOf(table any) (list []op.Any) {
	v := reflect.ValueOf(table)
	for i := range v.NumField() {
		list = append(list, v.Field(i).Interface().(op.Any))
	}
	return list
}
