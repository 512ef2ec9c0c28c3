package server

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc/codes"
)

// maxRated is the maximum number of clients whose rates are told apart. Clients beyond it share one.
const maxRated = 10_000

// rates limits how often something happens, each client by itself.
type rates struct {
	limit rate.Limit
	burst int

	mu       sync.Mutex
	limiters map[string]*rate.Limiter // guarded by mu
}

// limiter returns the limiter of a client.
func (r *rates) limiter(client string) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limiters[client] == nil && len(r.limiters) >= maxRated {
		client = ""
	}
	l := r.limiters[client]
	if l == nil {
		if r.limiters == nil {
			r.limiters = map[string]*rate.Limiter{}
		}
		l = rate.NewLimiter(r.limit, r.burst)
		r.limiters[client] = l
	}
	return l
}

// take counts one for a client. If that is too many, it counts nothing and returns the time until the next one may be.
func (r *rates) take(client string, now time.Time) (wait time.Duration) {
	reserved := r.limiter(client).ReserveN(now, 1)
	if wait = reserved.DelayFrom(now); wait > 0 {
		reserved.CancelAt(now)
	}
	return wait
}

// wait returns the time until one more may be counted for a client, and counts nothing.
func (r *rates) wait(client string, now time.Time) time.Duration {
	if lacks := 1 - r.limiter(client).TokensAt(now); lacks > 0 {
		return time.Duration(lacks / float64(r.limit) * float64(time.Second))
	}
	return 0
}

// forgetIdle forgets the clients that may use their whole burst.
func (r *rates) forgetIdle(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for client, l := range r.limiters {
		if l.TokensAt(now) >= float64(r.burst) {
			delete(r.limiters, client)
		}
	}
}

const (
	// wrongTokens is how many wrong tokens a machine may send at once, and wrongTokensPerSecond how many in the long run.
	wrongTokens          = 30
	wrongTokensPerSecond = 1
	// knownFor is how long a token that was right is remembered with its machine.
	knownFor = 24 * time.Hour
)

// guesses bounds how many wrong tokens a machine may try. Tokens that were right before are not held up by others of the same
// machine that are wrong.
type guesses struct {
	wrong rates

	mu    sync.Mutex
	known map[knownToken]time.Time // when a token was right. Guarded by mu.
}

// knownToken is a token that was right, and the machine it came from.
type knownToken struct {
	machine string
	hash    [sha256.Size]byte
}

func newGuesses() *guesses {
	return &guesses{wrong: rates{limit: wrongTokensPerSecond, burst: wrongTokens}, known: map[knownToken]time.Time{}}
}

// check returns an error if a machine has sent so many wrong tokens that this one is not looked at.
func (g *guesses) check(token knownToken, now time.Time) error {
	g.mu.Lock()
	_, known := g.known[token]
	g.mu.Unlock()
	if known {
		return nil
	}
	if wait := g.wrong.wait(token.machine, now); wait > 0 {
		return retryable(codes.ResourceExhausted, "too many wrong tokens came from this machine; correct the token, and wait before the next try", wait)
	}
	return nil
}

// tried records whether a token was right.
func (g *guesses) tried(token knownToken, right bool, now time.Time) {
	if !right {
		g.wrong.take(token.machine, now)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.known[token]; known || len(g.known) < maxRated {
		g.known[token] = now
	}
}

// forgetIdle forgets machines that send no wrong tokens, and tokens that were not used for long.
func (g *guesses) forgetIdle(now time.Time) {
	g.wrong.forgetIdle(now)
	g.mu.Lock()
	defer g.mu.Unlock()
	for token, last := range g.known {
		if now.Sub(last) > knownFor {
			delete(g.known, token)
		}
	}
}

// machine returns what counts as one machine among those who guess tokens: an address or, because a machine has many of them,
// the network of an IPv6 address.
func (c *connection) machine() string {
	addr, err := netip.ParseAddr(c.peer)
	if err != nil || addr.Unmap().Is4() {
		return c.peer
	}
	network, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return c.peer
	}
	return network.String()
}
