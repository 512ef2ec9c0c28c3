package connect

import (
	"context"
	"net/http"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/cmd/kioku/config"
)

// Joined is a connection to whichever daemon serves a memory. When the daemon ends, the next call joins another or starts one,
// and is made again. It is a [grpc.ClientConnInterface], and its methods may be called concurrently.
type Joined struct {
	from   *Connector
	wanted wanted
	// Agent is the id of the agent.
	Agent string
	// Workspace is the folder of the memory.
	Workspace string
	// Socket is the unix socket of the daemon that was joined first; empty if it is on another machine.
	Socket string

	mu sync.Mutex
	// current is nil if the daemon has to be joined again. Guarded by mu.
	current *Client
}

// Join joins the daemon that serves the memory of the command, or starts one in the background. It returns config.ErrNoWorkspace if
// nothing says which memory that is.
func (k *Connector) Join(ctx context.Context) (*Joined, error) {
	w, err := k.here()
	if err != nil {
		return nil, err
	}
	if w.place.Workspace == "" && !w.named && k.Conf.Client.Target == "" {
		return nil, config.ErrNoWorkspace
	}
	j := &Joined{from: k, wanted: w}
	c, err := j.client(ctx)
	if err != nil {
		return nil, err
	}
	j.Agent, j.Workspace, j.Socket = c.Agent, c.Workspace, c.Socket
	return j, nil
}

// client returns the client of the daemon, which it joins if need be. Concurrent calls join once.
func (j *Joined) client(ctx context.Context) (*Client, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.current != nil {
		return j.current, nil
	}
	c, err := j.from.joinOrStart(ctx, j.wanted)
	if err == nil {
		j.current = c
	}
	return c, err
}

// leave forgets a daemon that is gone, unless another one has been joined meanwhile.
func (j *Joined) leave(c *Client) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.current == c {
		j.current = nil
		_ = c.close() // nobody answers there
	}
}

// Close leaves the daemon.
func (j *Joined) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.current == nil {
		return nil
	}
	c := j.current
	j.current = nil
	return c.close()
}

// RoundTrip implements http.RoundTripper. A request that the end of a daemon cut off is sent once more: notes are written once.
func (j *Joined) RoundTrip(r *http.Request) (*http.Response, error) {
	for again := false; ; again = true {
		c, err := j.client(r.Context())
		if err != nil {
			return nil, err
		}
		resp, err := c.Conn.RoundTrip(r)
		if err == nil || again || r.Context().Err() != nil {
			return resp, err
		}
		j.leave(c)
		if r.GetBody != nil {
			if r.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// Invoke makes a call with one response. A call that the end of a daemon cut off is made once more: notes are written once.
func (j *Joined) Invoke(ctx context.Context, method string, request, response any, opts ...grpc.CallOption) error {
	return j.withDaemon(ctx, func(conn grpc.ClientConnInterface) error {
		return conn.Invoke(ctx, method, request, response, opts...)
	})
}

// NewStream begins a stream. A stream that is cut off later is not continued.
func (j *Joined) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (stream grpc.ClientStream, err error) {
	err = j.withDaemon(ctx, func(conn grpc.ClientConnInterface) error {
		stream, err = conn.NewStream(ctx, desc, method, opts...)
		return err
	})
	return stream, err
}

// withDaemon makes a call, and once more with another daemon if the first one is gone.
func (j *Joined) withDaemon(ctx context.Context, call func(grpc.ClientConnInterface) error) error {
	for again := false; ; again = true {
		c, err := j.client(ctx)
		if err != nil {
			return status.Error(codes.Unavailable, err.Error())
		}
		if err = call(c.GRPC()); !isCutOff(err) || again || ctx.Err() != nil {
			return err
		}
		j.leave(c)
	}
}

// isCutOff reports whether a daemon did not answer. One that answers says more than the code.
func isCutOff(err error) bool {
	st := status.Convert(err)
	return st.Code() == codes.Unavailable && len(st.Details()) == 0
}
