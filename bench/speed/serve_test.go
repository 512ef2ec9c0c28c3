package speed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"

	"kioku"
	"kioku/client"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
	"kioku/server/front"
)

const (
	// grpcLimit is how many milliseconds a search may take longer through a socket than in the process.
	grpcLimit = 0.15
	// grpcChunks is the number of chunks that are searched: few, so that the overhead shows beside the search.
	grpcChunks = 1000
	// grpcQuestions are asked in both ways grpcRounds times, of which the first grpcWarmup do not count.
	grpcQuestions, grpcRounds, grpcWarmup = 40, 25, 2

	// daemonBase is how many MB a daemon may take besides the vectors and the caches.
	daemonBase = 60
	// pageCaches is how many MB of SQLite's pages a daemon caches that only reads: 2,000 KiB in each of the two
	// connections of a search.
	pageCaches = 2 * 2_000 * 1024 / 1e6
	// daemonQuestions are asked while the memory of a daemon is watched.
	daemonQuestions = 50
	// indexingLimit is how many MB a daemon may take while it indexes 20 MB of text in indexingChunks chunks.
	indexingLimit, indexingChunks = 200, 20_000
)

// way asks a question in one way.
type way func(ctx context.Context, question string) error

// grpcOverhead measures how much longer a search takes through the socket of a server than in the process.
func grpcOverhead(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	m, err := e.fixtures.index(ctx, grpcChunks, 0)
	if err != nil {
		return 0, 0, err
	}
	s, err := serveMemory(ctx, m, e.Dir)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	ours, err = e.overhead(ctx, s.askGRPC, func(ctx context.Context, q string) error {
		_, err := m.Search(ctx, memory.Query{Text: q})
		return err
	})
	return ours, grpcLimit, err
}

// overhead returns how many milliseconds more a search takes in one way than in another, at the median. The same questions are
// asked in both ways in turn, and each way is first equally often.
func (e *Env) overhead(ctx context.Context, one, other way) (float64, error) {
	var measured [2]times
	for round := range grpcRounds {
		e.Step(round, grpcRounds)
		if round == grpcWarmup {
			measured = [2]times{}
		}
		for i, q := range questions(grpcQuestions) {
			for turn := range 2 {
				way := (i + round + turn) % 2
				ctx, cancel := context.WithTimeout(ctx, callTimeout)
				err := measured[way].measure(func() error { return [2]func(context.Context, string) error{one, other}[way](ctx, q) })
				cancel()
				if err != nil {
					return 0, fmt.Errorf("ask %q: %w", q, err)
				}
			}
		}
	}
	return measured[0].median() - measured[1].median(), nil
}

// served is a memory that is served on a unix socket.
type served struct {
	client kiokuv1.MemoryServiceClient
	agent  string
	// http reaches the doors over HTTP, whatever the host of a URL.
	http *http.Client
	stop func() error
}

// serveMemory serves a memory on a unix socket in dir, over gRPC and HTTP, until stop is called.
func serveMemory(ctx context.Context, m *kioku.Memory, dir string) (*served, error) {
	s, err := server.New(server.Options{Agents: map[string]server.Memory{m.Agent(): m}})
	if err != nil {
		return nil, err
	}
	s.HandleHTTP(front.New(front.Options{Operations: s.HandleOperations}))
	lis, err := server.ListenUnix(server.SocketPath(dir))
	if err != nil {
		return nil, err
	}
	socket := lis.Addr().String()
	conn, c, err := dial("unix:" + socket)
	if err != nil {
		return nil, errors.Join(err, lis.Close())
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}
	ctx, cancel := context.WithCancel(ctx)
	return &served{client: c, agent: m.Agent(), http: &http.Client{Transport: transport},
		stop: background(func() error { return s.Serve(ctx, lis) }, func() error {
			defer cancel()
			transport.CloseIdleConnections()
			return conn.Close()
		})}, nil
}

// askGRPC asks a question over gRPC.
func (s *served) askGRPC(ctx context.Context, q string) error {
	_, err := s.client.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: s.agent, Query: q})
	return err
}

// daemonMemory measures how much memory a daemon takes that opens an index with vectors and answers questions.
func daemonMemory(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	p := provider{vectorDims}
	base, stop, err := p.serve()
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	workspace, state := filepath.Join(e.Dir, "ws"), filepath.Join(e.Dir, "state")
	vectors, err := indexForDaemon(ctx, workspace, state, e.Size, p, base)
	if err != nil {
		return 0, 0, fmt.Errorf("make the index: %w", err)
	}
	ours, cached, err := e.peakOf(ctx, workspace, state, "--provider", "openai", "--model", model, "--base-url", base,
		"--dims", strconv.Itoa(vectorDims))
	if err == nil && cached < int64(vectors)*vectorDims*4 {
		err = fmt.Errorf("the daemon caches %d bytes of %d vectors", cached, vectors)
	}
	return ours, float64(cached)/1e6 + daemonBase + pageCaches, err
}

// indexForDaemon indexes logs with n entries, as a daemon does that gets its vectors from the server at base, and returns
// how many vectors there are.
func indexForDaemon(ctx context.Context, workspace, state string, n int, p provider, base string) (vectors int, err error) {
	if err := writeLogs(ctx, workspace, n, logSeed); err != nil {
		return 0, err
	}
	client, err := p.client(base)
	if err != nil {
		return 0, err
	}
	m, _, err := openIndexed(ctx, kioku.Options{Workspace: workspace, StateDir: state, Embedder: client})
	if err != nil {
		return 0, err
	}
	st, err := m.Status(ctx)
	return st.Embedded, errors.Join(err, m.Close())
}

// indexingMemory measures how much memory a daemon takes while it indexes without vectors, and answers questions then.
func indexingMemory(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	workspace := filepath.Join(e.Dir, "ws")
	if err := writeLogs(ctx, workspace, indexingChunks, logSeed); err != nil {
		return 0, 0, fmt.Errorf("make the workspace: %w", err)
	}
	ours, _, err = e.peakOf(ctx, workspace, filepath.Join(e.Dir, "state"))
	return ours, indexingLimit, err
}

// peakOf returns the most memory in MB that a daemon takes from its start until it has answered daemonQuestions, and how
// many bytes of vectors it caches then.
func (e *Env) peakOf(ctx context.Context, workspace, state string, args ...string) (mb float64, cached int64, err error) {
	d, err := e.startDaemon(ctx, workspace, state, args...)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.search(ctx, daemonQuestions, e.Step); err != nil {
		return 0, 0, err
	}
	c, err := client.Dial(d.conn.Target(), client.Options{})
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	st, err := server.Notes.Status.Call(ctx, c.Conn, server.OfAgent{})
	if err != nil {
		return 0, 0, fmt.Errorf("ask the daemon what it caches: %w", err)
	}
	return d.peak, st.Sizes.Resident, nil
}
