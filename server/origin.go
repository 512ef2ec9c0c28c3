package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"regexp"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// origin is where a call comes from, and what its caller has sent to prove who it is.
type origin struct {
	// connection of the client; nil within the process.
	connection *connection
	// tokens that the caller needs one of; nil if none is needed.
	tokens *Tokens
	// authorization are the values of the header or metadata "authorization".
	authorization []string
	// onBehalf is whom a machine of the cluster calls for.
	onBehalf  string
	requestID string
}

// grpcOrigin returns a function that returns where a call over gRPC comes from, on a listener that needs tokens.
func grpcOrigin(tokens *Tokens) func(context.Context) (origin, error) {
	return func(ctx context.Context) (origin, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		return origin{
			connection: connectionOf(ctx), tokens: tokens, authorization: md.Get("authorization"),
			requestID: requestID(md.Get(requestIDHeader)),
		}, nil
	}
}

type originKey struct{}

// httpOrigin returns the client that sent the HTTP request which ctx descends from.
func httpOrigin(ctx context.Context) (origin, error) {
	from, ok := ctx.Value(originKey{}).(origin)
	if !ok {
		return origin{}, status.Error(codes.Unauthenticated, "the call belongs to no request of a client")
	}
	return from, nil
}

func withOrigin(ctx context.Context, from origin) context.Context {
	return context.WithValue(ctx, originKey{}, from)
}

// requestIDHeader is the header, and the metadata, with the id of a request.
const requestIDHeader = "x-request-id"

// saneRequestID matches the ids that are taken over from a client.
var saneRequestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// requestID returns the id that a client gave its request, a new one if it gave none that can be used.
func requestID(sent []string) string {
	if len(sent) == 1 && saneRequestID.MatchString(sent[0]) {
		return sent[0]
	}
	var b [8]byte
	rand.Read(b[:]) // which never fails
	return hex.EncodeToString(b[:])
}

// RequestID returns the id of the request that ctx belongs to, as the log has it: of a call, or of an HTTP request. It
// returns an empty string in other contexts. A client may choose the id with the header or metadata X-Request-Id.
func RequestID(ctx context.Context) string {
	if c := currentCall(ctx); c.requestID != "" {
		return c.requestID
	}
	from, _ := httpOrigin(ctx)
	return from.requestID
}
