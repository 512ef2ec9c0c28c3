package embed_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
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
