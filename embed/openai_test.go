package embed_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kioku/embed"
)

func TestOpenAIRequest(t *testing.T) {
	t.Parallel()
	f, c := newFake(t, embed.Config{Dims: 3, Headers: map[string]string{"OpenAI-Project": "p1"}}, good)
	if _, err := c.Documents(t.Context(), []string{"tea", "茶"}); err != nil {
		t.Fatal(err)
	}
	got := f.seen()[0]
	if got.URL != "https://api.openai.com/v1/embeddings" || got.Model != "text-embedding-3-small" || got.Dimensions != 3 {
		t.Errorf("sent %+v", got)
	}
	if diff := cmp.Diff([]string{"tea", "茶"}, got.Input); diff != "" {
		t.Error(diff)
	}
	if a, p := got.Header.Get("Authorization"), got.Header.Get("Openai-Project"); a != "Bearer "+testKey || p != "p1" {
		t.Errorf("Authorization %q, project %q", a, p)
	}
}

// Hazard E06: vectors in another order are assigned to their own texts.
func TestOpenAIVectorsAreOrderedByIndex(t *testing.T) {
	t.Parallel()
	_, c := newFake(t, embed.Config{}, func(request) reply {
		return reply{body: `{"data":[
			{"index":2,"embedding":[0,0,2]},
			{"index":0,"embedding":[3,0,0]},
			{"index":1,"embedding":[0,5,0]}]}`}
	})
	got, err := c.Documents(t.Context(), []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	want := []embed.Embedding{{Vector: []float32{1, 0, 0}}, {Vector: []float32{0, 1, 0}}, {Vector: []float32{0, 0, 1}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Hazard E06: an answer that is not one vector for each text is refused as a whole, though the status is 200.
func TestOpenAIMalformedAnswers(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing":         ``,
		"empty object":    `{}`,
		"null":            `null`,
		"null data":       `{"data":null}`,
		"HTML":            `<html><body>Please log in to the hotel network</body></html>`,
		"an error":        `{"error":{"message":"upstream overloaded","code":502}}`,
		"short":           `{"data":[{"index":0,"embedding":[1,2,3]}]}`,
		"long":            `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]},{"index":2,"embedding":[1]}]}`,
		"duplicate index": `{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`,
		"no index":        `{"data":[{"embedding":[1,2]},{"embedding":[1,2]}]}`,
		"index too large": `{"data":[{"index":0,"embedding":[1,2]},{"index":2,"embedding":[1,2]}]}`,
		"negative index":  `{"data":[{"index":0,"embedding":[1,2]},{"index":-1,"embedding":[1,2]}]}`,
		"two dimensions":  `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2,3]}]}`,
		"cut off":         `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embe`,
		"trailing":        `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2]}]}{}`,
		"empty vector":    `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[]}]}`,
		"null vector":     `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":null}]}`,
		"null number":     `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,null]}]}`,
		"words":           `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":["1","2"]}]}`,
		"a string":        `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":"AAAA"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, c := newFake(t, embed.Config{}, func(request) reply { return reply{body: body} })
			got, err := c.Documents(t.Context(), []string{"a", "b"})
			if !errors.Is(err, embed.ErrUnavailable) {
				t.Errorf("error %v", err)
			}
			for _, e := range got {
				if e.Vector != nil || e.Err == nil {
					t.Errorf("%v came through", e.Vector)
				}
			}
			if c.Space().Dims != 0 || c.Health().Healthy {
				t.Errorf("space %+v, health %+v", c.Space(), c.Health())
			}
		})
	}
}

// serve runs a real server and returns a client for it that tries once.
func serve(t *testing.T, h http.HandlerFunc) *embed.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := embed.New(embed.Config{Provider: "openai", BaseURL: s.URL, APIKey: testKey, MaxTries: 1,
		TryTimeout: time.Minute, QueryTimeout: time.Minute, Headers: map[string]string{"X-Api-Key": "header-secret"}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Hazard E08: neither key nor text is sent to the target of a redirect.
func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	var visited atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visited.Add(1) }))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/v1/embeddings?key="+testKey, status)
		})
		_, err := c.Documents(t.Context(), []string{"tea"})
		if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), other.URL) || strings.Contains(err.Error(), testKey) {
			t.Errorf("%d: %v", status, err)
		}
	}
	if visited.Load() != 0 {
		t.Errorf("the other server had %d visits", visited.Load())
	}
}

// Hazard E08: of an endless answer only as much is read as vectors can fill.
func TestAnswerSizeIsBounded(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		chunk := bytes.Repeat([]byte("1,"), 32<<10)
		for sent.Load() < 1<<30 {
			n, err := w.Write(chunk)
			if err != nil {
				return
			}
			sent.Add(int64(n))
		}
	})
	_, err := c.Query(t.Context(), "tea")
	if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("got %v", err)
	}
	if sent.Load() > 64<<20 {
		t.Errorf("the server could send %d MiB", sent.Load()>>20)
	}
}

func TestErrorShowsNeitherKeyNorText(t *testing.T) {
	t.Parallel()
	const text = "My bank PIN is 4711, 誕生日は五月三日です"
	for name, body := range map[string]string{
		"plain":   text + " " + testKey + " header-secret " + strings.Repeat("sorry ", 500),
		"escaped": fmt.Sprintf(`{"detail":[{"msg":"cannot embed","input":%+q,"key":%q}]}`, text, "Bearer "+testKey),
	} {
		t.Run(name, func(t *testing.T) {
			for _, status := range []int{400, 403, 500} {
				c := serve(t, func(w http.ResponseWriter, r *http.Request) {
					w.WriteHeader(status)
					fmt.Fprint(w, body)
				})
				got, err := c.Documents(t.Context(), []string{text})
				if err == nil {
					err = got[0].Err
				}
				for _, secret := range []string{testKey, "header-secret", "4711", "bank", "誕生日", "五月"} {
					if strings.Contains(err.Error(), secret) {
						t.Errorf("%s %d: %q is in %v", name, status, secret, err)
					}
				}
				if len(err.Error()) > 500 {
					t.Errorf("%s %d: %d characters", name, status, len(err.Error()))
				}
			}
		})
	}
}

func TestUnreachableServerErrorShowsNoSecret(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	address := strings.Replace(s.URL, "http://", "http://me:hunter22@", 1) + "?api_key=qwertyuiop"
	s.Close()
	c, err := embed.New(embed.Config{Provider: "openai", BaseURL: address, MaxTries: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Query(t.Context(), "tea")
	if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "refused") || !strings.Contains(err.Error(), "check the network") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(err.Error(), "hunter22") || strings.Contains(err.Error(), "qwertyuiop") {
		t.Errorf("a secret is in %v", err)
	}
}

// A server that refuses connections is told at once, not after all tries.
func TestRefusedConnectionIsToldAtOnce(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	address := s.URL
	s.Close()
	synctest.Test(t, func(t *testing.T) { // in which only pauses take time
		c, err := embed.New(embed.Config{Provider: "openai", BaseURL: address})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err = c.Documents(t.Context(), []string{"tea"})
		if took := time.Since(began); took > 0 || !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "refused") {
			t.Errorf("got %v after %v", err, took)
		}
		if h := c.Health(); h.Healthy || h.RetryAt.Before(began) {
			t.Errorf("got %+v", h)
		}
	})
}
