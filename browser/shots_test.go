package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestShots writes screenshots of a daemon that runs already, to be looked at. SHOTS_BASE is its address, SHOTS_DIR a folder, and SHOTS has a
// line for each: name, scheme, width, height, path, and then what is clicked.
func TestShots(t *testing.T) {
	base := os.Getenv("SHOTS_BASE")
	if base == "" {
		t.Skip("screenshots are made on request: set SHOTS_BASE, SHOTS_DIR and SHOTS")
	}
	b := newTab(t, &daemon{base: base})
	for line := range strings.Lines(os.Getenv("SHOTS")) {
		var name, scheme, path string
		var width, height int64
		if n, _ := fmt.Sscan(line, &name, &scheme, &width, &height, &path); n < 5 {
			continue
		}
		b.scheme(scheme)
		b.do(chromedp.EmulateViewport(width, height))
		b.open(path)
		for _, selector := range strings.Fields(line)[5:] { // _ stands for a space
			b.click(strings.ReplaceAll(selector, "_", " "))
		}
		b.wait(`new Promise(done => setTimeout(() => done(true), 900))`)
		png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(os.Getenv("SHOTS_DIR"), name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
