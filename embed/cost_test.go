package embed_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kioku/embed"
)

// dayOfNotes is as many texts as have no vector while a provider fails, about 7,000 tokens.
func dayOfNotes() []string {
	texts := numbered(256)
	for i := range texts {
		texts[i] += strings.Repeat(" about tea", 10)
	}
	return texts
}

// tokensOf returns about how many tokens requests have sent.
func tokensOf(requests []request) int {
	n := 0
	for _, r := range requests {
		for _, text := range r.Input {
			n += len(text) / 4
		}
	}
	return n
}

// Hazard E03: a provider that fails for a day, in whatever way, costs a bounded number of requests and tokens, although
// somebody tries to embed every ten seconds and asks a question every minute.
func TestCostOfAProviderThatFailsForADay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer   func(request) reply
		requests int // 0: it works, slowly, and only a budget bounds it
		tokens   int
	}{
		"down":          {func(request) reply { return reply{status: 500} }, 300, 20_000},
		"unreachable":   {func(request) reply { return reply{err: errors.New("connection refused")} }, 300, 20_000},
		"a wrong key":   {func(request) reply { return reply{status: 401} }, 40, 8000},
		"no money":      {func(request) reply { return reply{status: 402} }, 40, 8000},
		"refuses all":   {func(request) reply { return reply{status: 400, body: "no"} }, 120, 30_000},
		"too long, all": {func(request) reply { return reply{status: 413} }, 200, 30_000},
		"nonsense":      {func(request) reply { return reply{body: "<html>"} }, 300, 20_000},
		"zeros": {func(r request) reply {
			return reply{body: answerTo(r.Input, func(string) []float64 { return make([]float64, 3) })}
		}, 120, 30_000},
		"hangs":         {func(request) reply { return reply{delay: time.Hour} }, 300, 20_000},
		"one at a time": {oneAtATime, 1500, 2_000_000},
		"every other one": {func(r request) reply {
			if r.N%2 == 0 {
				return reply{status: 500}
			}
			return good(r)
		}, 0, 0},
	} {
		for _, perDay := range []int{0, 100_000} {
			if c.requests+perDay == 0 {
				continue
			}
			t.Run(fmt.Sprint(name, perDay), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					f, client := newFake(t, embed.Config{TokensPerDay: perDay}, c.answer)
					texts := dayOfNotes()
					for start, n := time.Now(), 0; time.Since(start) < 24*time.Hour; n++ {
						if h := client.Health(); h.Healthy || !h.RetryAt.After(time.Now()) {
							client.Documents(t.Context(), texts)
						}
						if n%6 == 0 {
							client.Query(t.Context(), fmt.Sprint("question ", n))
						}
						time.Sleep(10 * time.Second)
					}
					requests, tokens := len(f.seen()), tokensOf(f.seen())
					if c.requests > 0 && (requests > c.requests || tokens > c.tokens) {
						t.Errorf("%d requests with %d tokens, more than %d and %d", requests, tokens, c.requests, c.tokens)
					}
					if perDay > 0 && tokens > 2*perDay+1000 { // the day has parts of two calendar days
						t.Errorf("%d tokens with a budget of %d a day", tokens, perDay)
					}
				})
			})
		}
	}
}

// oneAtATime answers a request of one text and fails for more, as a server that has too little memory does.
func oneAtATime(r request) reply {
	if len(r.Input) > 1 {
		return reply{status: 500}
	}
	return good(r)
}

// Hazard E03: a budget of tokens a day ends indexing for the day and says so. A tenth of it stays for queries, and it begins anew
// at midnight.
func TestBudgetOfADay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := newFake(t, embed.Config{TokensPerDay: 2000}, good)
		texts := dayOfNotes()
		_, err := c.Documents(t.Context(), texts)
		if !errors.Is(err, embed.ErrUnavailable) || !strings.Contains(err.Error(), "2000 tokens a day is used up (maxTokensPerDay)") {
			t.Fatalf("got %v", err)
		}
		if got := tokensOf(f.seen()); got < 1500 || got > 1900 {
			t.Errorf("%d tokens of documents were sent", got)
		}
		h := c.Health()
		if h.Healthy || h.RetryAt.Hour() != 0 || time.Until(h.RetryAt) <= 0 || time.Until(h.RetryAt) > 24*time.Hour {
			t.Errorf("health %+v", h)
		}
		for i := range 10 {
			if _, err := c.Query(t.Context(), fmt.Sprint("a question about tea ", i)); err != nil {
				t.Fatalf("query %d: %v", i, err)
			}
		}
		for i := range 100 {
			_, err = c.Query(t.Context(), fmt.Sprint("one more question about tea ", i))
		}
		if !errors.Is(err, embed.ErrUnavailable) || tokensOf(f.seen()) > 2020 {
			t.Errorf("%v after %d tokens", err, tokensOf(f.seen()))
		}
		time.Sleep(time.Until(h.RetryAt))
		if _, err := c.Documents(t.Context(), texts[:10]); err != nil || !c.Health().Healthy {
			t.Errorf("after midnight: %v, %+v", err, c.Health())
		}
	})
}
