package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	kiokuv1 "kioku/proto/kioku/v1"
)

// Local returns a client of the server inside of this process, with every right and without a network, streams
// included. It works with and without Serve. The function ends running calls and gives everything back; where there is
// an error, nothing is left to give back.
func (s *Server) Local() (kiokuv1.MemoryServiceClient, func() error, error) {
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
	return kiokuv1.NewMemoryServiceClient(conn), sync.OnceValue(func() error {
		err := conn.Close()
		g.Stop()
		return errors.Join(err, <-served)
	}), nil
}
