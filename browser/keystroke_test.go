package browser

import (
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestKeystroke measures how long it takes from a key to the answer on the screen, on a daemon that runs already: KEYSTROKE_BASE is its
// address, and KEYSTROKE_TEXT what is typed. It reports the times and judges none of them, because they are those of the machine.
func TestKeystroke(t *testing.T) {
	base := os.Getenv("KEYSTROKE_BASE")
	if base == "" {
		t.Skip("times are measured on request: set KEYSTROKE_BASE and KEYSTROKE_TEXT")
	}
	b := newTab(t, &daemon{base: base}).open("/search")
	text := os.Getenv("KEYSTROKE_TEXT")
	var times []float64
	for round := range 3 {
		b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("q").value = ""`))
		for i, key := range text {
			b.do(chromedp.Evaluate[chromedp.Void](`window.seen = document.getElementById("took")`))
			b.keys(string(key))
			b.wait(`window.seen !== document.getElementById("took") && document.getElementById("took")`)
			if ms := eval[float64](b, `Number(document.getElementById("took").dataset.ms)`); round > 0 {
				times = append(times, ms)
			} else {
				t.Logf("warm up: %q %.0f ms", text[:i+1], ms)
			}
		}
	}
	slices.Sort(times)
	n := len(times)
	t.Logf("%d keys: median %.0f ms, 90 %% %.0f ms, most %.0f ms", n, times[n/2], times[n*9/10], times[n-1])
}
