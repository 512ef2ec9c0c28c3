// Package httpapi is what all doors over HTTP share: errors as JSON, with the HTTP status and the headers that belong to them, and the
// cookie of a token. Errors are statuses of gRPC.
package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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

// GRPCStatus returns the status of the error, so that a server passes it on as it is.
func (w withStatus) GRPCStatus() *status.Status { return status.Convert(w.error) }

// WithStatus returns an error that is answered with an HTTP status other than that of its code.
func WithStatus(err error, status int) error { return withStatus{err, status} }

// WriteError answers with an error.
func WriteError(w http.ResponseWriter, err error) {
	st, httpStatus := convert(err)
	body := response(st, w.Header().Get(requestIDHeader))
	body.Status = httpStatus
	if said, ok := errors.AsType[*Error](err); ok { // of an operation that was asked on behalf of the same client
		told := *said
		told.Hint = cmp.Or(told.Hint, hintOf(told.Code))
		body = &told
	}
	writeHeader(w, body.Status, body.RetryAfter)
	_, _ = w.Write(body.line()) // a client that is gone needs none
}

// WriteHeader sends the HTTP status and the headers that belong to an error, and returns its message, for a protocol whose errors
// have a form of their own but are JSON too. The caller writes the body.
func WriteHeader(w http.ResponseWriter, err error) (message string) {
	st, httpStatus := convert(err)
	writeHeader(w, httpStatus, response(st, "").RetryAfter)
	return cmp.Or(st.Message(), st.Code().String())
}

// convert returns an error as a status, and its HTTP status.
func convert(err error) (st *status.Status, httpStatus int) {
	if said, ok := errors.AsType[*Error](err); ok {
		return status.New(codes.Code(code.Code_value[said.Code]), said.Message), said.Status
	}
	var own withStatus
	if errors.As(err, &own) {
		return status.Convert(own.error), own.status
	}
	st = status.Convert(err)
	return st, cmp.Or(statuses[st.Code()], http.StatusInternalServerError)
}

// writeHeader sends an HTTP status with the headers of an error in JSON.
func writeHeader(w http.ResponseWriter, httpStatus int, retryAfterSeconds int) {
	if retryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfterSeconds))
	}
	if httpStatus == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="kioku"`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(httpStatus)
}

// ErrorLine returns an error as one line of JSON, for a response that has begun.
func ErrorLine(w http.ResponseWriter, err error) []byte {
	return response(status.Convert(err), w.Header().Get(requestIDHeader)).line()
}

// response returns a status as it is answered.
func response(st *status.Status, requestID string) *Error {
	out := &Error{Code: code.Code(st.Code()).String(), RequestID: requestID}
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				problem, _ := splitHint(v.GetDescription())
				out.Fields = append(out.Fields, FieldProblem{v.GetField(), problem})
			}
		case *errdetails.ErrorInfo:
			out.Reason = d.GetReason()
		case *errdetails.RetryInfo:
			out.RetryAfter = int(math.Ceil(min(d.GetRetryDelay().AsDuration().Seconds(), math.MaxInt32)))
		}
	}
	out.Message, out.Hint = splitHint(st.Message())
	out.Hint = cmp.Or(out.Hint, hints[st.Code()])
	return out
}

// line returns an error as one line of JSON.
func (e *Error) line() []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(map[string]*Error{"error": e}) // of texts and numbers
	return b.Bytes()
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

// hintOf returns the hint of a code by its name, empty if it has none.
func hintOf(name string) string {
	for c, hint := range hints {
		if code.Code(c).String() == name {
			return hint
		}
	}
	return ""
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
