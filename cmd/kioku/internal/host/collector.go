package host

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// minGarbage is the number of bytes that a daemon allocates at least between two collections.
const minGarbage = 32 << 20

// paceCollector lets garbage grow between two collections to half the size of what is alive beside the words and vectors in memory, which
// are held bytes. They have no pointers, so that a collection takes as long as without them; without a word about them the runtime would
// wait until the heap is twice as large as they are. A person who sets GOGC decides.
func paceCollector(held int64) {
	if os.Getenv("GOGC") != "" {
		return
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	live := max(int64(sample[0].Value.Uint64()), held)
	percent := 100
	if garbage := max((live-held)/2, minGarbage); garbage < live {
		percent = int(100 * garbage / live)
	}
	if sample[1].Value.Uint64() != uint64(percent) { // to set it stops the world
		debug.SetGCPercent(percent)
	}
}
