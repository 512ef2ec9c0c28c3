// Package httpapi is what all doors over HTTP share: errors as JSON, JSON on one line, and the cookie of a token. Errors are JSON in the form of kioku.v1.ErrorResponse, with the HTTP status and the
// headers that belong to it. Errors are statuses of gRPC; all doors over HTTP answer with them.
package httpapi

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"

	kiokuv1 "kioku/proto/kioku/v1"
)

// requestIDHeader is the header of a response with the id of its request. The server sets it before it calls a handler.
const requestIDHeader = "X-Request-Id"

// statuses are the HTTP statuses of codes, those of google.rpc.Code.
var statuses = map[codes.Code]int{
	codes.Canceled:           499,
	codes.InvalidArgument:    http.StatusBadRequest,
	codes.DeadlineExceeded:   http.StatusGatewayTimeout,
	codes.NotFound:           http.StatusNotFound,
	codes.AlreadyExists:      http.StatusConflict,
	codes.PermissionDenied:   http.StatusForbidden,
	codes.Unauthenticated:    http.StatusUnauthorized,
	codes.ResourceExhausted:  http.StatusTooManyRequests,
	codes.FailedPrecondition: http.StatusBadRequest,
	codes.Aborted:            http.StatusConflict,
	codes.OutOfRange:         http.StatusBadRequest,
	codes.Unimplemented:      http.StatusNotImplemented,
	codes.Unavailable:        http.StatusServiceUnavailable,
}

// withStatus is an error with an HTTP status of its own.
type withStatus struct {
	error
	status int
}

// Unwrap returns the error without its HTTP status.
func (w withStatus) Unwrap() error { return w.error }

// WithStatus returns an error that is answered with an HTTP status other than that of its code.
func WithStatus(err error, status int) error { return withStatus{err, status} }

// WriteError answers with an error.
func WriteError(w http.ResponseWriter, err error) {
	st, httpStatus := convert(err)
	body := response(st, w.Header().Get(requestIDHeader))
	writeHeader(w, httpStatus, body.GetError().GetRetryAfterSeconds())
	if line, err := MarshalLine(body, protojson.MarshalOptions{}); err == nil {
		_, _ = w.Write(line) // a client that is gone needs none
	}
}

// WriteHeader sends the HTTP status and the headers that belong to an error, and returns its message, for a protocol whose errors
// have a form of their own but are JSON too. The caller writes the body.
func WriteHeader(w http.ResponseWriter, err error) (message string) {
	st, httpStatus := convert(err)
	writeHeader(w, httpStatus, response(st, "").GetError().GetRetryAfterSeconds())
	return cmp.Or(st.Message(), st.Code().String())
}

// convert returns an error as a status, and its HTTP status.
func convert(err error) (st *status.Status, httpStatus int) {
	var own withStatus
	if errors.As(err, &own) {
		return status.Convert(own.error), own.status
	}
	st = status.Convert(err)
	return st, cmp.Or(statuses[st.Code()], http.StatusInternalServerError)
}

// writeHeader sends an HTTP status with the headers of an error in JSON.
func writeHeader(w http.ResponseWriter, httpStatus int, retryAfterSeconds int32) {
	if retryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(retryAfterSeconds)))
	}
	if httpStatus == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="kioku"`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(httpStatus)
}

// ErrorLine returns an error as one line of JSON, for a response that has begun.
func ErrorLine(w http.ResponseWriter, err error) ([]byte, error) {
	return MarshalLine(response(status.Convert(err), w.Header().Get(requestIDHeader)), protojson.MarshalOptions{})
}

// response returns a status as it is answered.
func response(st *status.Status, requestID string) *kiokuv1.ErrorResponse {
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
	codes.InvalidArgument:   "/v1/openapi.json describes every field",
	codes.NotFound:          "/v1/openapi.json describes every route",
	codes.PermissionDenied:  "use a token with this right",
	codes.ResourceExhausted: "try again later",
	codes.Unavailable:       "try again later",
	codes.Aborted:           "begin again",
	codes.DeadlineExceeded:  "ask for less, or give the call more time with the header Grpc-Timeout, such as 30S",
	codes.Unimplemented:     "this service does not offer the method: its settings leave it out, or it is older than the client",
	codes.Internal:          "the log of the service has the cause under this id",
}

// IsGeneral reports whether a hint is that of a code for those who write their requests themselves.
func IsGeneral(hint string) bool {
	for _, h := range hints {
		if h == hint {
			return hint != hints[codes.Unavailable]
		}
	}
	return false
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
