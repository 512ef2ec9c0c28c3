package llm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kioku/llm"
)

// providers are all providers with a valid answer of each.
var providers = map[string]reply{
	"anthropic": {header: eventStream, body: sse(claudes...)},
	"openai":    {header: eventStream, body: completionSSE(completions...)},
	"gemini":    {header: eventStream, body: strings.ReplaceAll(geminiSSE(geminis...), "\n\t\t", "")},
	"ollama":    {body: ndjson(lines...)},
}

func TestRetryWaitsAsLongAsTheServerAsks(t *testing.T) {
	t.Parallel()
	for provider, good := range providers {
		t.Run(provider, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, m := direct(t, llm.Config{Provider: provider, Window: 1000},
					reply{status: 429, header: map[string]string{"Retry-After": "37"}, body: `{"error":{"message":"slow down"}}`},
					reply{status: 529, body: `{"error":{"message":"Overloaded"}}`}, good)
				began := time.Now()
				got, err := m.Generate(t.Context(), hi(), nil)
				if err != nil || got.Stop != llm.StopTools || len(s.requests()) != 3 {
					t.Fatalf("%+v, %v after %d requests", got, err, len(s.requests()))
				}
				if d := time.Since(began); d < 37*time.Second || d > 45*time.Second {
					t.Errorf("took %s", d)
				}
			})
		})
	}
}

func TestRetryOnlyWhatMaySucceed(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]reply{
		"key":       {status: 401, body: `{}`},
		"input":     {status: 400, body: `{}`},
		"overflow":  {status: 400, body: `{"error":{"message":"prompt is too long"}}`},
		"no money":  {status: 429, body: `{"error":{"code":"insufficient_quota"}}`},
		"long wait": {status: 429, header: map[string]string{"Retry-After": "3000"}, body: `{}`},
		"redirect":  {status: 302, header: map[string]string{"Location": "https://elsewhere.example/"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, m := direct(t, llm.Config{Provider: "openai"}, r)
				began := time.Now()
				if _, err := m.Generate(t.Context(), hi(), nil); err == nil || time.Since(began) != 0 || len(s.requests()) != 1 {
					t.Errorf("%v after %d requests and %s", err, len(s.requests()), time.Since(began))
				}
			})
		})
	}
}

func TestRetriesEndWithRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, m := direct(t, llm.Config{Provider: "openai", MaxRetries: 2}, reply{status: 429, header: map[string]string{"Retry-After": "9"}, body: `{}`})
		_, err := m.Generate(t.Context(), hi(), nil)
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.Kind != llm.KindRateLimit || e.RetryAfter != 9*time.Second || len(s.requests()) != 3 {
			t.Errorf("%v after %d requests", err, len(s.requests()))
		}
	})
}

func TestRetryNotAfterAStreamedPart(t *testing.T) {
	t.Parallel()
	broken := map[string]reply{
		"anthropic": {header: eventStream, body: sse(claudes[:4]...)},
		"openai":    {header: eventStream, body: completionSSE(completions[:2]...)},
		"ollama":    {body: ndjson(lines[0])},
	}
	for provider, r := range broken {
		t.Run(provider, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, m := direct(t, llm.Config{Provider: provider, Window: 1000}, r, providers[provider])
				var h heard
				_, err := m.Generate(t.Context(), hi(), h.event)
				if llm.KindOf(err) != llm.KindUnavailable || !strings.Contains(err.Error(), "after 3 characters") || len(s.requests()) != 1 || h.text != "お茶を" {
					t.Errorf("%v after %d requests, heard %q", err, len(s.requests()), h.text)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				s, m := direct(t, llm.Config{Provider: provider, Window: 1000}, r, providers[provider])
				if got, err := m.Generate(t.Context(), hi(), nil); err != nil || len(s.requests()) != 2 || got.Message.Text != "お茶を探します 🍵" {
					t.Errorf("nobody listens: %+v, %v", got, err)
				}
			})
		})
	}
}

func TestRetryPauseDoesNotOutlastTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, m := direct(t, llm.Config{Provider: "openai"}, reply{status: 503, header: map[string]string{"Retry-After": "60"}, body: `{}`})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := m.Generate(ctx, hi(), nil); llm.KindOf(err) != llm.KindUnavailable || time.Since(began) != 0 {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		gone := errors.New("the user pressed Ctrl-C")
		ctx2, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Second, func() { stop(gone) })
		began = time.Now()
		if _, err := m.Generate(ctx2, hi(), nil); !errors.Is(err, gone) || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestGenerateEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for provider, part := range map[string]string{
		"anthropic": sse(claudes[:4]...), "openai": completionSSE(completions[:2]...), "ollama": ndjson(lines[0]),
	} {
		t.Run(provider, func(t *testing.T) {
			_, m := serve(t, llm.Config{Provider: provider, Window: 1000}, reply{header: eventStream, body: part, hang: true})
			ctx, cancel := context.WithCancel(t.Context())
			_, err := m.Generate(ctx, hi(), func(llm.Event) { cancel() })
			if !errors.Is(err, context.Canceled) || llm.KindOf(err) != "" {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestTimeoutOfASilentServer(t *testing.T) {
	t.Parallel()
	for provider, part := range map[string]string{
		"anthropic": sse(claudes[:4]...), "openai": completionSSE(completions[:2]...), "ollama": ndjson(lines[0]),
	} {
		for body, want := range map[string]string{"": "llm.timeout", part: "after 3 characters: nothing came"} {
			t.Run(fmt.Sprintf("%s %d", provider, len(body)), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m := newModel(t, llm.Config{Provider: provider, BaseURL: "http://localhost:1/v1", Window: 1000, MaxRetries: -1, Timeout: 5 * time.Second, Transport: silent{body}})
					began := time.Now()
					_, err := m.Generate(t.Context(), hi(), nil)
					if llm.KindOf(err) != llm.KindUnavailable || !strings.Contains(err.Error(), want) || time.Since(began) != 5*time.Second {
						t.Errorf("%v after %s", err, time.Since(began))
					}
				})
			})
		}
	}
}

// silent is a transport whose answers stop after these bytes, and do not begin without any, until the client leaves.
type silent struct{ body string }

func (s silent) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.body == "" {
		_, err := left{r.Context()}.Read(nil)
		return nil, err
	}
	header := http.Header{"Content-Type": {eventStream["Content-Type"]}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(io.MultiReader(strings.NewReader(s.body), left{r.Context()})), Request: r}, nil
}

// left is a body of which nothing comes until the client leaves.
type left struct{ client context.Context }

func (l left) Read([]byte) (int, error) {
	<-l.client.Done()
	return 0, context.Cause(l.client)
}

func TestUnreachableServerErrorShowsNoSecret(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	address := strings.Replace(server.URL, "http://", "http://me:hunter22@", 1) + "?api_key=qwertyuiop"
	server.Close()
	for provider := range providers {
		m, err := llm.New(llm.Config{Provider: provider, Model: "m", BaseURL: address, APIKey: testKey, MaxRetries: -1, Window: 1000})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Generate(t.Context(), hi(), nil)
		if llm.KindOf(err) != llm.KindUnavailable || !strings.Contains(err.Error(), "check the network") {
			t.Errorf("%s: %v", provider, err)
		}
		for _, secret := range []string{"hunter22", "qwertyuiop", testKey} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", provider, err)
			}
		}
	}
}

func TestAnswerSizeIsBounded(t *testing.T) {
	t.Parallel()
	_, m := direct(t, llm.Config{Provider: "openai", MaxRetries: -1}, reply{header: eventStream, body: strings.Repeat(": comment\n", 7<<20)})
	if _, err := m.Generate(t.Context(), hi(), nil); llm.KindOf(err) != llm.KindUnavailable || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("%v", err)
	}
}

// A request with patience is not sent again later than that after its first try, whatever the server asks for; without
// patience it goes on longer.
func TestGenerateRetriesAsLongAsItHasPatience(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply          reply
		patience       time.Duration
		least, most    int           // requests
		atLeast, total time.Duration // the time of them all
	}{
		"no patience said": {reply{status: 503}, 0, 5, 5, 12 * time.Second, 20 * time.Second},
		"five seconds":     {reply{status: 503}, 5 * time.Second, 2, 3, 0, 5 * time.Second},
		"an hour":          {reply{status: 503}, time.Hour, 5, 5, 12 * time.Second, 20 * time.Second},
		"a longer pause":   {reply{status: 429, header: map[string]string{"Retry-After": "60"}}, 5 * time.Second, 1, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, m := direct(t, llm.Config{Provider: "openai"}, c.reply)
				req := hi()
				req.Patience = c.patience
				began := time.Now()
				_, err := m.Generate(t.Context(), req, nil)
				took, n := time.Since(began), len(s.requests())
				if err == nil || n < c.least || n > c.most || took < c.atLeast || took > c.total {
					t.Errorf("%v after %d requests and %s", err, n, took)
				}
			})
		})
	}
}
