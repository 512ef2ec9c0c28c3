package speed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"kioku"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/server"
)

const (
	// grpcLimit is how many milliseconds a search may take longer over a socket than in the process.
	grpcLimit = 0.15
	// grpcChunks is how many chunks are searched: few, so that the searches themselves drown little.
	grpcChunks = 1000
	// grpcQuestions are asked grpcRounds times both ways.
	grpcQuestions, grpcRounds = 40, 25
	// callTimeout is how long a call may take, as callers set it.
	callTimeout = 10 * time.Second
)

// serveBenches measure what it costs to have Kioku as a daemon.
func serveBenches() []Bench {
	return []Bench{
		{Name: "grpc search overhead p50", Unit: "ms", Goal: 1, Run: benchGRPC},
		{Name: "daemon memory", Unit: "MB", Goal: 1.3, Sized: true, Run: benchMemory},
		{Name: "memory while indexing", Unit: "MB", Goal: 1, Run: benchIndexMemory},
	}
}

// benchGRPC measures how much longer a search takes through the socket of a server than in the process.
func benchGRPC(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	m, err := e.index(ctx, grpcChunks, 0)
	if err != nil {
		return 0, 0, err
	}
	client, end, err := serveMemory(ctx, m, e.Dir)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, end()) }()
	over, within, err := askBothWays(ctx, m, client, e.Step)
	return over - within, grpcLimit, err
}

// serveMemory serves a memory on a unix socket in dir until the returned function is called.
func serveMemory(ctx context.Context, m *kioku.Memory, dir string) (kiokuv1.MemoryServiceClient, func() error, error) {
	s, err := server.New(server.Options{Agents: map[string]server.Memory{m.Agent(): m}})
	if err != nil {
		return nil, nil, err
	}
	lis, err := server.ListenUnix(server.SocketPath(dir))
	if err != nil {
		return nil, nil, err
	}
	conn, err := grpc.NewClient("unix:"+lis.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, nil, errors.Join(err, lis.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, lis) }()
	return kiokuv1.NewMemoryServiceClient(conn), func() error {
		err := conn.Close()
		cancel()
		return errors.Join(err, <-served)
	}, nil
}

// askBothWays asks the same questions through a client and in the process, in turn and each way first as often as the
// other, and returns the medians of the times in milliseconds.
func askBothWays(ctx context.Context, m *kioku.Memory, c kiokuv1.MemoryServiceClient, step func(done, total int)) (over, within float64, err error) {
	ways := [2]func(context.Context, string) error{
		func(ctx context.Context, q string) error {
			_, err := c.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: m.Agent(), Query: q})
			return err
		},
		func(ctx context.Context, q string) error {
			_, err := m.Search(ctx, memory.Query{Text: q})
			return err
		},
	}
	var times [2][]time.Duration
	asked := questions(grpcQuestions)
	for round := range grpcRounds {
		step(round, grpcRounds)
		for i, q := range asked {
			for _, way := range [2]int{(i + round) % 2, (i + round + 1) % 2} {
				took, err := timed(func() error { return withDeadline(ctx, q, ways[way]) })
				if err != nil {
					return 0, 0, fmt.Errorf("ask %q: %w", q, err)
				}
				times[way] = append(times[way], took)
			}
		}
	}
	// What the first rounds alone pay, connecting and warming up, is left out.
	warm := 2 * grpcQuestions
	return median(slices.Clone(times[0][warm:])), median(slices.Clone(times[1][warm:])), nil
}

// withDeadline asks one question with the deadline that callers set.
func withDeadline(ctx context.Context, q string, ask func(context.Context, string) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return ask(ctx, q)
}
