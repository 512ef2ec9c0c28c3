package connect

import (
	"context"
	"net/http"
	"sync"

	"kioku/cmd/kioku/config"
	"kioku/server"
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
	// end ends the stay at it.
	end context.CancelFunc
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
		staying, end := context.WithCancel(context.Background())
		j.end = end
		go j.stay(staying, c)
	}
	return c, err
}

// stay reads the events of a daemon until it ends: a daemon in the background stays as long as a client is connected, and one that has
// ended is joined again by the next call.
func (j *Joined) stay(ctx context.Context, c *Client) {
	for _, err := range server.Notes.Events.Call(ctx, c.Conn, server.OfAgent{Agent: c.Agent}) {
		if err != nil {
			break
		}
	}
	j.leave(c)
}

// leave forgets a daemon that is gone, unless another one has been joined meanwhile.
func (j *Joined) leave(c *Client) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.current == c {
		j.current = nil
		j.end()
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
	j.end()
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
