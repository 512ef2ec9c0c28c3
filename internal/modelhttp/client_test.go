package modelhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	testKey = "sk-test-0123456789abcdef"
	diary   = "On Tuesday I hit billing_not_active"
)

// roundTrip is an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// newClient returns a client whose requests are answered with a status and a body.
func newClient(t *testing.T, status int, body io.Reader, header http.Header) *Client {
	t.Helper()
	base, err := ParseBase("https://me:hunter22@models.example/v1?token=qwertyuiop", "x.baseUrl")
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{
		Provider: "acme", KeyHint: "ACME_KEY", BaseURLSetting: "x.baseUrl", ModelSetting: "x.model", TimeoutSetting: "x.timeout", Base: base,
		APIKey: testKey, Headers: map[string]string{"X-Secret": "header-secret"}, TextWindow: textWindow, Silence: time.Minute, Now: time.Now,
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if h := r.Header; h.Get("Authorization") != "Bearer "+testKey || h.Get("X-Secret") != "header-secret" || h.Get("Content-Type") != "application/json" {
				t.Errorf("sent %v", h)
			}
			stop := context.AfterFunc(r.Context(), func() {
				if c, ok := body.(io.Closer); ok {
					c.Close()
				}
			})
			t.Cleanup(func() { stop() })
			return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body), Request: r}, nil
		}),
	})
}

var texts = []string{diary}

func TestPostClassifiesRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		class  Class
		says   string
	}{
		"key":               {401, `{"error":"wrong key ` + testKey + `"}`, Auth, "acme: 401: check ACME_KEY"},
		"forbidden":         {403, `{}`, Auth, "check its permissions, or ACME_KEY"},
		"key in 400":        {400, `{"error":"API key not valid"}`, Auth, "check ACME_KEY"},
		"no money":          {402, `{}`, NoCredit, "billing"},
		"quota":             {429, `{"code":"insufficient_quota"}`, NoCredit, "billing"},
		"quota in 400":      {400, `{"code":"Arrearage"}`, NoCredit, "billing"},
		"rate limit":        {429, `{"error":"You exceeded your current quota"}`, RateLimited, "too many requests (You exceeded"},
		"too large":         {413, `{}`, Overflow, "window"},
		"too long":          {400, `{"error":"prompt is too long"}`, Overflow, "window"},
		"too long in 500":   {500, `{"error":"the input length exceeds the context length"}`, Overflow, "window"},
		"bad request":       {400, `{"error":"unknown field x"}`, Rejected, "refuses the request (unknown field x)"},
		"unprocessable":     {422, `{}`, Rejected, "refuses the request"},
		"not found":         {404, `{}`, Misconfigured, "check x.baseUrl and x.model"},
		"not implemented":   {501, `{}`, Misconfigured, "check ACME_KEY, x.baseUrl and x.model"},
		"conflict":          {409, `{}`, Unavailable, "the server has a problem"},
		"overloaded":        {529, `<html>sorry</html>`, Unavailable, "the server has a problem (<html>sorry</html>)"},
		"repeats secrets":   {500, "hunter22 qwertyuiop header-secret " + testKey, Unavailable, "([...] [...] [...] [...])"},
		"repeats the texts": {400, "cannot read '" + diary + " again'", Rejected, "(cannot read '[...] again')"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newClient(t, c.status, strings.NewReader(c.body), nil).Post(t.Context(), "https://models.example", "body", texts)
			if ClassOf(err) != c.class || err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), testKey) {
				t.Errorf("class %d, %v", ClassOf(err), err)
			}
		})
	}
}

func TestPostReturnsRetryAfterOfTransientErrors(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]time.Duration{429: 7 * time.Second, 503: 7 * time.Second, 400: 0} {
		_, err := newClient(t, status, strings.NewReader(""), http.Header{"Retry-After": {"7"}}).Post(t.Context(), "https://models.example", "body", texts)
		if e, ok := errors.AsType[*Error](err); !ok || e.RetryAfter != want || e.Pause() != want {
			t.Errorf("%d: %+v", status, err)
		}
	}
	_, err := newClient(t, 429, strings.NewReader(""), nil).Post(t.Context(), "https://models.example", "body", texts)
	if e, ok := errors.AsType[*Error](err); !ok || e.RetryAfter != 0 || e.Pause() != minRateLimitPause {
		t.Errorf("%+v", err)
	}
}

func TestPostDoesNotFollowARedirect(t *testing.T) {
	t.Parallel()
	location := http.Header{"Location": {"https://elsewhere.example/v1?key=" + testKey}}
	_, err := newClient(t, 307, strings.NewReader(""), location).Post(t.Context(), "https://models.example", "body", texts)
	if ClassOf(err) != Misconfigured || !strings.HasSuffix(err.Error(), "307: the server redirects to https://elsewhere.example: set x.baseUrl to the final address") {
		t.Error(err)
	}
}

func TestPostWholeBoundsTheAnswer(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 1<<20)
	got, err := newClient(t, 200, strings.NewReader(body), nil).PostWhole(t.Context(), "https://models.example", "body", 1<<20, texts)
	if err != nil || string(got) != body {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	_, err = newClient(t, 200, strings.NewReader(body+"x"), nil).PostWhole(t.Context(), "https://models.example", "body", 1<<20, texts)
	if ClassOf(err) != Malformed || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Error(err)
	}
}

func TestPostEndsASilentAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		go func() {
			for range 3 {
				time.Sleep(50 * time.Second)
				w.Write([]byte("part"))
			}
		}()
		began := time.Now()
		_, err := newClient(t, 200, r, nil).PostWhole(t.Context(), "https://models.example", "body", 1<<20, texts)
		if took := time.Since(began); ClassOf(err) != Unavailable || !strings.Contains(err.Error(), "no answer within 1m0s") || took != 210*time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
}

// Hazard E08: an answer that begins and then drips to a stop ends after the idle time, although computing it may take longer.
func TestPostEndsAnAnswerThatStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		go func() {
			time.Sleep(time.Second)
			w.Write([]byte("part"))
		}()
		c := New(Config{Provider: "acme", Idle: 5 * time.Second, Now: time.Now, Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			time.Sleep(time.Minute) // it computes
			stop := context.AfterFunc(req.Context(), func() { r.CloseWithError(context.Cause(req.Context())) })
			t.Cleanup(func() { stop() })
			return &http.Response{StatusCode: 200, Body: r, Request: req}, nil
		})})
		began := time.Now()
		_, err := c.PostWhole(t.Context(), "https://models.example", "body", 1<<20, texts)
		if took := time.Since(began); ClassOf(err) != Unavailable || !strings.Contains(err.Error(), "the answer stopped for 5s") || took != 65*time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
}

func TestPostSendsTheKeyInItsHeader(t *testing.T) {
	t.Parallel()
	c := New(Config{Provider: "acme", APIKey: testKey, KeyHeader: "X-Acme-Key", Now: time.Now, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Header.Get("X-Acme-Key") != testKey || r.Header.Get("Authorization") != "" || strings.Contains(r.URL.String(), testKey) {
			t.Errorf("%s, %v", r.URL, r.Header)
		}
		return &http.Response{StatusCode: 500, Body: io.NopCloser(strings.NewReader("your key is " + testKey)), Request: r}, nil
	})})
	if _, err := c.Post(t.Context(), "https://models.example", "body", nil); err == nil || strings.Contains(err.Error(), testKey) {
		t.Error(err)
	}
}

// While the network is offline there is no sense in another try, and the error says how to allow it.
func TestPostWhileOffline(t *testing.T) {
	t.Parallel()
	n := NewNetwork(NetworkOptions{})
	n.SetOffline(true)
	c := New(Config{Provider: "acme", Now: time.Now, Transport: n.Transport("test")})
	_, err := c.Post(t.Context(), "https://models.example", "body", texts)
	if ClassOf(err) != Misconfigured || !errors.Is(err, ErrOffline) || !strings.HasPrefix(err.Error(), "acme: models.example was not asked: offline is set") {
		t.Error(err)
	}
}

func TestLostHidesTheAddress(t *testing.T) {
	t.Parallel()
	c := newClient(t, 200, nil, nil)
	cause := errors.New("connection refused")
	err := c.Lost(&url.Error{Op: "Post", URL: "https://me:hunter22@models.example", Err: cause}, "")
	if want := "acme: connection refused: check the network and that the server runs"; err.Error() != want || !errors.Is(err, cause) || err.Begun {
		t.Errorf("%+v", err)
	}
	if err = c.Lost(cause, "3 characters"); err.Error() != "acme: the answer broke off after 3 characters: connection refused" || !err.Begun {
		t.Errorf("%+v", err)
	}
}

func TestInterruptedClassifiesCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]Class{"overloaded_error": Unavailable, "429": RateLimited, "permission_error": Auth, "400": Rejected} {
		err := newClient(t, 200, nil, nil).Interrupted(code, []byte(`{"message":"sorry, `+testKey+`"}`), nil, "3 characters")
		if err.Class != want || !err.Begun || !strings.HasPrefix(err.Error(), "acme: the server stopped after 3 characters: ") || strings.Contains(err.Error(), testKey) {
			t.Errorf("%s: %+v", code, err)
		}
	}
	if err := newClient(t, 200, nil, nil).Interrupted("400", []byte("prompt is too long"), nil, "0 characters"); err.Class != Overflow {
		t.Errorf("%+v", err)
	}
}
