package browser

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// axe has no serious finding in any view, in neither scheme, on a desktop and on a phone. KIOKU_AXE is the path of axe.min.js of the npm package
// axe-core.
func TestAxe(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(os.Getenv("KIOKU_AXE"))
	if err != nil {
		t.Skip("no axe-core: set KIOKU_AXE to the path of axe.min.js")
	}
	d := serve(t, sample).indexed(t, indexedSample)
	for _, look := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"phone", "light", 360}} {
		t.Run(look.name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t, d)
			b.expectStatus(404)
			b.scheme(look.scheme)
			b.do(chromedp.EmulateViewport(look.width, 900))
			for _, path := range views {
				b.open(path)
				b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach(d => d.open = true); document.getElementById("chunks")?.click(); (document.getElementById("forget") || document.querySelector(".acts button:last-child"))?.click()`))
				b.wait(`!document.getElementById("chunks")?.disabled`)
				for _, f := range findings(b, string(script)) {
					t.Errorf("%s: %s (%s): %v", path, f.ID, f.Impact, f.Nodes)
				}
			}
		})
	}
}

// axe has no serious finding in what is known and in a council either, with all their parts filled.
func TestAxeOfKnownAndCouncil(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(os.Getenv("KIOKU_AXE"))
	if err != nil {
		t.Skip("no axe-core: set KIOKU_AXE to the path of axe.min.js")
	}
	c := councilServed(t)
	c.council(t, "ask", "--description", "echo: panda=approve gorilla=reject triceratops=silent arbiter=approve", "Shall we paint the shed?")
	c.council(t, "suggest", "buddy", "Buy a watering can")
	for _, look := range []struct {
		d     *daemon
		path  string
		parts []string
	}{
		{derived(t), "/known", []string{"", "facts", "loops", "conflicts", "weeks", "mood", "names"}},
		{c, "/council", []string{"", "decisions", "members", "evaluations", "workers", "logs"}},
	} {
		for i, part := range look.parts {
			t.Run(look.path+"-"+part, func(t *testing.T) {
				t.Parallel()
				b := newTab(t, look.d)
				b.scheme([]string{"light", "dark"}[i%2])
				b.open(look.path + "?part=" + part)
				b.wait(`document.querySelector("#view > *") && !document.querySelector("#view .loading")`)
				b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach(d => d.open = true)`))
				for _, f := range findings(b, string(script)) {
					t.Errorf("%s (%s): %v", f.ID, f.Impact, f.Nodes)
				}
			})
		}
	}
}

// finding is what axe has to say of a page.
type finding struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

// findings returns the serious and critical findings of axe in the page of a tab.
func findings(b *tab, script string) []finding {
	b.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](script))
	text := eval[string](b, `axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r => r.passes.length > 5 ? JSON.stringify(r.violations) : "axe did not look")`)
	var all, serious []finding
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		b.Fatal(err)
	}
	for _, f := range all {
		if f.Impact == "serious" || f.Impact == "critical" {
			serious = append(serious, f)
		}
	}
	return serious
}
