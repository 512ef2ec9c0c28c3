package prompt

import "sync"

// rememberedBytes is the maximum size of the texts in the cache of Remember.
const rememberedBytes = 4 << 20

// Remember returns a function that caches the results of count, so that a prompt with few changes is counted quickly. It may be
// called concurrently; it calls count from one goroutine at a time.
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
