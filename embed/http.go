package embed

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
	// maxErrorBody bounds what is read of an answer that is no success.
	maxErrorBody = 64 << 10
	// textWindow bytes in a row of a text are not shown in an error.
	textWindow = 12
	// unasked is the pause after a 429 that names none.
	unasked = 2 * time.Second
)

// server is a provider's endpoint: it posts JSON and turns every kind of failure into a fault.
type server struct {
	name    string // of the provider, begins every error
	url     string
	keyHint string // where a person sets the key
	header  http.Header
	secrets []string // what no error may show
	client  *http.Client
	now     func() time.Time
}

// newServer returns the endpoint at address. header is what authenticates, which cfg.Headers may override.
func newServer(cfg Config, address, keyHint string, header http.Header) *server {
	s := &server{name: cfg.Provider, url: address, keyHint: keyHint, header: header, now: cfg.Now}
	s.header.Set("Content-Type", "application/json")
	s.header.Set("User-Agent", "kioku")
	s.secrets = append(s.secrets, cfg.APIKey)
	for name, value := range cfg.Headers {
		s.header.Set(name, value)
		s.secrets = append(s.secrets, value)
	}
	if u, err := url.Parse(address); err == nil {
		password, _ := u.User.Password()
		s.secrets = append(s.secrets, password)
		for _, values := range u.Query() {
			s.secrets = append(s.secrets, values...)
		}
	}
	s.client = &http.Client{
		Transport: cfg.Transport,
		// Following would carry key and texts to wherever the answer points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// post sends body as JSON and returns the answer to a success, which may have limit bytes. texts are those in
// body: no error shows them.
func (s *server) post(ctx context.Context, body any, limit int64, texts []string) ([]byte, error) {
	payload, err := json.Marshal(body)
	if err != nil {
		return nil, faultf(broken, "%s: encode request: %w", s.name, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(payload))
	if err != nil {
		return nil, faultf(terminal, "%s: the address is not usable: check remote.baseUrl", s.name)
	}
	req.Header = s.header.Clone()
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, s.lost(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, s.failure(resp, texts)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, s.lost(err)
	}
	if int64(len(answer)) > limit {
		return nil, faultf(broken, "%s: the answer is larger than %d MiB", s.name, limit>>20)
	}
	return answer, nil
}

// lost describes a connection that failed, without the URL, which may hold a key.
func (s *server) lost(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s: %w: check the network and that the server runs", s.name, err)
}

// failure reads an answer that is no success.
func (s *server) failure(resp *http.Response, texts []string) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // what came is all there is to say
	said := modelhttp.Quote(body, s.secrets, texts, textWindow)
	f := &fault{verdict: verdictOn(resp.StatusCode, said)}
	if f.verdict == transient {
		f.wait = modelhttp.Pause(resp.Header, body, s.now())
		if f.wait == 0 && resp.StatusCode == http.StatusTooManyRequests {
			f.wait = unasked
		}
	}
	message := fmt.Sprintf("%s: %d: %s", s.name, resp.StatusCode, s.advice(resp, f.verdict))
	// A server that refuses a key likes to repeat parts of it.
	if said != "" && resp.StatusCode != http.StatusUnauthorized {
		message += fmt.Sprintf(" (%s)", modelhttp.Shorten(said, 200))
	}
	f.err = errors.New(message)
	return f
}

// verdictOn judges an answer by its status and by what the server said, in which no user text is left.
func verdictOn(status int, said string) verdict {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly,
		status >= 500 && status != http.StatusNotImplemented:
		return transient
	case status == http.StatusTooManyRequests && !modelhttp.OutOfCredit(said):
		return transient
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge,
		status == http.StatusUnprocessableEntity:
		if modelhttp.OutOfCredit(said) || modelhttp.BadKey(said) {
			return terminal
		}
		return refused
	}
	return terminal
}

// advice says what a person can do.
func (s *server) advice(resp *http.Response, v verdict) string {
	status := resp.StatusCode
	switch {
	case status == http.StatusUnauthorized:
		return "check " + s.keyHint
	case status == http.StatusForbidden:
		return "this key may not do that: check its permissions, or " + s.keyHint
	case status == http.StatusTooManyRequests && v == terminal, status == http.StatusPaymentRequired:
		return "the account has no credit left: check its billing"
	case status >= 300 && status < 400:
		return "the server redirects" + modelhttp.Target(resp) + ": set remote.baseUrl to the final address"
	case status == http.StatusNotFound:
		return "no such endpoint or model: check remote.baseUrl and model"
	case v == terminal:
		return "check " + s.keyHint + ", remote.baseUrl and model"
	case status == http.StatusTooManyRequests:
		return "too many requests, slowing down"
	case v == transient:
		return "the server has a problem"
	}
	return "the server refuses the request"
}
