package browser

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// attacks is a note with what attacks a page: scripts, handlers, foreign requests, escape sequences and marks that reorder text.
const attacks = "# Attack <img src=x onerror=alert(1)>\n\n<script>alert(2)</script>\n\n<img src=x onerror=alert(3)> ![out](https://evil.example/pixel.png)\n\n" +
	"[click](javascript:alert(4)) <a href=\"javascript:alert(5)\" id=\"lure\">raw</a> [data](data:text/html,<script>alert(6)</script>)\n\n" +
	"<div onfocus=\"alert(7)\" tabindex=0 contenteditable autofocus>focus me</div>\n\n<svg onload=\"alert(8)\"><animate onbegin=alert(9)></svg>\n\n" +
	"<iframe srcdoc=\"<script>alert(10)</script>\"></iframe><object data=\"https://evil.example/o\"></object>\n\n<form action=\"https://evil.example/\"><button>steal</button></form>\n\n" +
	"</article></main><style>body{display:none}</style><link rel=stylesheet href=\"https://evil.example/x.css\">\n\n\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07walrus\x1b]8;;\x07 \u202egnp.exe\u202c\n\n" +
	"<p id=\"announce\" class=\"bar\">cover</p>\n"

// oddName is the name of a note that is markup itself.
const oddName = `odd/"><img src=x onerror=alert(11)>'&.md`

// sample are the notes of most tests.
var sample = map[string]string{
	"MEMORY.md":            "# Memory\n\n- Lena is allergic to walnuts.\n- The alarm code is with Marek.\n",
	"memory/2026-11-02.md": "# 2026-11-02\n\n## 09:10 - decision\n\nWe agreed on the greenhouse heating. See [[Lena]].\n",
	"memory/2026-11-03.md": "# 2026-11-03\n\n## 10:00 - note\n\nThe piano tuner comes on Friday.\n",
	"people/Lena.md":       "---\ntitle: Lena Okafor\ntags: [family, travel]\n---\n# Lena Okafor\n\nLikes herons, dislikes walnuts.\n\n## Gifts\n\n| year | gift |\n|---|---|\n| 2025 | a tea bowl from [Kyoto](../travel/Kyoto.md) |\n\n[[Nobody]] knows.\n",
	"travel/Kyoto.md":      "# 京都\n\n伏見稲荷の鳥居は朝六時が静か。\n\n## 宿\n\n哲学の道の近く。[[Lena]] は窓側が好き。\n",
	"odd/attack.md":        attacks,
	oddName:                "# Odd\n\nA walrus with a strange name.\n",
	"odd/rtl.md":           "# שלום עולם\n\nזוהי פתקה בעברית על אנפות ליד המאגר.\n",
	"odd/" + strings.Repeat("a-very-long-name-", 10) + ".md": "# " + strings.Repeat("Donaudampfschifffahrt", 12) + "\n\n" + strings.Repeat("x", 900) + "\n\n| " + strings.Repeat("wide | ", 40) + "\n|" + strings.Repeat("---|", 40) + "\n",
	"odd/binary.md": "text\x00with NUL\n",
}

// indexedSample is the number of files of sample that can be indexed.
const indexedSample = 9

// views are the paths of all views, and one of each kind of page besides them.
var views = []string{"/", "/search?q=walnuts", "/search?q=nothingatall", "/search", "/notes", "/notes?find=zzz", "/notes?skipped=1", "/note?path=people/Lena.md&q=walnuts&lines=7-7",
	"/note?path=travel/Kyoto.md", "/note?path=odd/attack.md", "/note?path=odd/rtl.md&view=raw", "/live", "/state", "/timeline", "/map", "/turns", "/known", "/nothing"}

// expectStatus lets a tab have the console message that Chromium writes for an answer that is an error.
func (b *tab) expectStatus(code int) { b.expect(fmt.Sprintf("status of %d", code)) }

// Home is a search field with what was remembered today and the last notes, called by their names; a newcomer has four tabs.
func TestHome(t *testing.T) {
	t.Parallel()
	d := serve(t, sample).indexed(t, indexedSample)
	d.post(t, "/v1/notes", `{"text": "The **ferry** leaves from [pier 4](https://pier.example)."}`)
	d.indexed(t, indexedSample+1)
	b := newTab(t, d).open("/")
	b.wait(`document.querySelector(".home .newest a") && document.querySelector("#q")`)
	b.wantText("Remembered today", "The ferry leaves from pier 4.", "Last notes", "Tue, 3 Nov 2026")
	if got := eval[string](b, `[...document.querySelectorAll(".views a")].map(a => a.textContent).join()`); got != "Search,Notes,Map,Time" {
		t.Errorf("the tabs are %s", got)
	}
	b.click("#q")
	b.keys("walnuts")
	b.wait(`document.querySelectorAll(".result").length > 0 && !document.querySelector(".home")`)
	if got := eval[string](b, `[...document.querySelectorAll(".result-link")].map(a => a.textContent).join()`); !strings.Contains(got, "Lena Okafor") || !strings.Contains(got, "Memory") {
		t.Errorf("the results are called %s", got)
	}
	if got := eval[string](b, `[...document.querySelectorAll(".snippet")].map(a => a.innerText).join()`); strings.ContainsAny(got, "#[|") || strings.Contains(got, "tags:") {
		t.Errorf("snippets have the signs of Markdown, or front matter: %s", got)
	}
}

// What a result says is forgotten where it is said, after a preview, and comes back by Undo; a correction takes its place.
func TestForgetAndCorrect(t *testing.T) {
	t.Parallel()
	d := serve(t, sample).indexed(t, indexedSample)
	b := newTab(t, d).open("/search?q=alarm+code")
	b.wait(`document.querySelector(".result .acts")`)
	b.click(".result .acts button:last-child")
	b.wait(`document.querySelector(".places input:checked")`)
	b.wantText("The alarm code is with Marek.", "MEMORY.md:4")
	b.click(".changing .danger")
	b.wait(`document.activeElement.textContent === "Undo"`)
	if got := d.get(t, "/v1/notes/MEMORY.md"); strings.Contains(got, "Marek") {
		t.Errorf("the note still says it: %s", got)
	}
	b.keys(kb.Enter)
	b.wait(`document.querySelector("main").innerText.includes("Taken back")`)
	if got := d.get(t, "/v1/notes/MEMORY.md"); !strings.Contains(got, "Marek") {
		t.Errorf("the note does not say it again: %s", got)
	}
	b.open("/note?path=MEMORY.md")
	b.click("#correct")
	b.wait(`document.activeElement.name === "what"`)
	b.keys("The alarm code is with Marek." + kb.Enter)
	b.wait(`document.activeElement.name === "new"`)
	b.keys("The alarm code is with Lena." + kb.Enter)
	b.wait(`document.activeElement.textContent === "Undo"`)
	if got := d.get(t, "/v1/notes/MEMORY.md"); !strings.Contains(got, "code is with Lena.") || strings.Contains(got, "Marek") {
		t.Errorf("the note says %s", got)
	}
}

// What is pinned at a result is in MEMORY.md, with which each session begins.
func TestPin(t *testing.T) {
	t.Parallel()
	d := serve(t, sample).indexed(t, indexedSample)
	b := newTab(t, d).open("/search?q=piano+tuner")
	b.wait(`[...document.querySelectorAll(".result .acts button")].some((e) => e.textContent === "Pin…")`)
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".result .acts button")].find((e) => e.textContent === "Pin…").click()`))
	b.wait(`document.activeElement.name === "text" && document.activeElement.value`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.value = "The piano tuner comes on Fridays."`))
	b.keys(kb.Enter)
	b.wait(`document.querySelector("main").innerText.includes("Pinned: each session begins with it.")`)
	if got := d.get(t, "/v1/notes/MEMORY.md"); !strings.Contains(got, "The piano tuner comes on Fridays.") {
		t.Errorf("MEMORY.md says %s", got)
	}
}

// (a) The state shows what the memory has, what was skipped and why, and a year of notes.
func TestOverview(t *testing.T) {
	t.Parallel()
	d := serve(t, sample).indexed(t, indexedSample)
	b := newTab(t, d).open("/state")
	b.wait(`document.querySelector(".facts-grid")`)
	b.wantText("nova remembers 9 notes", "odd/binary.md", "NUL", "Watching", "Nothing was sent to another machine")
	if n := eval[int](b, `document.querySelectorAll(".spark rect").length`); n != 366 {
		t.Errorf("%d days", n)
	}
}

// The overview of an index without notes says what to do.
func TestOverviewOfAnEmptyIndex(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t, nil)).open("/")
	b.wait(`document.querySelector(".empty")`)
	b.wantText("Nothing to remember yet", "kioku append --agent nova")
}

// (b) Search as you type: each key is answered, matches are marked, the bar has the parts of the score, and the address the state.
func TestSearchAsYouType(t *testing.T) {
	t.Parallel()
	d := serve(t, sample).indexed(t, indexedSample)
	b := newTab(t, d).open("/search")
	b.wait(`document.activeElement.id === "q"`)
	b.keys("walnuts")
	b.wait(`document.querySelectorAll(".result").length > 0 && document.querySelector("#said").innerText.includes("result")`)
	b.wait(`location.search.includes("q=walnuts")`)
	if marks := eval[string](b, `[...document.querySelectorAll(".result mark")].map(m => m.textContent).join()`); !strings.Contains(marks, "walnuts") {
		t.Errorf("marked: %q", marks)
	}
	label := eval[string](b, `document.querySelector(".score-bar").getAttribute("aria-label")`)
	if !strings.HasPrefix(label, "Score 0.") || !strings.Contains(label, "words 0.") {
		t.Errorf("the bar says %q", label)
	}
	sum := eval[float64](b, `[...document.querySelector(".score-bar").querySelectorAll("rect")].reduce((n, r) => n + r.width.baseVal.value + 0.4, 0) / 100`)
	score := eval[float64](b, `Number(document.querySelector(".result .score").textContent)`)
	if sum < score-0.011 || sum > score+0.011 {
		t.Errorf("the parts of the bar add up to %.3f, the score is %.3f", sum, score)
	}
	b.click(".result summary")
	b.wantText("Why this score", "rank 1")
	// The address alone leads to the same answer.
	shared := eval[string](b, `location.pathname + location.search`)
	want := eval[string](b, `document.querySelector(".results").innerText`)
	again := newTab(t, d).open(shared)
	again.wait(`document.querySelectorAll(".result").length > 0`)
	if got := eval[string](again, `document.querySelector(".results").innerText`); strings.TrimSpace(got) == "" || strings.Split(got, "\n")[0] != strings.Split(want, "\n")[0] {
		t.Errorf("the address shows\n%s\nnot\n%s", got, want)
	}
}

// Matches are marked in Japanese too.
func TestSearchMarksJapanese(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t, sample).indexed(t, indexedSample)).open("/search?q=伏見稲荷")
	b.wait(`document.querySelector(".result mark")`)
	if got := eval[string](b, `document.querySelector(".result mark").textContent`); !strings.Contains(got, "伏見稲荷") {
		t.Errorf("marked: %q", got)
	}
	if lang := eval[string](b, `document.querySelector(".snippet").lang`); lang != "ja" {
		t.Errorf("language %q", lang)
	}
}

// Filters narrow the search and are part of the address.
func TestSearchFilters(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t, sample).indexed(t, indexedSample)).open("/search?q=walnuts&folder=people/")
	b.wait(`document.querySelectorAll(".result").length === 1`)
	b.open("/search?q=walnuts&tags=family")
	b.wait(`document.querySelectorAll(".result").length === 1 && document.querySelector(".result .path").textContent === "people/Lena.md"`)
	b.open("/search?q=walnuts&since=2026-11-01")
	b.wait(`document.querySelector("#said").innerText !== ""`)
	b.wantText("filter")
}

// Why not this note? explains a note that was not found.
func TestSearchExplainsWhyNot(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t, sample).indexed(t, indexedSample)).open("/search?q=walnuts")
	b.wait(`!document.getElementById("why").hidden`)
	b.click("#why-path")
	b.keys("piano")
	b.keys(strings.Repeat(kb.Backspace, 5) + "2026-11-03")
	b.wait(`document.querySelector("#paths option[value='memory/2026-11-03.md']")`)
	b.do(chromedp.SetValue(chromedp.ID("why-path"), "memory/2026-11-03.md"))
	b.click("#why-form button")
	b.wait(`document.querySelector("#outcome .panel")`)
	if got := eval[string](b, `document.querySelector("#outcome").innerText`); !strings.Contains(got, "score is too low") && !strings.Contains(got, "Nothing in it matched") {
		t.Errorf("explained: %s", got)
	}
}

// (c) The reader shows a note rendered, with links and backlinks, chunk borders and what matched on request.
func TestReader(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t, sample).indexed(t, indexedSample)).open("/search?q=walnuts")
	b.wait(`[...document.querySelectorAll(".result-link")].some(a => a.href.includes("Lena"))`)
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".result-link")].find(a => a.href.includes("Lena")).click()`))
	b.wait(`document.querySelector(".note") && document.querySelector("#text mark")`)
	b.wantText("Lena Okafor", "Linked from", "memory/2026-11-02.md", "travel/Kyoto.md", "no such note", "For walnuts", "Outline", "Gifts")
	if n := eval[int](b, `document.querySelectorAll("#text .hit").length`); n == 0 {
		t.Error("no lines are marked as found")
	}
	b.click("#chunks")
	b.wait(`document.querySelector(".chunk-border")`)
	b.wantText("Passage 1 of 1")
	b.click("#chunks")
	b.wait(`!document.querySelector(".chunk-border")`)
	b.click(`#text a[href*="Kyoto"]`)
	b.wait(`document.querySelector("h1")?.textContent === "京都"`)
	b.click(`.note-tools a`)
	b.wait(`document.querySelector(".raw #L3")`)
	b.wantText("伏見稲荷の鳥居は朝六時が静か。")
}

// The overview of a daemon that has not done its first sync says that the folder is not watched yet, and does not warn.
func TestOverviewBeforeTheFirstSync(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t, sample).indexed(t, indexedSample))
	b.answer("/v1/status", `got => { got.sync.watch_mode = "off"; got.sync.watch_note = "" }`)
	b.open("/state")
	b.wait(`document.querySelector(".facts-grid")`)
	b.wantText("not yet", "once the first sync is done")
	if n := eval[int](b, `[...document.querySelectorAll(".facts-grid .warn")].filter(e => e.innerText.includes("not yet")).length`); n > 0 {
		t.Error("it warns")
	}
}

// (e) A saved note shows up in the live events; a daemon that went away is told, and so is the next one at its address, whose events show up.
func TestLiveEvents(t *testing.T) {
	t.Parallel()
	d := serve(t, sample).indexed(t, indexedSample)
	b := newTab(t, d).open("/live")
	b.wait(`document.getElementById("state").textContent === "connected"`)
	d.write(t, "memory/2026-11-04.md", "# 2026-11-04\n\nA new note.\n")
	b.wait(`document.querySelector('#events a[href*="2026-11-04"]')`)
	b.wantText("Indexed")
	b.expect("ERR_CONNECTION_REFUSED")
	b.expect("ERR_INCOMPLETE_CHUNKED_ENCODING")
	d.stop()
	b.wait(`document.getElementById("state").textContent === "connecting again…"`)
	d.start(t)
	b.wait(`document.getElementById("state").textContent === "connected"`)
	d.indexed(t, indexedSample+1).write(t, "memory/2026-11-05.md", "# 2026-11-05\n\nAnother note.\n")
	b.wait(`document.querySelector('#events a[href*="2026-11-05"]')`)
}

// Notes that attack the page are text in every view: no script runs, nothing is requested elsewhere, the console stays empty (C11, F04).
func TestAttackingNotesAreText(t *testing.T) {
	t.Parallel()
	d := serve(t, sample).indexed(t, indexedSample)
	b := newTab(t, d)
	for _, path := range []string{"/", "/search?q=walrus", "/search?q=attack", "/search?q=cover", "/notes", "/note?path=odd/attack.md&q=walrus&lines=1-20", "/note?path=odd/attack.md&view=raw",
		"/notes?find=img", "/search?q=<script>alert(1)</script>", "/notes?find=\"><script>alert(1)</script>", "/timeline", "/map", "/turns"} {
		b.open(path)
		b.wait(`document.body && getComputedStyle(document.body).display !== "none"`)
		if n := eval[int](b, `document.querySelectorAll("main script, main iframe, main style, main img, main object, [onerror], [onload], [onfocus]").length`); n > 0 {
			t.Errorf("%s: %d elements of an attack", path, n)
		}
		if eval[bool](b, `/[\u001b\u202e]/.test(document.documentElement.innerHTML)`) {
			t.Errorf("%s has escape sequences or marks that reorder text", path)
		}
	}
	b.open("/notes")
	b.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".notes a")].find(a => a.textContent === "Odd").click()`))
	b.wait(`document.querySelector(".note")`)
	b.wantText("A walrus with a strange name.", `"><img src=x onerror=alert(11)>'&.md`)
}

// The page is usable with the keyboard alone: from the overview to a search, its first result, the note, and back.
func TestKeyboardAlone(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t, sample).indexed(t, indexedSample)).open("/")
	b.keys(kb.Tab)
	if got := eval[string](b, `document.activeElement.textContent`); got != "Skip to the content" {
		t.Errorf("the first stop is %q", got)
	}
	// A letter alone, on a page that has just opened, is no second half of "g" and a letter.
	b.keys("k")
	if got := eval[string](b, "location.pathname"); got != "/" {
		t.Errorf("k leads to %s", got)
	}
	b.keys("/")
	b.wait(`document.activeElement.id === "q"`)
	b.keys("walnuts")
	b.wait(`document.querySelectorAll(".result").length > 0 && location.search.includes("walnuts") && !document.querySelector("[aria-busy]")`)
	b.keys(kb.ArrowDown)
	b.wait(`document.activeElement.classList.contains("result-link")`)
	b.keys("j")
	b.wait(`document.activeElement === document.querySelectorAll(".result-link")[1]`)
	b.keys("k")
	b.keys(kb.Enter)
	b.wait(`document.querySelector(".note")`)
	b.keys("g")
	b.keys("n")
	b.wait(`location.pathname === "/notes"`)
	b.keys("?")
	b.wait(`document.getElementById("help").open`)
	b.keys(kb.Escape)
	b.wait(`!document.getElementById("help").open`)
	// Whatever has the focus shows it.
	for range 12 {
		b.keys(kb.Tab)
		if got := eval[string](b, `getComputedStyle(document.activeElement).outlineStyle + " " + document.activeElement.outerHTML.slice(0, 80)`); strings.HasPrefix(got, "none") {
			t.Errorf("the focus is not seen: %s", got)
		}
	}
}

// A server with tokens asks for one, refuses a wrong one, and keeps the right one where scripts cannot read it.
func TestLogin(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/tokens.yaml"
	// The hash of "open sesame" without the space.
	tokens := "tokens:\n  - name: reader\n    sha256: " + sha256Of("opensesame") + "\n    agents: [nova]\n"
	if err := os.WriteFile(file, []byte(tokens), 0o600); err != nil {
		t.Fatal(err)
	}
	d := serve(t, sample, "--token-file", file)
	b := newTab(t, d)
	b.expectStatus(401)
	b.open("/search?q=walnuts")
	b.wantText("This server answers only with a token.")
	b.keys("wrong" + kb.Enter)
	b.wait(`document.getElementById("wrong")`)
	b.wantText("This token is not valid here.")
	b.wait(`document.activeElement.id === "token"`)
	b.keys("opensesame" + kb.Enter)
	b.wait(`location.pathname + location.search === "/search?q=walnuts" && document.querySelectorAll(".result").length > 0`)
	if got := eval[string](b, `document.cookie`); got != "" {
		t.Errorf("scripts can read the cookie: %s", got)
	}
	b.click(`form[action="/logout"] button`)
	b.wait(`location.pathname === "/login"`)
}

// Foreign pages and hosts get nothing: not the page under another name, nor a change from another origin (C11).
func TestForeignHostsAndOrigins(t *testing.T) {
	t.Parallel()
	d := serve(t, sample)
	if resp, body := d.do(t, "GET", "/", "", http.Header{"Host": {"evil.example"}}); resp.StatusCode < 400 || strings.Contains(body, "nova") {
		t.Errorf("a foreign host gets %d", resp.StatusCode)
	}
	for _, path := range []string{"/login", "/logout", "/v1/notes"} {
		for _, header := range []http.Header{{"Origin": {"https://evil.example"}}, {"Sec-Fetch-Site": {"cross-site"}}} {
			header.Set("Host", strings.TrimPrefix(d.base, "http://"))
			header.Set("Content-Type", "application/x-www-form-urlencoded")
			if resp, _ := d.do(t, "POST", path, "token=x", header); resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) > 0 {
				t.Errorf("POST %s with %v: %d", path, header, resp.StatusCode)
			}
		}
	}
	if resp, _ := d.do(t, "GET", "/", "", nil); resp.Header.Get("Access-Control-Allow-Origin") != "" || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("headers %v", resp.Header)
	}
}

// No view is wider than a phone, whatever the notes contain.
func TestPhoneWidth(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t, sample).indexed(t, indexedSample))
	b.do(chromedp.EmulateViewport(360, 740))
	b.expectStatus(404)
	for _, path := range append(views, "/notes?find=long", "/search?q=Donaudampfschifffahrt", "/note?path=odd/"+strings.Repeat("a-very-long-name-", 10)+".md") {
		b.open(path)
		if width := eval[int](b, `document.documentElement.scrollWidth`); width > 360 {
			t.Errorf("%s is %d wide: %s", path, width, eval[string](b, `[...document.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > 361).slice(0, 4).map(e => e.outerHTML.slice(0, 90)).join("\n")`))
		}
	}
}

// The colours follow the system, and the button overrides them.
func TestDarkMode(t *testing.T) {
	t.Parallel()
	b := newTab(t, serve(t, sample))
	ground := func() string { return eval[string](b, `getComputedStyle(document.body).backgroundColor`) }
	b.scheme("light")
	b.open("/search")
	light := ground()
	b.scheme("dark")
	dark := ground()
	if light == dark {
		t.Fatalf("both schemes have the ground %s", light)
	}
	b.click("#theme")
	if ground() != light {
		t.Errorf("light was chosen, the ground is %s", ground())
	}
	b.open("/notes")
	if ground() != light {
		t.Errorf("the choice is forgotten: %s", ground())
	}
	b.click("#theme")
	b.scheme("light")
	if ground() != dark {
		t.Errorf("dark was chosen, the ground is %s", ground())
	}
}
