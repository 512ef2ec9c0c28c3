package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"kioku/internal/modelhttp"
)

const (
	// maxErrorBody bounds what is read of an answer that is no success, maxAnswer of one that is.
	maxErrorBody = 64 << 10
	maxAnswer    = 64 << 20
)

var (
	errSilence = errors.New("nothing came in the time there was")
	errTooLong = fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)
)

// server is the HTTP side of a provider. It is the transport of its client: it bounds silence and sizes, and follows no
// redirect, which would carry key and conversation to wherever it points.
type server struct {
	name    string // of the provider, begins every error
	keyHint string // where a person sets the key
	secrets []string
	header  http.Header
	timeout time.Duration
	now     func() time.Time
	base    http.RoundTripper
}

func newServer(cfg Config, base *url.URL, keyHint string) *server {
	s := &server{name: cfg.Provider, keyHint: keyHint, timeout: cfg.Timeout, now: cfg.Now, base: cfg.Transport, header: http.Header{}}
	if s.base == nil {
		s.base = http.DefaultTransport
	}
	s.header.Set("Content-Type", "application/json")
	s.header.Set("User-Agent", "kioku")
	password, _ := base.User.Password()
	s.secrets = append(s.secrets, cfg.APIKey, password)
	for _, values := range base.Query() {
		s.secrets = append(s.secrets, values...)
	}
	return s
}

// client returns a client that goes through s.
func (s *server) client() *http.Client {
	return &http.Client{Transport: s, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// RoundTrip implements http.RoundTripper.
func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(s.timeout, func() { cancel(errSilence) })
	resp, err := s.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		timer.Stop()
		cause := context.Cause(ctx)
		cancel(nil)
		if errors.Is(cause, errSilence) {
			return nil, errSilence
		}
		return nil, err
	}
	body := &answerBody{rc: resp.Body, ctx: ctx, cancel: cancel, timer: timer, timeout: s.timeout, left: maxAnswer}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		body.Close()
		return nil, &Error{Kind: KindInput, final: true, Message: fmt.Sprintf("%s: %d: the server redirects%s: set llm.baseUrl to the final address",
			s.name, resp.StatusCode, modelhttp.Target(resp))}
	}
	resp.Body = body
	if resp.StatusCode >= 400 {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(body, maxErrorBody), body}
	}
	return resp, nil
}

// answerBody is the body of an answer. One goroutine reads and closes it.
type answerBody struct {
	rc      io.ReadCloser
	ctx     context.Context // of the request; it ends with the silence that is too long
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	timeout time.Duration
	left    int64
}

// Read implements io.Reader.
func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.rc.Read(p)
	b.left -= int64(n)
	switch {
	case b.left < 0:
		return 0, errTooLong
	case err != nil && err != io.EOF && errors.Is(context.Cause(b.ctx), errSilence):
		err = errSilence
	case err == nil:
		b.timer.Reset(b.timeout)
	}
	return n, err
}

// Close implements io.Closer.
func (b *answerBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.rc.Close()
}

// post sends body as JSON and returns the answer to a success, which the caller closes. texts are those of the request: no
// error shows them.
func (s *server) post(ctx context.Context, address string, body any, texts func() []string) (*http.Response, error) {
	payload, err := json.Marshal(body)
	if err != nil {
		return nil, &Error{Kind: KindInput, Message: fmt.Sprintf("%s: encode request: %v", s.name, err), Err: err, final: true}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(payload))
	if err != nil {
		return nil, &Error{Kind: KindInput, Message: s.name + ": the address is not usable: check llm.baseUrl", final: true}
	}
	req.Header = s.header.Clone()
	resp, err := s.client().Do(req)
	if err != nil {
		return nil, s.lost(err, "")
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		said, _ := io.ReadAll(resp.Body) // what came is all there is to say
		return nil, s.refusal(resp, said, texts())
	}
	return resp, nil
}

// lost describes a connection that failed, without the URL, which may hold a key. arrived says how much of the answer had
// come by then.
func (s *server) lost(err error, arrived string) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	message := fmt.Sprintf("%s: %v: check the network and that the server runs", s.name, err)
	switch {
	case arrived != "":
		message = fmt.Sprintf("%s: the answer broke off after %s: %v", s.name, arrived, err)
	case errors.Is(err, errSilence):
		message = fmt.Sprintf("%s: no answer within %s: check that the server answers, or set llm.timeoutSeconds", s.name, s.timeout)
	}
	return &Error{Kind: KindUnavailable, Message: message, Err: err, begun: arrived != ""}
}
