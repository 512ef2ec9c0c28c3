package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"kioku/server/httpapi"
)

// maxBatch is the maximum number of messages in one request. Only old versions of the protocol have more than one.
const maxBatch = 100

// checkBatch returns an error for a request with too many messages, which cost much more than their bytes. The body is read, and
// can be read again.
func checkBatch(r *http.Request) error {
	body, err := io.ReadAll(r.Body) // which the server around bounds
	if err != nil {
		return status.Error(codes.Canceled, "the body of the request did not arrive")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	messages := json.NewDecoder(bytes.NewReader(body))
	if first, err := messages.Token(); err != nil || first != json.Delim('[') {
		return nil // one message, or none: the SDK tells
	}
	for n := 0; messages.More(); n++ {
		var one json.RawMessage
		if err := messages.Decode(&one); err != nil {
			return nil
		}
		if n == maxBatch {
			return status.Errorf(codes.InvalidArgument, "a request may have at most %d messages", maxBatch)
		}
	}
	return nil
}

// errTooManySessions returns why a client cannot open one more session.
func errTooManySessions() error {
	st := status.Newf(codes.ResourceExhausted, "this client has %d sessions and may have no more; end one, or use one for all calls", maxSessions)
	if with, err := st.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Minute)}); err == nil {
		st = with
	}
	return st.Err()
}

// refuse answers a request that may not be served with an error of JSON-RPC that belongs to no message.
func refuse(w http.ResponseWriter, err error) {
	const serverError = -32000 // the first of those that the protocol leaves to servers
	message := httpapi.WriteHeader(w, err)
	_, _ = w.Write(rpcError(serverError, message)) // a client that is gone needs none
}

// rpcError returns an error of JSON-RPC that belongs to no message.
func rpcError(code int, message string) []byte {
	text, err := json.Marshal(message)
	if err != nil {
		text = []byte(`""`) // never: a text can be encoded
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%s}}`, code, text)
}
