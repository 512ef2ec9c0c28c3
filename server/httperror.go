package server

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// httpStatuses are the HTTP statuses of the codes with which the server itself refuses a request.
var httpStatuses = map[codes.Code]int{
	codes.PermissionDenied:  http.StatusForbidden,
	codes.ResourceExhausted: http.StatusTooManyRequests,
	codes.OutOfRange:        http.StatusRequestEntityTooLarge,
	codes.DeadlineExceeded:  http.StatusRequestTimeout,
	codes.InvalidArgument:   http.StatusBadRequest,
	codes.NotFound:          http.StatusNotFound,
	codes.Unavailable:       http.StatusServiceUnavailable,
	codes.Canceled:          499,
}

// httpError is the body of a refusal, a kioku.v1.ErrorResponse.
type httpError struct {
	Error struct {
		Code              string `json:"code"`
		Message           string `json:"message"`
		Hint              string `json:"hint,omitempty"`
		RequestID         string `json:"requestId"`
		RetryAfterSeconds int    `json:"retryAfterSeconds,omitempty"`
	} `json:"error"`
}

// refuse answers a request with a status, in the form of the errors of the routes under /v1/.
func refuse(w http.ResponseWriter, err error) {
	st := status.Convert(err)
	var body httpError
	e := &body.Error
	e.Code, e.RequestID = code.Code(st.Code()).String(), w.Header().Get(requestIDHeader)
	e.Message, e.Hint, _ = strings.Cut(st.Message(), "; ")
	for _, d := range st.Details() {
		if retry, ok := d.(*errdetails.RetryInfo); ok {
			e.RetryAfterSeconds = int(math.Ceil(retry.GetRetryDelay().AsDuration().Seconds()))
			w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfterSeconds))
		}
	}
	writeJSON(w, cmp.Or(httpStatuses[st.Code()], http.StatusInternalServerError), body)
}

// writeJSON answers with a JSON object that no cache keeps.
func writeJSON(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(body) // an error is that of a client who has gone
}
