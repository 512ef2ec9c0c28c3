package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kioku/agent/session"
	"kioku/internal/text"
	"kioku/llm"
)

// hundred is a text of a hundred tokens, by the estimate.
var hundred = strings.Repeat("word ", 80)

// history returns the lines of a session whose messages have so many tokens.
func history(b *testing.B, tokens int) []byte {
	b.Helper()
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for i := range tokens / 104 { // a message has 4 beside those of its text
		m := user(hundred)
		if i%2 == 1 {
			m = answer(hundred)
		}
		if err := enc.Encode(session.Entry{ID: fmt.Sprintf("%06d", i+1), Time: noon, Kind: session.KindMessage, Message: &m, Tokens: 104}); err != nil {
			b.Fatal(err)
		}
	}
	return lines.Bytes()
}

// BenchmarkATurnOfALongSession appends a message and its answer and takes the view, whose tokens are counted, of sessions
// of different lengths. A turn costs the same in all of them: counted is how many characters of text were counted for it.
func BenchmarkATurnOfALongSession(b *testing.B) {
	for _, tokens := range []int{2_000, 20_000, 200_000} {
		b.Run(fmt.Sprintf("tokens=%d", tokens), func(b *testing.B) {
			folder, lines := b.TempDir(), history(b, tokens)
			counted, turns := 0, 0
			count := func(s string) int {
				counted += len(s)
				return text.EstimateTokens(s)
			}
			var s *session.Session
			var took, views []time.Duration
			for b.Loop() {
				// The session stays about as long as it is said to be.
				if turns%5 == 0 {
					b.StopTimer()
					before := counted
					s = reopen(b, s, folder, lines, count)
					counted = before
					b.StartTimer()
				}
				begin := time.Now()
				said := []llm.Message{user(hundred), answer(hundred)}
				for i := range said {
					if _, err := s.Append(session.Entry{Kind: session.KindMessage, Message: &said[i]}); err != nil {
						b.Fatal(err)
					}
				}
				appended := time.Now()
				v := s.View()
				views = append(views, time.Since(appended))
				took = append(took, time.Since(begin))
				if turns++; v.Tokens < tokens-104 || v.Tokens > tokens+1040 {
					b.Fatalf("%d tokens of %d", v.Tokens, tokens)
				}
			}
			s.Close()
			slices.Sort(took)
			slices.Sort(views)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns/turn")
			b.ReportMetric(float64(views[len(views)/2].Nanoseconds()), "p50-ns/view")
			b.ReportMetric(float64(counted)/float64(turns), "counted/turn")
		})
	}
}

// reopen puts a transcript in place of that of s, which may be nil, and opens it.
func reopen(b *testing.B, s *session.Session, folder string, lines []byte, count func(string) int) *session.Session {
	b.Helper()
	if s != nil {
		s.Close()
	}
	if err := os.WriteFile(filepath.Join(folder, "long.jsonl"), lines, 0o600); err != nil {
		b.Fatal(err)
	}
	s, _, err := session.Open(folder, "long", session.Options{Count: count})
	if err != nil {
		b.Fatal(err)
	}
	return s
}
