package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// answerWait is how long a session goes on after the end of its input, for requests that are not answered yet.
const answerWait = 10 * time.Second

// Run serves a client over in and out until in ends, which it answers first, or ctx is done. It closes neither. What is no message is
// answered with an error, and the session goes on.
func Run(ctx context.Context, opt Options, in io.Reader, out io.Writer) error {
	answers := &lineWriter{out: out}
	err := New(opt).Run(ctx, &answering{&lines{in: bufio.NewReaderSize(in, 64<<10), out: answers}, answers})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// answering is a transport whose connections end only after the requests before the end of the input are answered.
type answering struct {
	in  *lines
	out *lineWriter
}

// Connect connects the transport.
func (t *answering) Connect(ctx context.Context) (sdk.Connection, error) {
	conn, err := (&sdk.IOTransport{Reader: t.in, Writer: t.out, MaxLineLength: -1}).Connect(ctx) // lines are bounded already
	return &answeringConn{Connection: conn, out: t.out, open: map[jsonrpc.ID]bool{}, changed: make(chan struct{}, 1)}, err
}

// answeringConn is a connection of an [answering] transport.
type answeringConn struct {
	sdk.Connection
	out *lineWriter

	mu sync.Mutex
	// open are the requests that are not answered. Guarded by mu.
	open map[jsonrpc.ID]bool
	// changed gets a value after a response.
	changed chan struct{}
}

// Read returns the next message, and answers JSON that is none. After the last one it waits until all requests are answered.
func (c *answeringConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	for err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		c.out.refuse(jsonrpc.CodeInvalidRequest, err.Error())
		message, err = c.Connection.Read(ctx)
	}
	if err != nil {
		c.waitForAnswers(ctx)
		return message, err
	}
	// A subscription is answered when the client is gone.
	if req, ok := message.(*jsonrpc.Request); ok && req.IsCall() && req.Method != "subscriptions/listen" {
		c.mu.Lock()
		c.open[req.ID] = true
		c.mu.Unlock()
	}
	return message, nil
}

// waitForAnswers waits until all requests are answered, at most for answerWait.
func (c *answeringConn) waitForAnswers(ctx context.Context) {
	late := time.NewTimer(answerWait)
	defer late.Stop()
	for c.waiting() {
		select {
		case <-c.changed:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// waiting reports whether a request is not answered.
func (c *answeringConn) waiting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0
}

// Write sends a message. One that cannot be sent ends the waiting too: the client is gone.
func (c *answeringConn) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	c.mu.Lock()
	if resp, ok := message.(*jsonrpc.Response); ok {
		delete(c.open, resp.ID)
	}
	if err != nil {
		clear(c.open)
	}
	c.mu.Unlock()
	select {
	case c.changed <- struct{}{}:
	default:
	}
	return err
}
