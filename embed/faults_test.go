package embed_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
)

// Hazard E01: each provider's way to ask for a pause is honoured, by one pause for all callers.
func TestProvidersRateLimitIsWaitedFor(t *testing.T) {
	eachProvider(t, func(t *testing.T, name string, w wire) {
		synctest.Test(t, func(t *testing.T) {
			s, c := newWire(t, name, embed.Config{BatchItems: 2}, func(s *wireServer, r wireRequest) reply {
				if r.N == 1 {
					return w.rateLimit
				}
				return s.good(r)
			})
			began := time.Now()
			if _, err := c.Documents(t.Context(), numbered(4)); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < 7*time.Second || took > 12*time.Second || len(s.seen()) > 4 {
				t.Errorf("%d requests in %s", len(s.seen()), took)
			}
		})
	})
}

// Hazard E02: a key that a provider refuses, in its own words, is not tried again, and the error says where the key is from and
// shows none of it.
func TestProvidersRefuseAKey(t *testing.T) {
	eachProvider(t, func(t *testing.T, name string, w wire) {
		synctest.Test(t, func(t *testing.T) {
			s, c := newWire(t, name, embed.Config{}, func(*wireServer, wireRequest) reply { return w.badKey })
			var err error
			for i := range 50 {
				_, err = c.Query(t.Context(), fmt.Sprint("question ", i))
			}
			if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "check the key from the vault") || strings.Contains(err.Error(), "cdef") {
				t.Errorf("%v", err)
			}
			if n := len(s.seen()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	})
}

// Hazard E02, E03: a day of a used-up account or of a quota of a day costs few requests.
func TestProvidersExhaustedQuotaCostsLittle(t *testing.T) {
	t.Parallel()
	const perDay = `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"EmbedContentRequestsPerDayPerUserPerProjectPerModel-FreeTier","quotaValue":"1000"}]},` +
		`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}]}}`
	for name, tc := range map[string]struct {
		provider string
		answer   reply
	}{
		"insufficient_quota": {"openai", reply{status: 429, body: `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`}},
		"leaked key":         {"gemini", reply{status: 403, body: `{"error":{"code":403,"message":"Your API key was reported as leaked. Please use another API key.","status":"PERMISSION_DENIED"}}`}},
		"quota of a day":     {"gemini", reply{status: 429, body: perDay}},
		"payment required":   {"voyage", reply{status: 402, body: `{"detail":"payment required"}`}},
		"no plan":            {"mistral", reply{status: 403, body: `{"message":"Inactive subscription or usage limit reached"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, c := newWire(t, tc.provider, embed.Config{}, func(*wireServer, wireRequest) reply { return tc.answer })
				dayLong(func() {
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
					defer cancel()
					c.Documents(ctx, []string{"tea"})
				})
				if n := len(s.seen()); n > 40 || n < 5 {
					t.Errorf("%d requests in a day", n)
				}
				if h := c.Health(); h.Healthy || h.Err == nil {
					t.Errorf("%+v", h)
				}
			})
		})
	}
}

// Hazard E04: a provider that refuses so many texts at once, in its own words, gets fewer from then on.
func TestProvidersTakeFewerTexts(t *testing.T) {
	eachProvider(t, func(t *testing.T, name string, w wire) {
		for _, most := range []int{1, 10, 16} {
			s, c := newWire(t, name, embed.Config{DocumentPrefix: new(string)}, func(s *wireServer, r wireRequest) reply {
				if len(r.Texts) > most {
					return w.tooMany
				}
				return s.good(r)
			})
			texts := numbered(100)
			got, err := c.Documents(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			wantVectors(t, texts, got)
			if len(s.seen()) > 100/max(most/2, 1)+128/most { // the first 64 are halved until each part is taken
				t.Errorf("most %d: %d requests", most, len(s.seen()))
			}
		}
	})
}

// Hazard E05: one poison text, refused in whatever way, has its own error, and all others are embedded.
func TestProvidersRefuseOneText(t *testing.T) {
	poisons := map[string]reply{
		"refused": {status: 400, body: `{"error":{"message":"the content filter refuses this"}}`},
		"useless": {body: "a vector of zeros"},
	}
	eachProvider(t, func(t *testing.T, name string, w wire) {
		own := map[string]reply{"NaN in Ollama": {status: 500, body: `{"error":"failed to encode response: json: unsupported value: NaN"}`}}
		for kind, poison := range poisons {
			own[kind] = poison
		}
		for kind, poison := range own {
			s, c := newWire(t, name, embed.Config{DocumentPrefix: new(string)}, func(s *wireServer, r wireRequest) reply {
				switch {
				case !strings.Contains(strings.Join(r.Texts, " "), "poison"):
					return s.good(r)
				case poison.status != 0:
					return poison
				}
				return reply{body: s.body(r.Texts, func(text string) string {
					if text == "poison" {
						return "[0,0,0]"
					}
					return numbers(vectorOf(text))
				})}
			})
			texts := numbered(64)
			texts[40] = "poison"
			got, err := c.Documents(t.Context(), texts)
			if err != nil || got[40].Err == nil || got[40].Vector != nil {
				t.Errorf("%s: %v, %+v", kind, err, got[40])
				continue
			}
			if n := len(s.seen()); n > 20 || !c.Health().Healthy {
				t.Errorf("%s: %d requests to find one of 64, health %+v", kind, n, c.Health())
			}
			wantVectors(t, texts[:40], got[:40])
			wantVectors(t, texts[41:], got[41:])
		}
	})
}

// Hazards E06 and D05: an answer that is not one usable vector for each text is refused as a whole, though the status is 200.
func TestProvidersMalformedAnswers(t *testing.T) {
	eachProvider(t, func(t *testing.T, name string, w wire) {
		vector := func(v string) func(*wireServer, wireRequest) string {
			return func(s *wireServer, r wireRequest) string { return s.body(r.Texts, func(string) string { return v }) }
		}
		some := func(texts ...string) func(*wireServer, wireRequest) string {
			return func(s *wireServer, r wireRequest) string {
				return s.body(texts, func(string) string { return "[1,2,3]" })
			}
		}
		text := func(body string) func(*wireServer, wireRequest) string {
			return func(*wireServer, wireRequest) string { return body }
		}
		bodies := map[string]func(*wireServer, wireRequest) string{
			"nothing": text(""), "empty object": text("{}"), "null": text("null"), "HTML": text("<html>log in</html>"), "an error": text(`{"error":"overloaded"}`),
			"short": some("a"), "long": some("a", "b", "c"), "empty vector": vector("[]"), "null vector": vector("null"), "null number": vector("[1,null]"),
			"words": vector(`["1","2"]`), "zeros": vector("[0,0]"), "huge": vector("[1e38,1e38]"), "denormal": vector("[1e-42,0]"), "an object": vector(`{"0":1}`),
			"two dimensions": func(s *wireServer, r wireRequest) string {
				return s.body(r.Texts, func(text string) string { return "[1,2" + strings.Repeat(",3", len(text)) + "]" })
			},
			"cut off": func(s *wireServer, r wireRequest) string { return strings.TrimSuffix(s.good(r).body, "}") },
		}
		if w.indexed {
			bodies["duplicate index"] = text(`{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`)
			bodies["no index"] = text(`{"data":[{"embedding":[1,2]},{"embedding":[1,2]}]}`)
			bodies["index too large"] = text(`{"data":[{"index":0,"embedding":[1,2]},{"index":2,"embedding":[1,2]}]}`)
			bodies["negative index"] = text(`{"data":[{"index":0,"embedding":[1,2]},{"index":-1,"embedding":[1,2]}]}`)
			bodies["trailing"] = text(`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1,2]}]}{}`)
		}
		for kind, body := range bodies {
			t.Run(kind, func(t *testing.T) {
				_, c := newWire(t, name, embed.Config{MaxTries: 1}, func(s *wireServer, r wireRequest) reply { return reply{body: body(s, r)} })
				got, err := c.Documents(t.Context(), []string{"a", "bb"})
				if !errors.Is(err, embed.ErrUnavailable) || c.Space().Dims != 0 {
					t.Errorf("%v, %+v", err, c.Space())
				}
				for _, e := range got {
					if e.Vector != nil || e.Err == nil {
						t.Errorf("%v came through", e.Vector)
					}
				}
			})
		}
	})
}

// Hazard E06: vectors in another order are assigned to their own texts.
func TestProvidersVectorsAreOrderedByIndex(t *testing.T) {
	eachProvider(t, func(t *testing.T, name string, w wire) {
		if !w.indexed {
			t.Skip("its answers have the order of the texts")
		}
		_, c := newWire(t, name, embed.Config{}, func(*wireServer, wireRequest) reply {
			return reply{body: `{"data":[{"index":2,"embedding":[0,0,2]},{"index":0,"embedding":[3,0,0]},{"index":1,"embedding":[0,5,0]}]}`}
		})
		got, err := c.Documents(t.Context(), []string{"a", "b", "c"})
		if err != nil || got[0].Vector[0] != 1 || got[1].Vector[1] != 1 || got[2].Vector[2] != 1 {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// Hazard E07: a provider that returns 1,536 numbers today and 768 tomorrow is another space at once; configured dimensions that
// it does not keep to are an error.
func TestProvidersChangeOfDimensions(t *testing.T) {
	eachProvider(t, func(t *testing.T, name string, w wire) {
		synctest.Test(t, func(t *testing.T) {
			dims := 1536
			sized := func(s *wireServer, r wireRequest) reply {
				return reply{body: s.body(r.Texts, func(string) string { return "[1" + strings.Repeat(",0", dims-1) + "]" })}
			}
			_, c := newWire(t, name, embed.Config{}, sized)
			if _, err := c.Query(t.Context(), "today"); err != nil || c.Space().Dims != 1536 {
				t.Fatal(c.Space(), err)
			}
			time.Sleep(24 * time.Hour)
			dims = 768
			if v, err := c.Query(t.Context(), "tomorrow"); err != nil || len(v) != 768 || c.Space().Dims != 768 {
				t.Error(c.Space(), err)
			}
			_, c = newWire(t, name, embed.Config{Dims: 1024}, sized)
			if _, err := c.Query(t.Context(), "tea"); err == nil || !strings.Contains(err.Error(), "768 dimensions where 1024 are configured") {
				t.Error(err)
			}
		})
	})
}

// Hazard E08: answers that hang, drip, break off, redirect, are endless or a gzip bomb cost one deadline and no key.
func TestProvidersHostileServers(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		z.Write(make([]byte, 1<<20))
	}
	z.Close()
	var visited atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visited.Add(1) }))
	t.Cleanup(func() {
		other.Close()
		if visited.Load() != 0 {
			t.Errorf("the target of the redirect had %d visits", visited.Load())
		}
	})
	faults := map[string]struct {
		handler http.HandlerFunc
		says    string
	}{
		"hangs": {func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // so that the end of the client ends the context
			<-r.Context().Done()
		}, "no answer in the time"},
		"drips": {func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			for r.Context().Err() == nil {
				fmt.Fprint(w, " ")
				http.NewResponseController(w).Flush()
				time.Sleep(5 * time.Millisecond)
			}
		}, "no answer in the time"},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"data":[{`)
		}, "unexpected EOF"},
		"redirects": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/v1?key="+testKey, http.StatusTemporaryRedirect)
		}, "redirects to " + other.URL},
		"is endless": {func(w http.ResponseWriter, _ *http.Request) {
			for chunk := bytes.Repeat([]byte("1,"), 32<<10); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, "larger than 1 MiB"},
		"gzip bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes())
		}, "larger than 1 MiB"},
	}
	for name := range wires {
		for fault, tc := range faults {
			t.Run(name+" "+fault, func(t *testing.T) {
				t.Parallel()
				s := httptest.NewServer(tc.handler)
				t.Cleanup(s.Close)
				limit := time.Minute
				if tc.says == "no answer in the time" {
					limit = 300 * time.Millisecond
				}
				c, err := embed.New(embed.Config{Provider: name, BaseURL: s.URL, APIKey: testKey, MaxTries: 1, TryTimeout: limit, QueryTimeout: limit})
				if err != nil {
					t.Fatal(err)
				}
				_, err = c.Query(t.Context(), "tea")
				if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), testKey) {
					t.Error(err)
				}
			})
		}
	}
}

// Hazard E14: of a text that a provider refuses as too long, in its own words, the beginning is embedded.
func TestProvidersEmbedTheBeginningOfALongText(t *testing.T) {
	eachProvider(t, func(t *testing.T, name string, w wire) {
		_, c := newWire(t, name, embed.Config{DocumentPrefix: new(string)}, func(s *wireServer, r wireRequest) reply {
			for _, text := range r.Texts {
				if len(text) > 8192 {
					return w.tooLong
				}
			}
			return s.good(r)
		})
		long := strings.Repeat("tea and cake ", 1200) // 15,600 characters
		got, err := c.Documents(t.Context(), []string{"short", long, "another"})
		if err != nil || got[1].Err != nil || got[1].Bytes == 0 || got[1].Bytes > 8192 || got[1].Bytes < 1500 {
			t.Fatalf("%v, %v, %d bytes", err, got[1].Err, got[1].Bytes)
		}
		if got[0].Bytes != 0 || got[0].Err != nil || got[2].Err != nil {
			t.Errorf("%+v, %+v", got[0].Err, got[2].Err)
		}
	})
}
