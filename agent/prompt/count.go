package prompt

import "sync"

// rememberedBytes bounds the texts that Remember keeps.
const rememberedBytes = 4 << 20

// Remember returns a function that counts each text once, so that a prompt of which little has changed is counted quickly. It
// may be called concurrently; count is called by one goroutine at a time.
func Remember(count func(text string) int) func(text string) int {
	var mu sync.Mutex
	known, bytes := map[string]int{}, 0
	return func(text string) int {
		mu.Lock()
		defer mu.Unlock()
		if n, ok := known[text]; ok {
			return n
		}
		if bytes += len(text); bytes > rememberedBytes {
			clear(known)
			bytes = len(text)
		}
		n := count(text)
		known[text] = n
		return n
	}
}
