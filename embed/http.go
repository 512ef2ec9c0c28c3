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
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// maxErrorBody bounds what is read of an answer that is no success.
	maxErrorBody = 64 << 10
	// unasked is the pause after a 429 that names none.
	unasked = 2 * time.Second
	// longestWait bounds the pause a server may ask for.
	longestWait = time.Hour
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
	said := quotable(body, s.secrets, texts)
	f := &fault{verdict: verdictOn(resp.StatusCode, said)}
	if f.verdict == transient {
		f.wait = pauseAsked(resp.Header, body, s.now())
		if f.wait == 0 && resp.StatusCode == http.StatusTooManyRequests {
			f.wait = unasked
		}
	}
	message := fmt.Sprintf("%s: %d: %s", s.name, resp.StatusCode, s.advice(resp, f.verdict))
	// A server that refuses a key likes to repeat parts of it.
	if said != "" && resp.StatusCode != http.StatusUnauthorized {
		message += fmt.Sprintf(" (%s)", shorten(said, 200))
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
	case status == http.StatusTooManyRequests && !outOfCredit.MatchString(said):
		return transient
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge,
		status == http.StatusUnprocessableEntity:
		if outOfCredit.MatchString(said) || badKey.MatchString(said) {
			return terminal
		}
		return refused
	}
	return terminal
}

// What services say besides the status when money or the key is the trouble. Gemini says "exceeded your current
// quota" of a limit a minute too, so that this sentence proves nothing.
var (
	outOfCredit = regexp.MustCompile(`(?i)insufficient_(user_)?quota|insufficient balance|billing_hard_limit|billing_not_active|account_deactivated|arrearage`)
	badKey      = regexp.MustCompile(`(?i)invalid_api_key|api_key_invalid|(incorrect|invalid) api.?key|api key not valid`)
)

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
		return "the server redirects" + target(resp) + ": set remote.baseUrl to the final address"
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

// target names the host a redirect points to; the rest of the address may hold a key.
func target(resp *http.Response) string {
	u, err := resp.Location()
	if err != nil {
		return ""
	}
	return " to " + u.Scheme + "://" + u.Host
}

// retryDelay is Google's way to ask for a pause, a RetryInfo in the body.
var retryDelay = regexp.MustCompile(`"retryDelay"\s*:\s*"([0-9.]+)s"`)

// pauseAsked returns how long a server wants to be left alone, 0 if it does not say: Retry-After in seconds or as
// a date, retry-after-ms, or RetryInfo. The answer is never more than an hour.
func pauseAsked(h http.Header, body []byte, now time.Time) time.Duration {
	if d := seconds(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	after := h.Get("Retry-After")
	if d := seconds(after, time.Second); d > 0 {
		return d
	}
	if at, err := http.ParseTime(after); err == nil {
		return min(max(at.Sub(now), 0), longestWait)
	}
	if m := retryDelay.FindSubmatch(body); m != nil {
		return seconds(string(m[1]), time.Second)
	}
	return 0
}

// seconds returns number times unit, 0 if it is no positive number.
func seconds(number string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(longestWait)))
}
