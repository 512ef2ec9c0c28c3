package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"kioku/client"
	kiokuv1 "kioku/proto/kioku/v1"
)

// Service is a running daemon, with all agents that the caller may reach.
type Service struct {
	kiokuv1.MemoryServiceClient
	conn  *client.Client
	http  *http.Client
	base  string
	token string
}

// Service returns the daemon of the state folder, or the one that client.target names. It returns an error if none answers.
func (k *Connector) Service(ctx context.Context) (*Service, error) {
	s, target, err := k.dialService(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := listAgents(ctx, s.MemoryServiceClient); err != nil {
		return nil, errors.Join(fmt.Errorf("no service answers on %s: %w; start one with kioku serve", target, err), s.Close())
	}
	return s, nil
}

// dialService returns a client of the daemon, which may not run.
func (k *Connector) dialService(ctx context.Context) (s *Service, target string, err error) {
	transport := &http.Transport{}
	s = &Service{http: &http.Client{Transport: transport, Timeout: DaemonWait}, base: "http://localhost", token: k.Conf.Client.Token}
	opt := client.Options{}
	if target = k.Conf.Client.Target; target == "" {
		socket, err := k.serviceSocket(ctx)
		if err != nil {
			return nil, "", err
		}
		s.token, target = "", "unix:"+socket
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}
	} else {
		tls, err := ClientTLS(k.Conf, target)
		if err != nil {
			return nil, "", err
		}
		s.base = "http://" + target
		if transport.TLSClientConfig = tls; tls != nil {
			s.base = "https://" + target
		}
		transport.DialContext = k.Conf.Network.Dialer("memory service")
		opt = client.Options{Token: k.Conf.Client.Token, TLS: tls, Dial: k.Conf.Network.Dialer("memory service")}
	}
	if s.conn, err = client.Dial(target, opt); err != nil {
		return nil, "", k.Conf.Wrong("client.target", err.Error())
	}
	s.MemoryServiceClient = s.conn.Service()
	return s, target, nil
}

// serviceSocket returns the socket of the daemon or, if none answers there, that of the daemon that has the index of the command's memory.
func (k *Connector) serviceSocket(ctx context.Context) (string, error) {
	socket, err := SocketPath(k.Conf)
	if err != nil || listens(socket) == nil {
		return socket, err
	}
	place, err := k.Conf.Here()
	if err != nil {
		return socket, nil // there is no memory here, and so no other daemon
	}
	return cmp.Or(k.ownerSocket(ctx, place), socket), nil
}

// maxMetrics is the maximum size of the metrics of a service.
const maxMetrics = 64 << 20

// Metrics returns the metrics of the service, as text.
func (s *Service) Metrics(ctx context.Context) (io.Reader, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the service for its metrics: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxMetrics))
	if err != nil {
		return nil, fmt.Errorf("read the metrics of the service: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the service gives no metrics: %s: %s", resp.Status, strings.TrimSpace(string(text[:min(len(text), 500)])))
	}
	return strings.NewReader(string(text)), nil
}

// Statuses returns the status of each agent that the caller may reach and whose status can be read.
func (s *Service) Statuses(ctx context.Context) ([]*kiokuv1.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*DaemonWait)
	defer cancel()
	agents, err := listAgents(ctx, s.MemoryServiceClient)
	if err != nil {
		return nil, err
	}
	var out []*kiokuv1.StatusResponse
	for _, a := range agents {
		st, err := s.Status(ctx, &kiokuv1.StatusRequest{Agent: a.GetId()})
		if err == nil {
			out = append(out, st)
		} else if ctx.Err() != nil {
			return nil, err
		}
	}
	return out, nil
}

// Close closes the connections.
func (s *Service) Close() error {
	s.http.CloseIdleConnections()
	return s.conn.Close()
}
