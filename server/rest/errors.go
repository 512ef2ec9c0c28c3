package rest

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	kiokuv1 "kioku/proto/kioku/v1"
)

// requestIDHeader is the header of a response with the id of its request. The server sets it before it calls a handler.
const requestIDHeader = "X-Request-Id"

// writeError answers with an error: its HTTP status, what a client needs of it in headers, and all of it as JSON.
func writeError(w http.ResponseWriter, err error) {
	st := status.Convert(err)
	httpStatus := runtime.HTTPStatusFromCode(st.Code())
	var other *runtime.HTTPStatusError
	if errors.As(err, &other) {
		st, httpStatus = status.Convert(other.Err), other.HTTPStatus
		if st.Code() == codes.Unknown {
			st = status.New(codes.InvalidArgument, st.Message())
		}
	}
	body := errorBody(st, w.Header().Get(requestIDHeader))
	if after := body.GetError().GetRetryAfterSeconds(); after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(after)))
	}
	if httpStatus == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="kioku"`)
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(httpStatus)
	line, err := encodeJSON(body, protojson.MarshalOptions{})
	if err == nil {
		w.Write(line)
	}
}

// withStatus returns an error with an HTTP status of its own.
func withStatus(httpStatus int, c codes.Code, message string) error {
	return &runtime.HTTPStatusError{HTTPStatus: httpStatus, Err: status.Error(c, message)}
}

// fieldError returns a status that names a field in its details.
func fieldError(st *status.Status, field, problem string) error {
	detail := &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: field, Description: problem}}}
	if with, err := st.WithDetails(detail); err == nil {
		st = with
	}
	return st.Err()
}

// errorBody returns a status as the routes answer it.
func errorBody(st *status.Status, requestID string) *kiokuv1.ErrorResponse {
	out := &kiokuv1.Error{Code: code.Code(st.Code()).String(), RequestId: requestID}
	message := st.Message()
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				field := jsonName(v.GetField())
				problem, _ := splitHint(v.GetDescription())
				out.Fields = append(out.Fields, &kiokuv1.FieldProblem{Field: field, Problem: problem})
				if rest, ok := strings.CutPrefix(message, v.GetField()+":"); ok {
					message = field + ":" + rest
				}
			}
		case *errdetails.ErrorInfo:
			out.Reason = d.GetReason()
		case *errdetails.RetryInfo:
			out.RetryAfterSeconds = int32(math.Ceil(min(d.GetRetryDelay().AsDuration().Seconds(), math.MaxInt32)))
		}
	}
	out.Message, out.Hint = splitHint(message)
	out.Hint = cmp.Or(out.Hint, hints[st.Code()])
	return &kiokuv1.ErrorResponse{Error: out}
}

// hints say what to do about errors whose messages do not.
var hints = map[codes.Code]string{
	codes.Unauthenticated:   "send the header Authorization: Bearer TOKEN with a token of the service",
	codes.InvalidArgument:   openAPIPath + " describes every field",
	codes.NotFound:          openAPIPath + " describes every route",
	codes.PermissionDenied:  "use a token with this right",
	codes.ResourceExhausted: "try again later",
	codes.Unavailable:       "try again later",
	codes.Aborted:           "begin again",
	codes.DeadlineExceeded:  "ask for less, or give the call more time with the header Grpc-Timeout, such as 30S",
	codes.Unimplemented:     "this service does not offer the method: its settings leave it out, or it is older than the client",
	codes.Internal:          "the log of the service has the cause under this id",
}

// splitHint splits a message of the services, "what is wrong; what to do". A semicolon between quotation marks splits nothing.
func splitHint(message string) (what, hint string) {
	quoted := false
	for i := range len(message) {
		switch {
		case message[i] == '"' && (i == 0 || message[i-1] != '\\'):
			quoted = !quoted
		case !quoted && strings.HasPrefix(message[i:], "; "):
			return message[:i], message[i+2:]
		}
	}
	return message, ""
}

// jsonName returns the JSON name of a field as the services name it: filter[0].max_results is filter[0].maxResults.
func jsonName(field string) string {
	var out strings.Builder
	upper := false
	for _, r := range field {
		switch {
		case r == '_':
			upper = true
		case upper:
			out.WriteRune(unicode.ToUpper(r))
			upper = false
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}
