package speed

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	kiokuv1 "kioku/proto/kioku/v1"
	"kioku/search"
	"kioku/server"
)

const (
	// fairChunks is the number of chunks that are searched.
	fairChunks = 20_000
	// greedySearches is how many searches one client has under way at all times, each with greedyQuestions in one query.
	greedySearches, greedyQuestions = 1000, 8
	// fairQuestions is how many the other client asks one after the other in each of fairRounds, without the first and with it.
	fairQuestions, fairRounds = 60, 8
)

// searchBesideGreedy measures how long the slowest searches of a client take while another client has greedySearches heavy
// ones under way, and without it.
func searchBesideGreedy(ctx context.Context, e *Env) (ours, yardstick float64, err error) {
	m, err := indexLogs(ctx, filepath.Join(e.Dir, "workspace"), filepath.Join(e.Dir, "state"), fairChunks, 0)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	m.Configure(search.Options{Admit: server.NewSearches(server.Limits{}).Admit})
	s, err := server.New(server.Options{Agents: map[string]server.Memory{m.Agent(): m}})
	if err != nil {
		return 0, 0, err
	}
	lis, err := server.ListenTCP("127.0.0.1:0", server.TCPOptions{}) // where connections take turns
	if err != nil {
		return 0, 0, err
	}
	serving, end := context.WithCancel(ctx)
	stop := background(func() error { return s.Serve(serving, lis) }, func() error { end(); return nil })
	defer func() { err = errors.Join(err, stop()) }()
	address := lis.Addr().String()
	var alone, beside times
	for round := range fairRounds {
		e.Step(round, fairRounds)
		if err := askInTurn(ctx, address, m.Agent(), &alone); err != nil {
			return 0, 0, err
		}
		greedy, stopGreedy := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- searchGreedily(greedy, address, m.Agent()) }()
		err := askInTurn(ctx, address, m.Agent(), &beside)
		stopGreedy()
		if err = errors.Join(err, <-ended); err != nil {
			return 0, 0, err
		}
	}
	return beside.percentile(99), alone.percentile(99), nil
}

// askInTurn asks fairQuestions through a connection of its own, one after the other.
func askInTurn(ctx context.Context, address, agent string, t *times) error {
	conn, client, err := dial(address)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, q := range questions(fairQuestions) {
		err := t.measure(func() error {
			_, err := client.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: agent, Query: q})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// searchGreedily keeps greedySearches under way through one connection until ctx is done. It returns the first error that is
// not that of a limit.
func searchGreedily(ctx context.Context, address, agent string) error {
	conn, client, err := dial(address)
	if err != nil {
		return err
	}
	defer conn.Close()
	list := questions(greedyQuestions * 50)
	errs := make([]error, greedySearches)
	var running sync.WaitGroup
	for i := range greedySearches {
		running.Go(func() {
			from := i % 50 * greedyQuestions
			heavy := strings.Join(list[from:from+greedyQuestions], " ")
			for ctx.Err() == nil && errs[i] == nil {
				_, err := client.MemorySearch(ctx, &kiokuv1.MemorySearchRequest{Agent: agent, Query: heavy})
				switch status.Code(err) {
				case codes.OK, codes.ResourceExhausted, codes.Canceled, codes.DeadlineExceeded:
				default:
					errs[i] = err
				}
			}
		})
	}
	running.Wait()
	return errors.Join(errs...)
}
