package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// transport sends requests to a service, wherever their URLs point.
type transport struct {
	http.Transport
	target, scheme, host, token string
}

// newTransport returns a transport to a target of Dial.
func newTransport(target string, opt Options) *transport {
	t := &transport{target: target, scheme: "http", host: target, token: opt.Token}
	t.TLSClientConfig = opt.TLS.Clone()
	t.DialContext = opt.Dial
	t.MaxIdleConnsPerHost = 4
	if opt.TLS != nil {
		t.scheme = "https"
	}
	if path, ok := strings.CutPrefix(target, "unix:"); ok {
		t.host = "localhost"
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", strings.TrimPrefix(path, "//"))
		}
	}
	return t
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host, r.Host = t.scheme, t.host, ""
	if t.token != "" {
		r.Header.Set("Authorization", "Bearer "+t.token)
	}
	resp, err := t.Transport.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (does kioku serve run?)", t.target, err)
	}
	return resp, nil
}
