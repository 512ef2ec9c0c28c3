package modelhttp

import (
	"context"
	"io"
	"net"
	"net/http"
)

// Transport returns a way to send HTTP requests for a purpose, such as "embeddings".
func (n *Network) Transport(purpose string) http.RoundTripper { return transport{n, purpose} }

// transport counts the requests for one purpose.
type transport struct {
	network *Network
	purpose string
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Hostname()
	if err := t.network.admit(host, t.purpose); err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	sent := *r
	sent.Body = t.counted(host, r.Body)
	if r.GetBody != nil {
		sent.GetBody = func() (io.ReadCloser, error) {
			body, err := r.GetBody()
			return t.counted(host, body), err
		}
	}
	return t.network.transport.RoundTrip(&sent)
}

// counted returns a body whose bytes are counted as they are sent.
func (t transport) counted(host string, body io.ReadCloser) io.ReadCloser {
	if body == nil || body == http.NoBody {
		return body
	}
	return countedBody{body, func(n int) { t.network.record(host, t.purpose, func(u *Use) { u.Bytes += int64(n) }) }}
}

type countedBody struct {
	io.ReadCloser
	count func(n int)
}

// Read implements io.Reader.
func (b countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.count(n)
	return n, err
}

// Dialer returns a way to open TCP connections for a purpose that is no HTTP request, such as "memory service".
func (n *Network) Dialer(purpose string) Dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if err := n.admit(host, purpose); err != nil {
			return nil, err
		}
		conn, err := n.dialChecked(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return countedConn{conn, func(sent int) { n.record(host, purpose, func(u *Use) { u.Bytes += int64(sent) }) }}, nil
	}
}

type countedConn struct {
	net.Conn
	count func(n int)
}

// Write implements io.Writer.
func (c countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.count(n)
	return n, err
}
