// Package modelhttp is the HTTP client of the model providers: it posts JSON, bounds the size and the silence of answers,
// classifies failures, reads how long a server wants to be left alone, retries with backoff, and keeps keys and texts out
// of error messages.
package modelhttp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"
)

const (
	// maxErrorBody bounds in bytes what is read of an answer that is not a success, maxAnswer of one that is.
	maxErrorBody = 64 << 10
	maxAnswer    = 64 << 20
)

var (
	errSilence = errors.New("nothing came in the time there was")
	errTooLong = fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)
)

// Config describes a server. The names of settings appear in error messages only.
type Config struct {
	// Provider begins every error message.
	Provider string
	// KeyHint says where a person sets the key.
	KeyHint string
	// BaseURLSetting and ModelSetting are the names of the settings.
	BaseURLSetting, ModelSetting string
	// TimeoutSetting is the name of the setting of Silence; empty if Silence is 0.
	TimeoutSetting string
	// Base is the URL from the settings; its password and query values are kept out of error messages.
	Base *url.URL
	// APIKey is what Post sends as a bearer token; empty sends none.
	APIKey string
	// KeyHeader is the header that carries the key by itself, such as "X-Goog-Api-Key"; empty means a bearer token.
	KeyHeader string
	// Headers that Post sends; they take precedence over its own. Their values are secret.
	Headers map[string]string
	// TextWindow is how many consecutive bytes of a request's text an error message may not repeat.
	TextWindow int
	// Silence is the longest wait for an answer to begin and for each next part; 0 means no bound.
	Silence time.Duration
	// Idle is the longest wait for the next part of an answer that has begun, for servers that compute the whole answer before
	// they send it; 0 means Silence.
	Idle time.Duration
	// Now is the clock; it must be set.
	Now func() time.Time
	// Transport sends the requests; nil means a network of this client's own.
	Transport http.RoundTripper
}

// Client sends requests to one server. It is safe for concurrent use. Its errors are *Error. As an http.RoundTripper it
// applies the same bounds to the requests of an SDK.
type Client struct {
	cfg     Config
	header  http.Header
	secrets []string
}

// New returns a client for cfg. It makes no request.
func New(cfg Config) *Client {
	if cfg.Transport == nil {
		cfg.Transport = NewNetwork(NetworkOptions{}).Transport(cfg.Provider)
	}
	c := &Client{cfg: cfg, header: http.Header{}, secrets: []string{cfg.APIKey}}
	c.header.Set("Content-Type", "application/json")
	c.header.Set("User-Agent", "kioku")
	switch {
	case cfg.APIKey == "":
	case cfg.KeyHeader != "":
		c.header.Set(cfg.KeyHeader, cfg.APIKey)
	default:
		c.header.Set("Authorization", "Bearer "+cfg.APIKey)
	}
	for name, value := range cfg.Headers {
		c.header.Set(name, value)
		c.secrets = append(c.secrets, value)
	}
	if cfg.Base != nil {
		password, _ := cfg.Base.User.Password()
		c.secrets = append(c.secrets, password)
		for _, values := range cfg.Base.Query() {
			c.secrets = append(c.secrets, values...)
		}
	}
	return c
}

// HTTPClient returns an http.Client that sends its requests through c. It follows no redirect, which would carry key and
// texts to wherever it points.
func (c *Client) HTTPClient() *http.Client {
	return &http.Client{Transport: c, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Post sends body as JSON and returns a successful response, whose body the caller closes. No error message repeats texts,
// the texts in the request.
func (c *Client) Post(ctx context.Context, address string, body any, texts []string) (*http.Response, error) {
	payload, err := json.Marshal(body)
	if err != nil {
		return nil, c.errorf(Rejected, "encode request: %w", err)
	}
	return c.send(ctx, http.MethodPost, address, bytes.NewReader(payload), texts)
}

// send sends a request and returns a successful response, whose body the caller closes.
func (c *Client) send(ctx context.Context, method, address string, body io.Reader, texts []string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, c.errorf(Misconfigured, "the address is not usable: check %s", c.cfg.BaseURLSetting)
	}
	req.Header = c.header.Clone()
	resp, err := c.HTTPClient().Do(req)
	if err != nil {
		return nil, c.Lost(err, "")
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		said, _ := io.ReadAll(resp.Body) // a part of it is better than nothing
		return nil, c.Refused(resp, said, texts)
	}
	return resp, nil
}

// PostWhole is Post for an answer of at most limit bytes, which it reads whole.
func (c *Client) PostWhole(ctx context.Context, address string, body any, limit int64, texts []string) ([]byte, error) {
	resp, err := c.Post(ctx, address, body, texts)
	if err != nil {
		return nil, err
	}
	return c.readWhole(resp, limit)
}

// GetWhole returns what the server has at an address, at most limit bytes. It sends the same header as Post.
func (c *Client) GetWhole(ctx context.Context, address string, limit int64) ([]byte, error) {
	resp, err := c.send(ctx, http.MethodGet, address, http.NoBody, nil)
	if err != nil {
		return nil, err
	}
	return c.readWhole(resp, limit)
}

// readWhole reads and closes the body of a response.
func (c *Client) readWhole(resp *http.Response, limit int64) ([]byte, error) {
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, c.Lost(err, "")
	}
	if int64(len(answer)) > limit {
		return nil, c.errorf(Malformed, "the answer is larger than %d MiB", limit>>20)
	}
	return answer, nil
}

// RoundTrip implements http.RoundTripper. A redirect is an error.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	body := &boundedBody{ctx: ctx, cancel: cancel, idle: cmp.Or(c.cfg.Idle, c.cfg.Silence), left: maxAnswer}
	if c.cfg.Silence > 0 {
		body.timer = time.AfterFunc(c.cfg.Silence, body.silent)
	}
	resp, err := c.cfg.Transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		err = body.cause(err)
		body.release()
		return nil, err
	}
	body.rc = resp.Body
	body.await()
	resp.Body = body
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		defer body.Close()
		return nil, c.Refused(resp, nil, nil)
	}
	if resp.StatusCode == http.StatusOK && isWebPage(resp) {
		defer body.Close()
		return nil, c.errorf(Malformed, "the answer is a web page and not the API's: a proxy or a page to log in answers in its place; check %s and the proxy of this network", c.cfg.BaseURLSetting)
	}
	if resp.StatusCode >= 400 {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(body, maxErrorBody), body}
	}
	return resp, nil
}

// isWebPage reports whether a response is HTML, which no API of a model answers with.
func isWebPage(resp *http.Response) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && (kind == "text/html" || kind == "application/xhtml+xml")
}

// boundedBody is the body of an answer. One goroutine reads and closes it.
type boundedBody struct {
	rc     io.ReadCloser
	ctx    context.Context // of the request; errSilence ends it
	cancel context.CancelCauseFunc
	timer  *time.Timer   // nil without a bound on silence
	idle   time.Duration // the longest wait for the next part; 0 means no bound
	left   int64
}

// silent ends the request.
func (b *boundedBody) silent() { b.cancel(errSilence) }

// await starts the wait for the next part.
func (b *boundedBody) await() {
	switch {
	case b.idle == 0:
	case b.timer == nil:
		b.timer = time.AfterFunc(b.idle, b.silent)
	default:
		b.timer.Reset(b.idle)
	}
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.rc.Read(p)
	b.left -= int64(n)
	switch {
	case b.left < 0:
		return 0, errTooLong
	case err != nil && err != io.EOF:
		err = b.cause(err)
	case err == nil:
		b.await()
	}
	return n, err
}

// cause returns errSilence if that is why the request ended, and otherwise err.
func (b *boundedBody) cause(err error) error {
	if errors.Is(context.Cause(b.ctx), errSilence) {
		return errSilence
	}
	return err
}

// Close implements io.Closer.
func (b *boundedBody) Close() error {
	b.release()
	return b.rc.Close()
}

func (b *boundedBody) release() {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.cancel(nil)
}
