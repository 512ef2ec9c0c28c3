package client

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	kiokuv1 "kioku/proto/kioku/v1"
)

// dialGRPC connects to the service at a target over gRPC.
func dialGRPC(target string, opt Options) (*grpc.ClientConn, error) {
	address, options := target, dialOptions(opt)
	if opt.Dial != nil && !strings.HasPrefix(target, "unix:") {
		address = "passthrough:///" + target // the dialer looks the name up
		options = append(options, grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return opt.Dial(ctx, "tcp", address)
		}))
	}
	if path, ok := strings.CutPrefix(target, "unix:"); ok {
		// The path is no URL: it may contain any character.
		path = strings.TrimPrefix(path, "//")
		address = "passthrough:///kioku"
		options = append(options, grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}))
	}
	conn, err := grpc.NewClient(address, options...)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", target, err)
	}
	return conn, nil
}

// reconnecting has a connection that broke tried again after a second at the latest: a memory service is on this machine or
// near, and whoever waits for it is in the middle of a turn.
func reconnecting() grpc.DialOption {
	pause := backoff.DefaultConfig
	pause.BaseDelay, pause.MaxDelay = 50*time.Millisecond, time.Second
	return grpc.WithConnectParams(grpc.ConnectParams{Backoff: pause, MinConnectTimeout: 5 * time.Second})
}

func dialOptions(opt Options) []grpc.DialOption {
	secure := insecure.NewCredentials()
	if opt.TLS != nil {
		secure = credentials.NewTLS(opt.TLS)
	}
	// A proxy meant for the web has no business between an agent and its memory.
	out := []grpc.DialOption{grpc.WithTransportCredentials(secure), grpc.WithNoProxy(), reconnecting()}
	if opt.Token != "" {
		out = append(out, grpc.WithPerRPCCredentials(bearer{opt.Token}))
	}
	return out
}

// GRPC returns the connection of a client that [Dial] returned, and of those that share it.
func (c *Client) GRPC() grpc.ClientConnInterface { return c.grpc }

// Service returns the connection of a client as the generated code has it.
func (c *Client) Service() kiokuv1.MemoryServiceClient { return kiokuv1.NewMemoryServiceClient(c.grpc) }

// bearer sends a token with every call.
type bearer struct{ token string }

// GetRequestMetadata returns the header with the token.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

// RequireTransportSecurity is false, because Dial has seen to it that the token stays private.
func (b bearer) RequireTransportSecurity() bool { return false }
