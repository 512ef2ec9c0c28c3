package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	kiokuv1 "kioku/proto/kioku/v1"
)

// Loopback returns a client that reaches the memories by gRPC, with every right and without a network. The function ends
// running calls and gives everything back; after an error, nothing is left to give back.
func (s *Server) Loopback() (kiokuv1.MemoryServiceClient, func() error, error) {
	conn, end, err := s.inside()
	if err != nil {
		return nil, nil, err
	}
	return kiokuv1.NewMemoryServiceClient(conn), end, nil
}

// LoopbackAgents is Loopback for the sidecars that are there when it is called.
func (s *Server) LoopbackAgents() (kiokuv1.AgentServiceClient, func() error, error) {
	conn, end, err := s.inside()
	if err != nil {
		return nil, nil, err
	}
	return kiokuv1.NewAgentServiceClient(conn), end, nil
}

// inside returns a connection that stays in this process.
func (s *Server) inside() (*grpc.ClientConn, func() error, error) {
	lis := bufconn.Listen(256 << 10)
	g := s.newGRPC(Listener{lis: lis, trusted: true}, grpc.WaitForHandlers(true))
	served := make(chan error, 1)
	go func() {
		err := g.Serve(lis)
		if errors.Is(err, grpc.ErrServerStopped) {
			err = nil
		}
		served <- err
	}()
	conn, err := grpc.NewClient("passthrough:///kioku",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
	if err != nil {
		g.Stop()
		return nil, nil, errors.Join(fmt.Errorf("connect within the process: %w", err), <-served)
	}
	return conn, sync.OnceValue(func() error {
		err := conn.Close()
		g.Stop()
		return errors.Join(err, <-served)
	}), nil
}

// SetSendTimeout sets how long a message of a stream waits for its reader.
func (s *Server) SetSendTimeout(d time.Duration) { s.sendTimeout = d }

// SetReceiveTimeout sets how long a request may take to arrive.
func (s *Server) SetReceiveTimeout(d time.Duration) { s.receiveTimeout = d }

// SetBeginTimeout sets how long a client may take to begin a request.
func (s *Server) SetBeginTimeout(d time.Duration) { s.beginTimeout = d }

// OpenConnections returns the number of connections that count.
func (s *Server) OpenConnections() int {
	s.connections.mu.Lock()
	defer s.connections.mu.Unlock()
	return s.connections.open
}

// BodyBytes returns how many bytes the bodies of requests over HTTP take, and AnonymousBodyBytes those of clients without the
// token that others need.
func (s *Server) BodyBytes() int64 { return s.bodies.Used() }

func (s *Server) AnonymousBodyBytes() int64 { return s.anonymousBodies.Used() }

// ResponseBytes returns how many bytes of responses over HTTP wait for their readers.
func (s *Server) ResponseBytes() int64 { return s.responses.Used() }

// CallBytes returns how many bytes calls take.
func (s *Server) CallBytes() int64 { return s.queue.Used() }

// MethodName returns the name under which a method of gRPC is counted and logged.
func MethodName(full string) string { return methodName(full) }
