package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// post calls a route with a JSON body.
func (d *daemon) post(t *testing.T, path, body string) string {
	t.Helper()
	resp, text := d.do(t, "POST", path, body, http.Header{"Content-Type": {"application/json"}})
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("POST %s: %s %s", path, resp.Status, text)
	}
	return text
}

// (d) The time line is a calendar of the notes and of what recall used when; a click or the keyboard chooses a day, whose notes are read there.
func TestTimeLine(t *testing.T) {
	t.Parallel()
	d := serve(t, sample).indexed(t, indexedSample)
	d.post(t, "/v1/recall", `{"message": "When does the piano tuner come?"}`)
	b := newTab(t, d).open("/timeline")
	b.wait(`document.querySelector('button.d[data-date="2026-11-02"]')`)
	if got := eval[int](b, `document.querySelectorAll(".year .d[data-date^='2026']").length`); got != 365 {
		t.Errorf("the year has %d days", got)
	}
	// 2 November 2026 is a Monday.
	if got := eval[string](b, `getComputedStyle(document.querySelector('[data-date="2026-11-02"]')).gridRowStart`); got != "2" {
		t.Errorf("a Monday is in row %s", got)
	}
	b.click(`button.d[data-date="2026-11-02"]`)
	b.wait(`document.getElementById("day").innerText.includes("greenhouse heating")`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('button.d[data-date="2026-11-02"]').focus()`))
	b.keys(kb.ArrowDown)
	b.wait(`document.activeElement.dataset.date === "2026-11-03"`)
	b.keys(kb.Enter)
	b.wait(`document.getElementById("day").innerText.includes("piano tuner")`)
	b.wantText("recalled 1 time")
	if got := eval[string](b, `location.search`); got != "?day=2026-11-03" {
		t.Errorf("the address is %q", got)
	}
	b.click(`#layers button:nth-child(4)`) // turns
	b.wait(`document.querySelector(".d.recalled:not(.l0)")`)
	b.wantText("1 turn")
}

// (f) The map has a point for each passage; search hits light up on it, groups have a legend, and the keyboard goes from point to point into
// the reader. The clusters are a list too.
func TestMap(t *testing.T) {
	t.Parallel()
	notes := map[string]string{}
	for i := range 60 {
		notes[fmt.Sprintf("garden/%d.md", i)] = fmt.Sprintf("# Garden %d\n\nTomatoes, compost and beans in bed %d. <img src=x onerror=alert(1)> #garden\n", i, i)
		notes[fmt.Sprintf("servers/%d.md", i)] = fmt.Sprintf("# Server %d\n\nThe database replica %d lagged behind the deploy.\n", i, i)
	}
	notes["servers/needle.md"] = "# Needle\n\nA heron stood on the rack.\n"
	d := serve(t, notes).indexed(t, 121)
	b := newTab(t, d).open("/map")
	b.wait(`document.getElementById("map").measure().points === 121`)
	b.wait(`document.getElementById("map").measure().names > 0`)
	b.do(chromedp.Evaluate[chromedp.Void](`const s = document.getElementById("by"); s.value = "folder"; s.dispatchEvent(new Event("change"))`))
	b.wait(`document.getElementById("legend").innerText.includes("garden")`)
	b.wantText("servers", "61")
	b.click("#legend button")
	b.wait(`document.querySelector("#legend button").getAttribute("aria-pressed") === "true"`)
	b.click("#legend button")
	b.click("#map-q")
	b.keys("heron")
	b.wait(`document.getElementById("map").measure().lit === 1`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("map").focus()`))
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("map").dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", shiftKey: true, bubbles: true}))`))
	b.wait(`!document.getElementById("tip").hidden`)
	if got := eval[int](b, `document.querySelectorAll("#clusters section").length`); got < 2 {
		t.Errorf("%d clusters are listed", got)
	}
	b.keys(kb.Enter)
	b.wait(`location.pathname === "/note"`)
}

// (f) The map of 20,000 points is drawn in one pass; the time of a frame is logged, and names do not overlap.
func TestMapDraws20000Points(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t, sample).indexed(t, indexedSample)).open("/map")
	js := `(async () => {
		const { Plane } = await import("/static/mapview.js");
		const canvas = document.body.appendChild(document.createElement("canvas"));
		canvas.style.width = "1100px"; canvas.style.height = "600px";
		const plane = new Plane(canvas), n = 20000, x = new Float32Array(n), y = new Float32Array(n);
		let s = 1; const random = () => (s = (s * 16807) % 2147483647) / 2147483647;
		for (let i = 0; i < n; i++) { x[i] = random(); y[i] = random(); }
		plane.setPoints(x, y);
		plane.colours = ["#f00", "#0f0", "#00f"];
		for (let i = 0; i < n; i++) plane.colour[i] = i % 3;
		plane.labels = Array.from({ length: 40 }, (_, i) => ({ x: 0.5, y: 0.5 + i / 4000, text: "name " + i, long: "name " + i }));
		plane.resize();
		const frames = [];
		for (let i = 0; i < 40; i++) { plane.zoom = 1 + i / 4; plane.draw(); frames.push(plane.took); }
		frames.sort((a, b) => a - b);
		const begun = performance.now();
		let found = 0;
		for (let i = 0; i < 1000; i++) found += plane.at(random() * 1100, random() * 600) >= 0;
		const hit = (performance.now() - begun) / 1000;
		plane.fit(); plane.draw();
		const [sx, sy] = plane.screen(x[77], y[77]);
		const near = plane.at(sx, sy, 5);
		return [frames[20], frames[38], hit, found, plane.shown, Math.hypot(x[near] - x[77], y[near] - y[77])].join(" ");
	})()`
	var median, slow, hit, distance float64
	var found, names int
	if _, err := fmt.Sscan(eval[string](b, js), &median, &slow, &hit, &found, &names, &distance); err != nil {
		t.Fatal(err)
	}
	t.Logf("a frame of 20,000 points takes %.1f ms in the median and %.1f ms at the 95th percentile, a hit test %.3f ms", median, slow, hit)
	if names != 1 {
		t.Errorf("%d names at one place are drawn", names)
	}
	if found == 0 || distance > 0.001 {
		t.Errorf("%d places have a point; that of a point has one %.4f away", found, distance)
	}
}

// (g) A turn shows the layers of its prompt with their tokens, what was recalled with scores that lead to the reader, what was left out, and
// the conversation that it belongs to.
func TestTurns(t *testing.T) {
	t.Parallel()
	d := serve(t, sample).indexed(t, indexedSample)
	b := newTab(t, d).open("/turns")
	b.wantText("No turn is recorded yet", "kioku chat")
	d.post(t, "/v1/prompt", `{"message": "What is Lena allergic to? Walnuts?", "session": "evening <b>", "channel": "terminal", "model": "m1"}`)
	d.post(t, "/v1/prompt", `{"message": "When does the piano tuner come?", "session": "morning", "budget_tokens": 120}`)
	d.post(t, "/v1/recall", `{"message": "herons", "session": "morning"}`)
	b.open("/turns")
	b.wait(`document.querySelectorAll(".turn").length === 3`)
	b.wantText("Conversations", "evening <b>", "morning", "Runtime", "Recalled", "shortened")
	if got := eval[int](b, `document.querySelectorAll("svg.stack").length`); got != 2 {
		t.Errorf("%d prompts have a bar", got)
	}
	sum := eval[bool](b, `[...document.querySelectorAll(".turn")].filter(t => t.querySelector(".layers")).every(t => {
		const total = parseInt(t.querySelector("h3").innerText.replace(/,/g, ""));
		return [...t.querySelectorAll(".layers .num")].reduce((n, el) => n + parseInt(el.innerText.replace(/,/g, "")), 0) === total })`)
	if !sum {
		t.Error("the tokens of the layers do not add up to those of the prompt")
	}
	b.click(`#sessions a[href*="evening"]`)
	b.wait(`document.querySelectorAll(".turn").length === 1`)
	if text := b.text(); strings.Contains(text, "allergic to") {
		t.Errorf("the message is recorded:\n%s", text)
	}
	b.click(".found a")
	b.wait(`location.pathname === "/note"`)
}

// (g) If turns are not recorded, the page says how to switch that on.
func TestTurnsOff(t *testing.T) {
	t.Parallel()
	d := serve(t, sample, "--set", "turns.keep=false").indexed(t, indexedSample)
	d.post(t, "/v1/recall", `{"message": "herons"}`)
	b := newTab(t, d).open("/turns")
	b.wantText("Turns are not recorded", "turns.keep true")
}
