package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// known are notes from which facts, a conflict, a loop and names come.
var known = map[string]string{
	"MEMORY.md":            "# Memory\n\n- City: Lisbon\n- I prefer quiet cafés.\n\n## People\n\n- Dario\n  - Company: Casa Azul\n",
	"USER.md":              "# User\n\n- City: Porto\n",
	"memory/2026-11-12.md": "# 2026-11-12\n\n## 10:00 Dario <img src=x onerror=alert(1)>\n\n- [ ] send Dario the keys by 2099-12-01\n- 要対応: 住所変更を銀行に連絡する\n",
}

// derived serves the notes with derivation on, and returns when something is derived.
func derived(t *testing.T) *daemon {
	t.Helper()
	d := serve(t, known, "--set", "derive.enabled=true").indexed(t, len(known))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for last := ""; !strings.Contains(last, "Casa Azul"); last = d.get(t, "/v1/units") {
		select {
		case <-ctx.Done():
			t.Fatalf("nothing is derived: %s", last)
		case <-tick.C:
		}
	}
	return d
}

// Without derivation the view says how to turn it on.
func TestKnownIsOff(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t, sample).indexed(t, indexedSample)).open("/known")
	b.wait(`document.querySelector(".empty")`)
	b.wantText("Derivation is off", "kioku config set derive.enabled true")
}

// A conflict shows both sides with their sources, and one click settles it for good.
func TestKnownSettlesAConflict(t *testing.T) {
	t.Parallel()
	d := derived(t)
	b := newTab(t, d).open("/known?part=conflicts")
	b.wait(`document.querySelectorAll(".pair .unit").length === 2`)
	b.wantText("Porto", "Lisbon", "USER.md:3", "MEMORY.md:3")
	b.click(`.pair .keep[aria-label*="Porto"]`)
	b.wait(`document.querySelector(".empty")`)
	b.wantText("No conflicts")
	text, err := os.ReadFile(filepath.Join(d.dir, "derived", "decisions.md"))
	if err != nil || !strings.Contains(string(text), " pin fact ") {
		t.Errorf("decisions.md: %v\n%s", err, text)
	}
	b.open("/known?part=facts&past=1")
	b.wait(`document.querySelector(".unit.superseded")`)
}

// A tick closes a loop; what is closed is shown on request, and opens again.
func TestKnownClosesALoop(t *testing.T) {
	t.Parallel()
	b := newTab(t, derived(t)).open("/known?part=loops")
	b.wait(`document.querySelectorAll(".unit").length === 2`)
	b.wantText("send Dario the keys", "due 2099-12-01", "住所変更を銀行に連絡する")
	b.click(`.unit input[aria-label*="keys"]`)
	b.wait(`document.querySelectorAll(".unit").length === 1`)
	b.open("/known?part=loops&past=1")
	b.wait(`document.querySelector(".unit.archived input").checked`)
	b.click(`.unit.archived input`)
	b.wait(`!document.querySelector(".unit.archived")`)
}

// What is forgotten is gone, and the lines that still say it are named.
func TestKnownForgets(t *testing.T) {
	t.Parallel()
	b := newTab(t, derived(t)).open("/known?part=facts&q=quiet")
	b.wait(`document.querySelectorAll(".unit").length === 1`)
	b.click(`.acts button:nth-of-type(3)`)
	b.wait(`document.querySelector(".places input:checked")`)
	b.click(`.below .derived-only`)
	b.wait(`document.querySelector(".below [role=status] > ul")`)
	b.wantText("Forgotten.", "MEMORY.md#L4")
	b.click(`.below [role=status] button`)
	b.wait(`document.querySelector(".empty")`)
}

// A correction is the person's; the history shows what it was before, and takes it back.
func TestKnownCorrectsAndTakesBack(t *testing.T) {
	t.Parallel()
	b := newTab(t, derived(t)).open("/known?part=facts&q=Casa")
	b.wait(`document.querySelectorAll(".unit").length === 1`)
	b.click(`.acts button:nth-of-type(2)`)
	b.wait(`document.activeElement.name === "text"`)
	eval[bool](b, `(document.querySelector(".correct [name=text]").value = "Casa Verde", true)`)
	b.click(`.correct .primary`)
	b.wait(`document.getElementById("announce").textContent === "Corrected"`) // leaving before would take the request along
	b.open("/known?part=facts&q=Verde")
	b.wait(`document.querySelectorAll(".unit").length === 1`)
	b.wantText("Casa Verde", "decided by you")
	b.click(`.acts button:nth-of-type(4)`)
	b.wait(`document.querySelectorAll(".history li").length >= 2`)
	b.wantText("by a decision", "Casa Azul")
	b.click(`.history li button`)
	b.open("/known?part=facts&q=Azul")
	b.wait(`document.querySelectorAll(".unit").length === 1`)
}

// A name leads to all that is known about it; markup in it is text.
func TestKnownShowsAName(t *testing.T) {
	t.Parallel()
	b := newTab(t, derived(t)).open("/known?part=names")
	b.wait(`document.querySelector(".names a")`)
	eval[bool](b, `([...document.querySelectorAll(".names a")].find(a => a.textContent.startsWith("Dario")).click(), true)`)
	b.wait(`document.querySelector(".entity h2")`)
	b.wantText("Dario works at Casa Azul", "Search the notes")
}

// The search shows what is derived about the query above the passages.
func TestSearchShowsWhatIsKnown(t *testing.T) {
	t.Parallel()
	b := newTab(t, derived(t)).open("/search?q=where+does+Dario+work")
	b.wait(`document.querySelector("#known a")`)
	b.wantText("Dario works at Casa Azul")
}
