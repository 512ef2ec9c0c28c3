package server

import (
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	kiokuv1 "kioku/proto/kioku/v1"
)

// maxMessage is the most bytes of a message, in either direction.
const maxMessage = 4 << 20

// newGRPC returns a gRPC server for the calls that come in through l.
func (s *Server) newGRPC(l Listener, more ...grpc.ServerOption) *grpc.Server {
	tokens := s.opt.Tokens
	if l.trusted {
		tokens = nil
	}
	opts := append([]grpc.ServerOption{
		grpc.UnaryInterceptor(s.unary(tokens)),
		grpc.StreamInterceptor(s.stream(tokens)),
		grpc.MaxConcurrentStreams(s.opt.MaxStreams),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxSendMsgSize(maxMessage),
		grpc.MaxHeaderListSize(64 << 10),
		grpc.ConnectionTimeout(20 * time.Second),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 2 * time.Minute, Timeout: 20 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 20 * time.Second, PermitWithoutStream: true}),
	}, more...)
	g := grpc.NewServer(opts...)
	if len(s.opt.Agents) > 0 {
		kiokuv1.RegisterMemoryServiceServer(g, service{Server: s})
	}
	if len(s.sidecars) > 0 {
		kiokuv1.RegisterAgentServiceServer(g, agentService{Server: s})
	}
	healthpb.RegisterHealthServer(g, s.health)
	if !l.open {
		reflection.Register(g)
	}
	return g
}
