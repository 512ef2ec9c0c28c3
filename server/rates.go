package server

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
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
)

// newGuesses returns the rates of wrong tokens by machine. Only wrong ones are counted and held up: nobody guesses a token, and
// behind a proxy all clients are one machine, of which one must not lock out the others.
func newGuesses() *rates { return &rates{limit: wrongTokensPerSecond, burst: wrongTokens} }

// machine returns what counts as one machine among those that send wrong tokens: an address or, because a machine has many of them,
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
