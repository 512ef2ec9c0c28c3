package prune_test

import (
	"fmt"
	"strings"
	"testing"

	"kioku/agent/prune"
	"kioku/llm"
)

// BenchmarkPrune prunes and applies a conversation of 2,000 messages, a third of which are results of 3 kB and every tenth
// of these one of 50 kB: 4.6 MB that all have to be counted.
func BenchmarkPrune(b *testing.B) {
	var messages []llm.Message
	for i := 0; len(messages) < 2000; i++ {
		size := 3000
		if i%10 == 0 {
			size = 50_000
		}
		id := fmt.Sprint(i)
		messages = append(messages, user(strings.Repeat("q", 200)), call(id), result(id, strings.Repeat("結果x", size/7)), say(strings.Repeat("a", 300)))
	}
	messages = messages[:2000]
	for _, window := range []int{0, 1_000_000, 200_000, 50_000} {
		b.Run(fmt.Sprint("window=", window), func(b *testing.B) {
			for b.Loop() {
				plan := prune.Prune(messages, prune.Defaults(), stateOf(window), later)
				if sent := prune.Apply(messages, plan.Edits); len(sent) != len(messages) {
					b.Fatal(len(sent))
				}
			}
		})
	}
}
