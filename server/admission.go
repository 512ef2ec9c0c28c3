package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"google.golang.org/grpc/codes"

	"kioku/memory"
	"kioku/server/fair"
)

// Limits bound what a server does at the same time. What is 0 has its default. DESIGN.md explains them.
type Limits struct {
	// Searches is the number of searches that run at the same time; 0 means one for each core.
	Searches int
	// Waiting is the number of calls and of searches of one client that may wait; 0 means 256.
	Waiting int
	// Bytes is the number of bytes of all requests in flight; 0 means 128 MiB. One client may have a quarter.
	Bytes int64
	// Connections is the number of open connections; 0 means 1024. One process or machine may have a quarter.
	Connections int
	// RequestsPerSecond is how many calls a client may make in a second in the long run; 0 means 2,000.
	RequestsPerSecond int
	// Burst is how many calls a client may make at once although they are more; 0 means 10,000.
	Burst int
}

// cores is the number of cores that the process may use. A program may run more threads later.
var cores = runtime.GOMAXPROCS(0)

// withDefaults fills in what is not set.
func (l Limits) withDefaults() Limits {
	return Limits{
		Searches: cmp.Or(l.Searches, cores), Waiting: cmp.Or(l.Waiting, 256), Bytes: cmp.Or(l.Bytes, 128<<20), Connections: cmp.Or(l.Connections, 1024),
		RequestsPerSecond: cmp.Or(l.RequestsPerSecond, 2000), Burst: cmp.Or(l.Burst, 10_000),
	}
}

// maxHeldResponses is how many large responses of a client may wait in memory for room among those that are being sent.
const maxHeldResponses = 16

// forResponses returns the limits of large responses over HTTP. Those that wait are in memory already, so only few may.
func (l Limits) forResponses() Limits {
	l.Waiting = min(l.Waiting, maxHeldResponses)
	return l
}

const (
	// callBytes is what a call takes of Limits.Bytes at least: its buffers and goroutines. streamBytes is that of a stream, for
	// which gRPC queues messages until they are read.
	callBytes, streamBytes = 64 << 10, 256 << 10
	// retryPause is the pause that a refused client is told to make.
	retryPause = time.Second
)

// Searches lets a bounded number of searches run at the same time, and clients take turns.
type Searches struct {
	// Waited is told how long each search waited for its turn, or was refused after; nil tells nobody. It must not block, and be
	// set before the first search.
	Waited func(waited time.Duration, refused bool)

	queue *fair.Queue
}

// recentSearch is how long a client that has searched finds a core free for its next search.
const recentSearch = time.Second

// NewSearches returns the searches of a process within limits.
func NewSearches(limits Limits) *Searches {
	limits = limits.withDefaults()
	parallel := int64(limits.Searches)
	reserve := (parallel + 1) / 2
	return &Searches{queue: fair.New(fair.Limits{Capacity: parallel, Share: parallel + reserve, Reserve: reserve, Waiting: limits.Waiting, Recent: recentSearch})}
}

// Admit waits until a search of the call that ctx belongs to may run, and returns a function that ends it. It returns
// memory.ErrBusy if too many searches of this client wait, and the error of ctx. It is made for kioku.Options.Search.Admit.
func (s *Searches) Admit(ctx context.Context) (done func(), err error) {
	client, connection := currentCall(ctx).client()
	start := time.Now()
	g, err := s.queue.Acquire(ctx, client, connection, 1)
	if s.Waited != nil {
		s.Waited(time.Since(start), errors.Is(err, fair.ErrFull))
	}
	if err != nil {
		return nil, busy(err)
	}
	return g.Release, nil
}

// leastShare is the least share of a client: a request of the maximum size beside streams and small calls.
const leastShare = 2 * maxMessage

// newCallQueue returns the queue of the bytes in flight.
func newCallQueue(limits Limits) *fair.Queue {
	return fair.New(fair.Limits{
		Capacity: limits.Bytes, Share: max(limits.Bytes/4, leastShare), Reserve: limits.Bytes / 2, Waiting: limits.Waiting,
	})
}

// newAnonymousQueue returns the queue of the bytes in flight of calls without the token that other calls need. They use nothing
// of what others share.
func newAnonymousQueue(limits Limits) *fair.Queue {
	return fair.New(fair.Limits{Capacity: 2 * leastShare, Share: leastShare, Reserve: leastShare, Waiting: limits.Waiting})
}

// admit waits until the client of a call may send a request of any size. The grant shrinks once the size is known.
func (s *Server) admit(ctx context.Context, c *call) (*fair.Grant, error) {
	queue := s.queue
	if c.anonymous() {
		queue = s.anonymousQueue
	}
	client, connection := c.client()
	g, err := queue.Acquire(ctx, client, connection, maxMessage)
	if err != nil {
		return nil, busy(err)
	}
	return g, nil
}

// checkRate counts a call, and refuses it if its client makes too many.
func (s *Server) checkRate(c *call, now time.Time) error {
	client, _ := c.client()
	if wait := s.rates.take(client, now); wait > 0 {
		return retryable(codes.ResourceExhausted, "this client makes too many calls in a second; make fewer", wait)
	}
	return nil
}

// busy returns memory.ErrBusy for a full queue.
func busy(err error) error {
	if errors.Is(err, fair.ErrFull) {
		return fmt.Errorf("%w: %w", memory.ErrBusy, err)
	}
	return err
}

const (
	// housekeeping is the time between two looks at what changes by itself: tokens, certificates, memory.
	housekeeping = 500 * time.Millisecond
	// stormBytes are so many bytes in flight that memory is given back to the system after them.
	stormBytes = 16 << 20
	// calmTime is how long a storm must be over before that.
	calmTime = 5 * time.Second
)

// reclaimer gives memory back to the system after a storm of calls. The runtime of Go does so only slowly.
type reclaimer struct {
	// peak is the most bytes in flight since memory was given back last.
	peak int64
	// calm is the time since when little is in flight, zero while much is.
	calm time.Time
	// free gives memory back.
	free func()
}

// look is told at short intervals how many bytes are in flight.
func (r *reclaimer) look(now time.Time, used int64) {
	r.peak = max(r.peak, used)
	switch {
	case used > r.peak/4 || r.peak < stormBytes:
		r.calm = time.Time{}
	case r.calm.IsZero():
		r.calm = now
	case now.Sub(r.calm) >= calmTime:
		r.free()
		r.peak, r.calm = used, time.Time{}
	}
}

// freeMemory collects garbage and gives memory back to the system. Pools of buffers survive one collection, and
// debug.FreeOSMemory is the second.
func freeMemory() {
	runtime.GC()
	debug.FreeOSMemory()
}

// keepHouse ends calls whose tokens are gone, reads changed certificates and gives memory back, until ctx is done.
func (s *Server) keepHouse(ctx context.Context, listeners []Listener) {
	tick := time.NewTicker(housekeeping)
	defer tick.Stop()
	reclaim := reclaimer{free: freeMemory}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.running.endRevoked()
			s.rates.forgetIdle(now)
			s.guesses.forgetIdle(now)
			s.spoolIdle(now)
			for _, l := range listeners {
				l.tls.refresh(now)
			}
			reclaim.look(now, s.queue.Used()+s.bodies.Used()+s.responses.Used())
		}
	}
}
