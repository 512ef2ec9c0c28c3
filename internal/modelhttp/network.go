package modelhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ErrOffline is wrapped by the error of a request to another machine while the network is offline.
var ErrOffline = errors.New("offline is set, so nothing is sent to another machine: unset offline, KIOKU_OFFLINE or --offline to allow it")

// Dialer opens a connection, as net.Dialer.DialContext does.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// NetworkOptions are the seams of a Network; the zero value is that of a program.
type NetworkOptions struct {
	// Dial opens connections; nil means a net.Dialer.
	Dial Dialer
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Network sends the requests of a process and counts them. It is safe for concurrent use.
type Network struct {
	dial      Dialer
	now       func() time.Time
	transport *http.Transport
	offline   atomic.Bool

	mu   sync.Mutex
	uses map[destination]*Use // guarded by mu
}

// destination is what requests are counted by.
type destination struct{ host, purpose string }

// Use is what was sent to one host for one purpose since the start of the process.
type Use struct {
	// Host is the name or address of the machine, without a port.
	Host string `json:"host"`
	// Purpose is what the requests are for, such as "embeddings".
	Purpose string `json:"purpose"`
	// Local is true for this machine itself.
	Local bool `json:"local"`
	// Requests is the number of requests that were sent, with those that failed; connections count as one request each.
	Requests int64 `json:"requests"`
	// Bytes is the number of bytes sent in the bodies of requests or over connections.
	Bytes int64 `json:"bytes"`
	// Refused is the number of requests that were not sent because the network was offline.
	Refused int64 `json:"refused,omitempty"`
	// Last is when the last request was sent or refused.
	Last time.Time `json:"last,omitzero"`
}

// NewNetwork returns a network that is not offline.
func NewNetwork(opt NetworkOptions) *Network {
	n := &Network{dial: opt.Dial, now: opt.Now, uses: map[destination]*Use{}}
	if n.dial == nil {
		n.dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	if n.now == nil {
		n.now = time.Now
	}
	n.transport = http.DefaultTransport.(*http.Transport).Clone()
	n.transport.Proxy = n.proxy
	n.transport.DialContext = n.dialChecked
	n.transport.MaxIdleConnsPerHost = 16
	return n
}

// SetOffline ends or permits requests to other machines, also over connections that are open.
func (n *Network) SetOffline(offline bool) { n.offline.Store(offline) }

// Offline reports whether requests to other machines are refused.
func (n *Network) Offline() bool { return n.offline.Load() }

// Uses returns what was sent to each host for each purpose, the most recent first; nil if nothing was.
func (n *Network) Uses() []Use {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []Use
	for _, u := range n.uses {
		all = append(all, *u)
	}
	slices.SortFunc(all, func(a, b Use) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Purpose, b.Purpose))
	})
	return all
}

// admit counts a request to a host, or the refusal, which it returns as an error.
func (n *Network) admit(host, purpose string) error {
	host = strings.ToLower(host)
	local := isLocal(host)
	refused := n.Offline() && !local
	n.record(host, purpose, func(u *Use) {
		u.Local, u.Last = local, n.now()
		if refused {
			u.Refused++
		} else {
			u.Requests++
		}
	})
	if refused {
		return refusal(host)
	}
	return nil
}

func refusal(host string) error { return fmt.Errorf("%s was not asked: %w", host, ErrOffline) }

// record changes the count of a destination.
func (n *Network) record(host, purpose string, change func(*Use)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := destination{strings.ToLower(host), purpose}
	if n.uses[d] == nil {
		n.uses[d] = &Use{Host: d.host, Purpose: d.purpose}
	}
	change(n.uses[d])
}

// proxy returns the proxy that the environment names (HTTPS_PROXY, HTTP_PROXY, NO_PROXY). There is none while the network is
// offline: a proxy on this machine would pass on what must not leave it.
func (n *Network) proxy(r *http.Request) (*url.URL, error) {
	if n.Offline() {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// dialChecked opens a connection, while the network is offline to this machine only and without asking a name server.
func (n *Network) dialChecked(ctx context.Context, network, address string) (net.Conn, error) {
	if !n.Offline() {
		return n.dial(ctx, network, address)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if !isLocal(host) {
		return nil, refusal(host)
	}
	if net.ParseIP(host) != nil {
		return n.dial(ctx, network, address)
	}
	conn, err := n.dial(ctx, network, net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		conn, err = n.dial(ctx, network, net.JoinHostPort("::1", port))
	}
	return conn, err
}

// isLocal reports whether a host is this machine.
func isLocal(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
