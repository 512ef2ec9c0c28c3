package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"kioku"
	"kioku/indexer"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// Memory is one agent's memory as the server needs it; *kioku.Memory is one.
type Memory interface {
	Workspace() string
	Search(ctx context.Context, q memory.Query) (memory.Answer, error)
	Explain(ctx context.Context, q memory.Query, path string, line int) (memory.Explanation, error)
	State(ctx context.Context) (memory.IndexState, error)
	Get(ctx context.Context, req memory.GetRequest) (memory.Excerpt, error)
	Append(ctx context.Context, note memory.Note) (memory.Appended, error)
	Sync(ctx context.Context, opt kioku.SyncOptions, step func(indexer.Progress)) (kioku.SyncReport, error)
	Rebuild(ctx context.Context, step func(indexer.Progress)) (kioku.SyncReport, error)
	Status(ctx context.Context) (kioku.Status, error)
	Subscribe(ctx context.Context) <-chan kioku.Event
}

// Options says what to serve and within which bounds.
type Options struct {
	// Agents are the memories by agent id, none for a server of sidecars alone. The server does not close them.
	Agents map[string]Memory
	// Tokens that calls over TCP must carry; nil lets every process of this machine in, and ListenTCP keeps
	// the others out.
	Tokens *Tokens
	// Version of the program, as Status reports it.
	Version string
	// Location decides on which day the ask_time of a request falls; nil means time.Local.
	Location *time.Location

	// SearchTimeout is the deadline of a unary call whose caller sets none; 0 means 10 s.
	SearchTimeout time.Duration
	// CompactTimeout takes the place of SearchTimeout for Compact, which waits for a model; 0 means 10 minutes.
	CompactTimeout time.Duration
	// Grace is how long running calls may go on after Serve was told to end; 0 means 10 s.
	Grace time.Duration
	// MaxStreams is the most calls at a time on one connection; 0 means 128.
	MaxStreams uint32

	// Log receives what no caller is told; nil discards it. Texts of notes and tokens are never logged.
	Log *slog.Logger
}

// Server serves the memories of some agents, and what runs beside them.
type Server struct {
	opt    Options
	health *health.Server
	// sidecars by agent id; they do not change once anyone is served.
	sidecars map[string]Sidecar

	// stopping is closed, once, when the server begins to end.
	stopping chan struct{}
	stopOnce sync.Once
}

// New returns a server of memories. It returns an error where the id of an agent is none. [Server.Beside] adds sidecars.
func New(opt Options) (*Server, error) {
	if err := checkAgents(opt.Agents); err != nil {
		return nil, err
	}
	if opt.SearchTimeout == 0 {
		opt.SearchTimeout = 10 * time.Second
	}
	if opt.CompactTimeout == 0 {
		opt.CompactTimeout = 10 * time.Minute
	}
	if opt.Grace == 0 {
		opt.Grace = 10 * time.Second
	}
	if opt.MaxStreams == 0 {
		opt.MaxStreams = 128
	}
	if opt.Location == nil {
		opt.Location = time.Local
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		opt:      opt,
		health:   health.NewServer(),
		stopping: make(chan struct{}),
	}
	if len(opt.Agents) > 0 {
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

// Serve answers on the listeners until ctx is done, and closes them. Then health tells NOT_SERVING, streams end,
// and running calls may go on for Options.Grace before they are cut off. It returns nil after such an end, and an
// error where a listener fails or must not be served, or there is neither a memory nor a sidecar. A server that has ended
// does not serve again.
func (s *Server) Serve(ctx context.Context, listeners ...Listener) error {
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	if len(s.opt.Agents) == 0 && len(s.sidecars) == 0 {
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
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range listeners {
		g := s.newGRPC(l)
		group.Go(func() error {
			if err := g.Serve(l.accepting(s.opt.Log)); err != nil && ctx.Err() == nil {
				return fmt.Errorf("serve %s: %w", l.Addr(), err)
			}
			return nil
		})
		group.Go(func() error {
			<-ctx.Done()
			s.stop()
			s.drain(g)
			return nil
		})
	}
	return group.Wait()
}

// stop tells health checks and streams that the end has come.
func (s *Server) stop() {
	s.stopOnce.Do(func() {
		s.health.Shutdown()
		close(s.stopping)
	})
}

// drain lets the running calls of g end, for the time of grace.
func (s *Server) drain(g *grpc.Server) {
	drained := make(chan struct{})
	go func() {
		g.GracefulStop()
		close(drained)
	}()
	timer := time.NewTimer(s.opt.Grace)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C:
		s.opt.Log.Warn("cutting off calls that outlasted the grace", "grace", s.opt.Grace)
		g.Stop()
	}
}
