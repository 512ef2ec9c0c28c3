package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

// Errors are JSON with code, message and hint, the fields that are wrong, the id of the request, and the HTTP status and
// headers of their kind.
func TestErrorsSayWhatIsWrongAndWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		err    error
		status int
		want   map[string]any
		header map[string]string
	}{
		{"not found", detailed(t, codes.NotFound, `no such file "a; b.md"; use a path as a search result gives it`,
			&errdetails.ErrorInfo{Domain: "kioku", Reason: "NOT_FOUND"}), 404, map[string]any{
			"code": "NOT_FOUND", "message": `no such file "a; b.md"`, "hint": "use a path as a search result gives it", "reason": "NOT_FOUND",
		}, nil},
		{"field", detailed(t, codes.InvalidArgument, "max_results: is too large; at most 100", &errdetails.BadRequest{
			FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "max_results", Description: "is too large; at most 100"}}}), 400, map[string]any{
			"code": "INVALID_ARGUMENT", "message": "maxResults: is too large", "hint": "at most 100",
			"fields": []any{map[string]any{"field": "maxResults", "problem": "is too large"}},
		}, nil},
		{"no token", status.Error(codes.Unauthenticated, "unknown token"), 401, map[string]any{
			"code": "UNAUTHENTICATED", "message": "unknown token", "hint": "send the header Authorization: Bearer TOKEN with a token of the service",
		}, map[string]string{"WWW-Authenticate": `Bearer realm="kioku"`}},
		{"limit", detailed(t, codes.ResourceExhausted, "a limit is reached", &errdetails.RetryInfo{RetryDelay: durationpb.New(1200 * time.Millisecond)}), 429,
			map[string]any{"code": "RESOURCE_EXHAUSTED", "message": "a limit is reached", "hint": "try again later", "retryAfterSeconds": 2.0},
			map[string]string{"Retry-After": "2"}},
		{"right", status.Error(codes.PermissionDenied, "this token may read but not write; set write"), 403, map[string]any{
			"code": "PERMISSION_DENIED", "message": "this token may read but not write", "hint": "set write"}, nil},
		{"conflict", status.Error(codes.AlreadyExists, "another note; use another key"), 409, map[string]any{
			"code": "ALREADY_EXISTS", "message": "another note", "hint": "use another key"}, nil},
		{"deadline", status.Error(codes.DeadlineExceeded, "late; ask for less"), 504, map[string]any{
			"code": "DEADLINE_EXCEEDED", "message": "late", "hint": "ask for less"}, nil},
		{"down", status.Error(codes.Unavailable, "the service stops; try again"), 503, map[string]any{
			"code": "UNAVAILABLE", "message": "the service stops", "hint": "try again"}, nil},
		{"unforeseen", status.Error(codes.Internal, "internal error (the log has the cause under id 1f)"), 500, map[string]any{
			"code": "INTERNAL", "message": "internal error (the log has the cause under id 1f)", "hint": "the log of the service has the cause under this id"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			fail := func(context.Context, proto.Message, proto.Message) error { return tc.err }
			w := send(t, handler(t, &fakeConn{answer: fail}), "GET", "/v1/status", "")
			var got map[string]map[string]any
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			tc.want["requestId"] = "r-1"
			if diff := cmp.Diff(map[string]map[string]any{"error": tc.want}, got); diff != "" || w.Code != tc.status {
				t.Errorf("status %d, want %d; body (-want +got):\n%s", w.Code, tc.status, diff)
			}
			for name, want := range tc.header {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			if w.Header().Get("ETag") != "" || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("the error can be cached: %v", w.Header())
			}
			checkStreamError(t, tc.err, tc.status, w.Body.Bytes())
		})
	}
}

// checkStreamError checks that a stream that fails before its first message answers as any other call.
func checkStreamError(t *testing.T, err error, httpStatus int, body []byte) {
	t.Helper()
	w := send(t, handler(t, &fakeConn{err: err, silent: true}), "GET", "/v1/events", "", "Accept: text/event-stream")
	if w.Code != httpStatus || w.Body.String() != string(body) || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("as a stream: %d %s, want %d %s", w.Code, w.Body, httpStatus, body)
	}
}

// detailed returns a status with a detail.
func detailed(t *testing.T, code codes.Code, message string, detail protoadapt.MessageV1) error {
	t.Helper()
	st, err := status.New(code, message).WithDetails(detail)
	if err != nil {
		t.Fatal(err)
	}
	return st.Err()
}

// The header Grpc-Timeout gives a call its deadline; no header of HTTP reaches a service as metadata but the token.
func TestCallsTakeTheirDeadlineFromTheRequest(t *testing.T) {
	t.Parallel()
	var left time.Duration
	h := handler(t, &fakeConn{answer: func(ctx context.Context, _, _ proto.Message) error {
		if end, ok := ctx.Deadline(); ok {
			left = time.Until(end)
		}
		return nil
	}})
	if w := send(t, h, "GET", "/v1/status", "", "Grpc-Timeout: 20S"); w.Code != http.StatusOK || left < 10*time.Second || left > 20*time.Second {
		t.Errorf("%d, the call has %s; want 20 s", w.Code, left)
	}
	if w := send(t, h, "GET", "/v1/status", "", "Grpc-Timeout: soon"); w.Code != http.StatusBadRequest {
		t.Errorf("%d %s, want 400", w.Code, w.Body)
	}
}
