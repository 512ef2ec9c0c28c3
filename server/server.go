package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"kioku"
	"kioku/indexer"
	"kioku/internal/modelhttp"
	"kioku/internal/trace"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server/fair"
	"kioku/vectors"
)

// Memory is one agent's memory as the server needs it; *kioku.Memory is one.
type Memory interface {
	Workspace() string
	Search(ctx context.Context, q memory.Query) (memory.Answer, error)
	Explain(ctx context.Context, q memory.Query, path string, line int) (memory.Explanation, error)
	IndexStats(ctx context.Context) (memory.IndexStats, error)
	Get(ctx context.Context, req memory.GetRequest) (memory.Excerpt, error)
	Files(ctx context.Context, q memory.FileQuery) (memory.FileList, error)
	Links(ctx context.Context, file string) (memory.Links, error)
	Map(ctx context.Context, q memory.MapQuery) (memory.Map, error)
	Activity(ctx context.Context, since, until string) (memory.Activity, error)
	Chunks(ctx context.Context, file string) (memory.Chunks, error)
	Append(ctx context.Context, note memory.Note) (memory.Appended, error)
	Update(ctx context.Context, u memory.Update) (memory.Updated, error)
	Undo(ctx context.Context, revision string) (memory.Updated, error)
	Forget(ctx context.Context, r memory.Forget) (memory.Forgotten, error)
	Tidy(ctx context.Context, accept []string) (memory.Tidied, error)
	Revisions(ctx context.Context) ([]memory.Revision, error)
	Sync(ctx context.Context, opt kioku.SyncOptions, step func(indexer.Progress)) (kioku.SyncReport, error)
	Rebuild(ctx context.Context, step func(indexer.Progress)) (kioku.SyncReport, error)
	Status(ctx context.Context) (kioku.Status, error)
	Estimate(ctx context.Context) (vectors.Estimate, error)
	Subscribe(ctx context.Context) <-chan kioku.Event
	History
}

// History is what a memory knows of its notes as they were.
type History interface {
	Log(ctx context.Context, q memory.LogQuery) ([]memory.FileChange, error)
	Show(ctx context.Context, path string, at memory.Moment, ceiling *memory.Sensitivity) (memory.PastFile, error)
	Diff(ctx context.Context, q memory.DiffQuery) (memory.Diff, error)
	SearchPast(ctx context.Context, q memory.Query, at memory.Moment) (memory.PastAnswer, error)
	UndoWrites(ctx context.Context, u memory.UndoWrites) (memory.UndoneWrites, error)
	PurgeHistory(ctx context.Context, path string) (memory.Purged, error)
}

// Options are the memories that a server serves, and its limits.
type Options struct {
	// Agents are the memories by agent id; none for a server of sidecars only. The server does not close them.
	Agents map[string]Memory
	// Derivers keep what is derived, by agent id. For an agent without one, derivation is off.
	Derivers map[string]Deriver
	// Council is served beside the memories; nil for none. The server does not close it.
	Council *CouncilOptions
	// Cluster has the memories of further agents; nil for none.
	Cluster Cluster
	// PeerSecret is a token by which other nodes of the cluster do what their callers may; empty for none.
	PeerSecret string
	// Memory reaches another server, by which a server of sidecars has all operations on the memories of its agents done; nil for a server
	// that has the memories.
	Memory http.RoundTripper
	// Tokens that calls over TCP must carry; nil admits every process of this machine, and ListenTCP refuses other
	// machines.
	Tokens *Tokens
	// Version of the program, as Status reports it.
	Version string
	// Network is what the process sends through to other machines, as Status reports it; nil reports nothing.
	Network *modelhttp.Network
	// Location decides on which day the ask_time of a request falls; nil means time.Local.
	Location *time.Location

	// SearchTimeout is the deadline of a unary call without one; 0 means 10 s.
	SearchTimeout time.Duration
	// Grace is the time for running calls to finish after the context of Serve is done; 0 means 10 s.
	Grace time.Duration
	// Hosts are the names for which HTTP is answered beside localhost, addresses, and the names of a certificate: those under
	// which a proxy or other machines reach the server. A name may have a port.
	Hosts []string
	// Origins are the web sites, such as https://example.org, whose pages may send requests over HTTP.
	Origins []string
	// Limits bound the calls and connections of all clients.
	Limits Limits

	// Observers are told of all calls; nil tells nobody.
	Observers []Observer
	// Audit records all calls; nil records none.
	Audit Auditor
	// Tracer begins the traces of calls; nil begins none.
	Tracer *trace.Tracer
	// Log receives the causes that callers do not see; nil discards them. Texts of notes and tokens are never logged.
	Log *slog.Logger
}

// Server serves the memories of agents, and their sidecars.
type Server struct {
	opt    Options
	health *health.Server
	// http answers requests over HTTP; nil before it serves means the operations.
	http http.Handler
	// sidecars by agent id; they do not change once the server serves.
	sidecars byAgent[Sidecar]
	// memories are those of the options, and of the cluster if there is one.
	memories among[Memory]

	// known are the messages of sessions that calls name by their ids.
	known knownMessages

	running     runningCalls
	slow        slowCalls
	connections connections
	// queue of the bytes in flight, but for those of calls without the token that other calls need, which have anonymousQueue.
	queue, anonymousQueue *fair.Queue
	// bodies and anonymousBodies are such queues of the bodies of requests over HTTP.
	bodies, anonymousBodies *fair.Queue
	// responses and anonymousResponses are queues of the large responses over HTTP that wait for their readers.
	responses, anonymousResponses *fair.Queue
	// rates limits how many calls a client makes, and guesses how many wrong tokens a machine sends.
	rates     *rates
	guesses   *rates
	readiness readiness
	// beginTimeout is the time for a client to agree on TLS, and then for the header of a request; tests shorten it.
	beginTimeout time.Duration
	// receiveTimeout is the time for a request to arrive after the first of its bytes is wanted; tests shorten it.
	receiveTimeout time.Duration
	// sendTimeout is the time for a client to make room for the next message of a stream; tests shorten it.
	sendTimeout time.Duration
}

// New returns a server of memories. It returns an error if an id is not an agent's. [Server.AddSidecars] adds sidecars.
func New(opt Options) (*Server, error) {
	if err := checkAgents(opt.Agents); err != nil {
		return nil, err
	}
	for _, o := range opt.Origins {
		if err := CheckOrigin(o); err != nil {
			return nil, err
		}
	}
	opt.SearchTimeout = cmp.Or(opt.SearchTimeout, 10*time.Second)
	opt.Grace = cmp.Or(opt.Grace, 10*time.Second)
	opt.Location = cmp.Or(opt.Location, time.Local)
	opt.Log = cmp.Or(opt.Log, slog.New(slog.DiscardHandler))
	opt.Limits = opt.Limits.withDefaults()
	s := &Server{
		opt:             opt,
		health:          health.NewServer(),
		connections:     connections{limit: opt.Limits.Connections, log: opt.Log},
		queue:           newCallQueue(opt.Limits),
		anonymousQueue:  newAnonymousQueue(opt.Limits),
		bodies:          newCallQueue(opt.Limits),
		anonymousBodies: newAnonymousQueue(opt.Limits),

		responses:          newCallQueue(opt.Limits.forResponses()),
		anonymousResponses: newAnonymousQueue(opt.Limits.forResponses()),

		rates:          &rates{limit: rate.Limit(opt.Limits.RequestsPerSecond), burst: opt.Limits.Burst},
		guesses:        newGuesses(),
		beginTimeout:   10 * time.Second,
		receiveTimeout: 30 * time.Second,
		sendTimeout:    30 * time.Second,
	}
	s.memories = byAgent[Memory](opt.Agents)
	if opt.Cluster != nil {
		s.memories = clustered{byAgent[Memory](opt.Agents), opt.Cluster}
	}
	if len(opt.Agents) > 0 || opt.Memory != nil || opt.Cluster != nil {
		s.health.SetServingStatus(kiokuv1.MemoryService_ServiceDesc.ServiceName, healthpb.HealthCheckResponse_SERVING)
	}
	return s, nil
}

// checkAgents returns an error for an id that no agent can have.
func checkAgents[T any](of map[string]T) error {
	for id := range of {
		if err := kioku.CheckAgent(id); err != nil {
			return fmt.Errorf("%q: %w", id, err)
		}
	}
	return nil
}

// Serve serves on the listeners until ctx is done, and closes them. Then health reports NOT_SERVING, streams end, and
// running calls have Options.Grace to finish. It returns nil after that, and an error if a listener fails or must not be
// served, or if there is neither a memory nor a sidecar. A server that has ended does not serve again.
func (s *Server) Serve(ctx context.Context, listeners ...Listener) error {
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	if len(s.opt.Agents) == 0 && s.opt.Cluster == nil && len(s.sidecars) == 0 && s.opt.Council == nil {
		return errors.New("nothing to serve: no agent is configured")
	}
	if len(listeners) == 0 {
		return errors.New("nowhere to listen: no listener is configured")
	}
	for _, l := range listeners {
		if l.open && s.opt.Tokens == nil {
			return errOpenAddress(l.Addr().String())
		}
	}
	if s.http == nil {
		mux := http.NewServeMux()
		s.HandleOperations(mux)
		s.http = mux
	}
	group, ctx := errgroup.WithContext(ctx)
	web, webConns := s.newHTTP(), newHandover(listeners[0].Addr())
	group.Go(func() error { return ignore(web.Serve(webConns), http.ErrServerClosed) })
	group.Go(func() error {
		<-ctx.Done()
		s.stop()
		s.drainHTTP(web)
		return nil
	})
	for _, l := range listeners {
		g, p := s.newGRPC(l), &port{server: s, listener: l, grpc: newHandover(l.Addr()), http: webConns}
		group.Go(func() error {
			if err := p.serve(ctx); err != nil {
				return fmt.Errorf("serve %s: %w", l.Addr(), err)
			}
			return nil
		})
		group.Go(func() error { return ignore(g.Serve(p.grpc), grpc.ErrServerStopped) })
		group.Go(func() error {
			<-ctx.Done()
			s.stop()
			s.drain(g)
			return nil
		})
	}
	group.Go(func() error {
		s.keepHouse(ctx, listeners)
		s.spoolAll() // before the calls that are running end, so that little is left for the time after them
		return nil
	})
	defer s.spoolAll()
	return group.Wait()
}

// ignore returns an error unless it is the expected one.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// stop ends streams, and health checks report NOT_SERVING.
func (s *Server) stop() {
	s.health.Shutdown()
	s.running.endStreams()
}

// drain waits for the running calls of g, at most for Options.Grace.
func (s *Server) drain(g *grpc.Server) {
	cutOff := time.AfterFunc(s.opt.Grace, func() {
		s.opt.Log.Warn("cutting off calls that outlasted the grace", "grace", s.opt.Grace)
		g.Stop()
	})
	defer cutOff.Stop()
	g.GracefulStop()
}

// drainHTTP waits for the running requests of h, at most for Options.Grace.
func (s *Server) drainHTTP(h *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), s.opt.Grace)
	defer cancel()
	if h.Shutdown(ctx) != nil {
		s.opt.Log.Warn("cutting off requests that outlasted the grace", "grace", s.opt.Grace)
		h.Close()
	}
}

const (
	// maxMessage is the maximum size of a message in bytes, in either direction.
	maxMessage = 4 << 20
	// maxStreams is the maximum number of concurrent calls on one connection.
	maxStreams = 128
	// modelTimeout is the deadline of calls that wait for a model, for callers that set none.
	modelTimeout = 10 * time.Minute
)

// newGRPC returns a gRPC server for the calls that arrive on l.
func (s *Server) newGRPC(l Listener, more ...grpc.ServerOption) *grpc.Server {
	tokens := s.opt.Tokens
	if l.trusted {
		tokens = nil
	}
	opts := append([]grpc.ServerOption{
		grpc.ForceServerCodecV2(newCodec()),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxSendMsgSize(maxMessage),
		grpc.MaxHeaderListSize(maxHeader),
		// What a client sends before its call is admitted stays within this window.
		grpc.StaticStreamWindowSize(64 << 10),
		grpc.StaticConnWindowSize(1 << 20),
		grpc.ConnectionTimeout(20 * time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 2 * time.Minute, Timeout: 20 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 20 * time.Second, PermitWithoutStream: true}),
	}, more...)
	g := grpc.NewServer(opts...)
	r := registrar{to: g, server: s, originOf: grpcOrigin(tokens)}
	s.register(r)
	if !l.open {
		reflection.Register(struct {
			registrar
			reflection.ServiceInfoProvider
		}{r, g})
	}
	return g
}

// register registers the services for which there is something to serve.
func (s *Server) register(r grpc.ServiceRegistrar) {
	if len(s.opt.Agents) > 0 || s.opt.Memory != nil || s.opt.Cluster != nil {
		r.RegisterService(s.grpcService(memoryService), nil)
	}
	if len(s.sidecars) > 0 {
		r.RegisterService(s.grpcService(agentService), nil)
	}
	healthpb.RegisterHealthServer(r, s.health)
}
