package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kioku/memory"
)

// inline matches what the content policy forbids in a page: scripts and styles within it.
var inline = regexp.MustCompile(`(?i)<script(?:>| [^>]*[^>]*>[^<]+</script>)|<style|\sstyle=|\son[a-z]+=|javascript:|(?:src|href)="(?:https?:)?//`)

// Every page has a strict content policy and contains nothing that it would forbid (C11).
func TestPagesKeepToTheirPolicy(t *testing.T) {
	t.Parallel()
	c := &fakeMemory{notes: map[string]string{"a.md": "# A\n"}}
	for _, path := range []string{"/", "/search", "/state", "/notes", "/timeline", "/map", "/turns", "/live", "/note?path=a.md", "/note?path=a.md&view=raw", "/nothing", "/login"} {
		t.Run(path, func(t *testing.T) {
			w := get(t, c, path)
			policy := w.Header().Get("Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
				if !strings.Contains(policy, part) {
					t.Errorf("the policy lacks %s: %s", part, policy)
				}
			}
			if strings.Contains(policy, "unsafe") {
				t.Errorf("headers %v", w.Header())
			}
			if found := inline.FindString(w.Body.String()); found != "" {
				t.Errorf("%q in the page", found)
			}
		})
	}
}

// A name of a note, a folder or a query cannot reorder the text around it or hide in it, in any page that names it (F04).
func TestNamesReorderNothing(t *testing.T) {
	t.Parallel()
	odd := "fol\u2066der/a\u202egpj.md"
	c := &fakeMemory{notes: map[string]string{odd: "# A &#x202e;gnp.exe\n\n[b\u202eb](c.md)\n"}}
	c.links = map[string][]memory.Link{odd: {{Target: "c\u202ed", Line: 3}}}
	for _, path := range []string{"/notes", "/notes?find=%E2%80%AEx", "/note?path=" + url.QueryEscape(odd), "/note?view=raw&path=" + url.QueryEscape(odd), "/note?path=%E2%80%AE"} {
		page := get(t, c, path).Body.String()
		if !strings.Contains(page, "</html>") {
			t.Errorf("%s is no page: %.200s", path, page)
		}
		if i := strings.IndexAny(page, "\u202e\u2066"); i >= 0 {
			t.Errorf("%s: a mark that reorders text in %q", path, page[max(0, i-80):i+20])
		}
	}
	if page := get(t, c, "/notes").Body.String(); !strings.Contains(page, "agpj.md") || !strings.Contains(page, url.QueryEscape(odd)) {
		t.Error("the note has not its visible name and its whole address")
	}
}

func TestStaticFilesHaveTags(t *testing.T) {
	t.Parallel()
	c := &fakeMemory{}
	first := get(t, c, "/static/app.js")
	if first.Code != http.StatusOK || !strings.HasPrefix(first.Header().Get("Content-Type"), "text/javascript") || first.Header().Get("ETag") == "" {
		t.Fatalf("%d %v", first.Code, first.Header())
	}
	again := httptest.NewRequest("GET", "/static/app.js", nil)
	again.Header.Set("If-None-Match", first.Header().Get("ETag"))
	if w := ask(t, c, again); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
		t.Errorf("the same file again: %d with %d bytes", w.Code, w.Body.Len())
	}
	for _, path := range []string{"/static/none.js", "/static/", "/static/../web.go", "/static/%2e%2e/web.go"} {
		if w := get(t, c, path); w.Code == http.StatusOK {
			t.Errorf("%s is served", path)
		}
	}
}

func TestErrorsArePages(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, path string
		memory     *fakeMemory
		code       int
		want       string
	}{
		{"unknown path", "/nothing", &fakeMemory{}, 404, "There is no such page"},
		{"unknown note", "/note?path=x.md", &fakeMemory{}, 404, "There is nothing here"},
		{"unknown agent", "/search?agent=bob", &fakeMemory{}, 404, "There is nothing here"},
		{"no agent", "/", &fakeMemory{agents: []string{}}, 200, "No agent yet"},
		{"starting", "/", &fakeMemory{err: status.Error(codes.Unavailable, "starting")}, 503, "cannot be read now"},
		{"internal", "/", &fakeMemory{err: status.Error(codes.Internal, "internal error 17")}, 500, "internal error 17"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := get(t, tc.memory, tc.path)
			if w.Code != tc.code || !strings.Contains(w.Body.String(), tc.want) || !strings.Contains(w.Body.String(), `<nav class="views"`) {
				t.Errorf("%d, want %d with %q:\n%s", w.Code, tc.code, tc.want, w.Body)
			}
		})
	}
}

// With several agents each link names the one that is shown.
func TestLinksNameTheAgentOfSeveral(t *testing.T) {
	t.Parallel()
	c := &fakeMemory{agents: []string{"ann", "bob"}, notes: map[string]string{"a.md": "[b](b.md)\n"}}
	page := get(t, c, "/note?agent=bob&path=a.md").Body.String()
	for _, want := range []string{`href="/?agent=bob"`, `<option selected>bob</option>`, `href="/note?agent=bob&amp;path=b.md"`, `data-agent="bob"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}

// The page asks for a token where the server needs one, keeps it in a cookie that scripts cannot read, for long only once it has proved
// valid, and goes on to where the caller wanted to go.
func TestLoginKeepsAValidToken(t *testing.T) {
	t.Parallel()
	c := &fakeMemory{token: "secret"}
	w := get(t, c, "/search?q=tea")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/login?next=%2Fsearch%3Fq%3Dtea" {
		t.Fatalf("without a token: %d to %s", w.Code, w.Header().Get("Location"))
	}
	if w = get(t, c, w.Header().Get("Location")); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), `name="next" value="/search?q=tea"`) {
		t.Fatalf("the login: %d\n%s", w.Code, w.Body)
	}
	w = ask(t, c, form("/login", url.Values{"token": {" secret\n"}, "next": {"/search?q=tea"}}))
	cookie := w.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Value != "secret" || cookie.Path != "/" || cookie.Secure || cookie.MaxAge > 60 {
		t.Errorf("cookie %+v", cookie)
	}
	next := httptest.NewRequest("GET", w.Header().Get("Location"), nil)
	next.AddCookie(cookie)
	if w = ask(t, c, next); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/search?q=tea" {
		t.Errorf("after the login: %d to %q", w.Code, w.Header().Get("Location"))
	}
	if kept := w.Result().Cookies(); len(kept) != 1 || kept[0].MaxAge < 86_400 || kept[0].Value != "secret" || !kept[0].HttpOnly || kept[0].SameSite != http.SameSiteStrictMode {
		t.Errorf("a valid token is kept as %v", kept)
	}
	out := form("/logout", nil)
	out.AddCookie(cookie)
	if w = ask(t, c, out); w.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("the logout keeps the cookie: %v", w.Result().Cookies())
	}
}

// A wrong token is forgotten, and the login says only that it is wrong.
func TestLoginForgetsAWrongToken(t *testing.T) {
	t.Parallel()
	c := &fakeMemory{token: "secret"}
	for _, token := range []string{"hunter2", "", "with space", "sécret", `a"b`} {
		w := ask(t, c, form("/login", url.Values{"token": {token}, "next": {"/notes"}}))
		next := httptest.NewRequest("GET", w.Header().Get("Location"), nil)
		if got := w.Result().Cookies(); len(got) == 1 && got[0].MaxAge > 0 {
			next.AddCookie(got[0])
		}
		w = ask(t, c, next)
		cookies := w.Result().Cookies()
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "This token is not valid here.") || len(cookies) != 1 || cookies[0].MaxAge >= 0 {
			t.Errorf("%q: %d, cookies %v\n%s", token, w.Code, cookies, w.Body)
		}
		if token != "" && strings.Contains(w.Body.String(), url.QueryEscape(token)) {
			t.Errorf("the page repeats the token %q", token)
		}
	}
}

// The cookie is Secure over TLS.
func TestLoginCookieIsSecureOverTLS(t *testing.T) {
	t.Parallel()
	r := form("https://kioku.example/login", url.Values{"token": {"secret"}})
	if w := ask(t, &fakeMemory{}, r); !w.Result().Cookies()[0].Secure {
		t.Errorf("%v", w.Result().Cookies())
	}
}

// The login leads only to addresses of the page (C11).
func TestLoginLeadsOnlyToThePage(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/notes?agent=a": "/notes?agent=a", "": "/", "https://evil.example/": "/", "//evil.example/": "/", `/\evil.example`: "/", "javascript:alert(1)": "/",
		"/login?next=/login": "/", "evil": "/", "/\t/evil.example": "/", "http:/evil": "/",
	} {
		if w := get(t, &fakeMemory{}, "/login?next="+url.QueryEscape(next)); w.Header().Get("Location") != want {
			t.Errorf("next %q leads to %q, want %q", next, w.Header().Get("Location"), want)
		}
	}
}

// The markup of a note with everything that attacks a page is none of it in the page (C11, F04).
func TestReaderSanitisesNotes(t *testing.T) {
	t.Parallel()
	for _, attack := range []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `<img src="https://evil.example/x.png">`, "![x](https://evil.example/x.png)", "![x](data:image/svg+xml,<svg onload=alert(1)>)",
		"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](&#106;avascript:alert(1))", `<a href="javascript:alert(1)">x</a>`, `<a href=" java` + "\n" + `script:alert(1)">x</a>`,
		"[x](data:text/html,<script>alert(1)</script>)", "[x](vbscript:x)", `<svg onload=alert(1)><script>alert(2)</script></svg>`, `<math><mtext><script>alert(1)</script></mtext></math>`,
		`<iframe src="https://evil.example"></iframe>`, `<object data="x"></object>`, `<embed src="x">`, `<form action="https://evil.example"><input name=a><button>go</button></form>`,
		`<div onfocus=alert(1) tabindex=0 autofocus contenteditable>x</div>`, `<style>body{display:none}</style>`, `<p style="position:fixed">x</p>`, `<base href="https://evil.example/">`,
		`<meta http-equiv=refresh content="0;url=https://evil.example">`, `<link rel=stylesheet href=//evil.example/x.css>`, `</article></main></body><h1>outside</h1>`, `<p id="announce" class="bar" name="body">x</p>`,
		`<template><script>alert(1)</script></template>`, `<noscript><p title="</noscript><img src=x onerror=alert(1)>">`, "<!--><img src=x onerror=alert(1)>-->", `<a href="//evil.example" target=_blank>x</a>`,
		`<video src=https://evil.example/v autoplay></video>`, `<a href="kioku-wiki:javascript:alert(1)">x</a>`, "[[javascript:alert(1)]]", `[[x" onclick="alert(1)|y]]`, "`" + `<script>alert(1)</script>` + "`",
		"\x1b]8;;https://evil.example\x07x\x1b]8;;\x07 \x1b[2Jcls \u202Egnp.exe\u202C \u2066x\u2069",
	} {
		page := read(t, "Before.\n\n"+attack+"\n\nAfter.\n")
		got := article(t, page)
		if found := attackLeft.FindString(got); found != "" {
			t.Errorf("%q leaves %q in\n%s", attack, found, got)
		}
		if !strings.Contains(got, "Before.") || !strings.Contains(got, "After.") && !strings.Contains(attack, "<!--") {
			t.Errorf("%q takes text away:\n%s", attack, got)
		}
		if strings.ContainsAny(page, "\x1b\u202e\u2066\u2069\u202c") {
			t.Errorf("%q leaves control characters in the page", attack)
		}
		if opened, closed := strings.Count(got, "<div"), strings.Count(got, "</div"); opened != closed {
			t.Errorf("%q leaves %d <div and %d </div", attack, opened, closed)
		}
	}
}

// Hazard K16: an entry that leaves a fence or a comment open hides no later one.
func TestReaderShowsEachEntry(t *testing.T) {
	t.Parallel()
	for _, open := range []string{"```go", "<!-- open", "<div>", "- item\n\n      code", "> quoted"} {
		got := article(t, read(t, "## 10:00 - fact\n\n"+open+"\n\n## 10:05 - fact\n\nThe **milkman**.\n"))
		if !strings.Contains(got, "10:05 - fact</h2>") || !strings.Contains(got, "<strong>milkman</strong>") || !strings.Contains(got, `id="L7"`) && !strings.Contains(got, `id="L10"`) {
			t.Errorf("%q hides the next entry:\n%s", open, got)
		}
	}
}

// attackLeft matches elements and attributes that a note may not bring into the page.
var attackLeft = regexp.MustCompile(`(?i)<(script|img|iframe|svg|math|object|embed|form|input|button|style|base|meta|link|video|template|noscript|/article|/main|/body)\b` +
	`|<[^>]*\s(on[a-z]+|style|src|target|name|contenteditable|autofocus)=|<[^>]*href="(javascript|data|vbscript)|<[^>]*id="announce|<[^>]*class="bar`)

// Wiki links and relative links lead to the reader, those to headings to their lines, and those to nothing nowhere.
func TestReaderLeadsLinksToNotes(t *testing.T) {
	t.Parallel()
	text := "# Top\n\n[[Lena]] [[Lena|her]] [[Kyoto#宿]] [[Nobody]] [b](../b c.md) [b](<../b c.md#part-two>) [top](#top) [web](https://example.org/) ![[Lena]] `[[code]]` [x](b.md?y=1)\n"
	got := article(t, read(t, text,
		memory.Link{Target: "Lena", To: "people/Lena.md"}, memory.Link{Target: "Kyoto", To: "travel/京都.md"}, memory.Link{Target: "Nobody"}))
	for _, want := range []string{
		`<a href="/note?path=people%2FLena.md">Lena</a>`, `<a href="/note?path=people%2FLena.md">her</a>`, `<a href="/note?heading=%E5%AE%BF&amp;path=travel%2F%E4%BA%AC%E9%83%BD.md">Kyoto#宿</a>`,
		`<span class="missing" title="no such note: Nobody">Nobody</span>`, `<a href="/note?heading=part-two&amp;path=b+c.md">b</a>`, `<a href="#L1">top</a>`,
		`href="https://example.org/"`, `[[code]]`, `<a href="/note?path=notes%2Fb.md">x</a>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// A link to a heading of a note leads to its line.
func TestReaderFindsHeadings(t *testing.T) {
	t.Parallel()
	c := &fakeMemory{notes: map[string]string{"a.md": "---\ntitle: A\n---\n# One\n\ntext\n\n## Über *uns*!\n"}}
	for _, heading := range []string{"Über uns!", "über-uns"} {
		w := get(t, c, "/note?path=a.md&heading="+url.QueryEscape(heading))
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/note?path=a.md#L8" {
			t.Errorf("%s: %d %s", heading, w.Code, w.Header().Get("Location"))
		}
	}
	if w := get(t, c, "/note?path=a.md&heading=none"); w.Code != http.StatusOK {
		t.Errorf("an unknown heading: %d", w.Code)
	}
}

// Blocks have the numbers of their lines in the file, behind front matter too, and those that a search found are marked.
func TestReaderNumbersBlocks(t *testing.T) {
	t.Parallel()
	text := "---\ntitle: T\ntags: [a, b]\nauthor:\n  name: N\n---\n# Head\n\none\ntwo\n\n- item\n- more\n  lines\n\n```\ncode\n```\n\n| a |\n|---|\n| b |\n"
	c := &fakeMemory{notes: map[string]string{"a.md": text}}
	page := get(t, c, "/note?path=a.md&lines=13-14").Body.String()
	for _, want := range []string{
		`<h1 id="L7" data-line="7-7"`, `<p id="L9" data-line="9-10"`, `<li id="L12" data-line="12-12"`, `<li id="L13" data-line="13-14" dir="auto" class="hit"`,
		`<pre id="L16" data-line="16-17"`, `id="L20" data-line="20-20"`, `<th scope="row" dir="auto">author.name</th><td dir="auto">N</td>`, `<td dir="auto">a, b</td>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	if n := strings.Count(page, `class="hit"`); n != 1 {
		t.Errorf("%d marked blocks", n)
	}
}

// A huge note is shown in parts that end at a heading, and the part with the line of a hit is found.
func TestReaderShowsHugeNotesInParts(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 3000 {
		text.WriteString("## Section " + strings.Repeat("x", i%7) + "\n\n" + strings.Repeat("words and words ", 12) + "\n\n```\n## no heading\n```\n\n")
	}
	c := &fakeMemory{notes: map[string]string{"big.md": text.String()}}
	page := get(t, c, "/note?path=big.md").Body.String()
	next := regexp.MustCompile(`from=(\d+)[^>]*rel="next"`).FindStringSubmatch(page)
	if next == nil || len(page) > 2<<20 {
		t.Fatalf("no next part in %d bytes", len(page))
	}
	page = get(t, c, "/note?path=big.md&from="+next[1]).Body.String()
	if !strings.Contains(page, `<h2 id="L`+next[1]+`"`) {
		t.Errorf("the part from line %s does not begin with a heading:\n%.3000s", next[1], page)
	}
	if page = get(t, c, "/note?path=big.md&lines=15000-15002").Body.String(); !strings.Contains(page, `data-line="15`) || !strings.Contains(page, `class="hit"`) {
		t.Errorf("the lines of a hit are not shown: %.500s", page)
	}
}

// What takes the parser long is shown as it is written: no note takes much longer than one of plain text of the same size.
func TestReaderIsNotSlowedDown(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"[", "![", "[[", "*a_", "**a", "`a", "<", "<div>", "> ", "- ", "[a](", "~~", "![[", "[a]: x\n", "| a ", "[^1]", "1. ", "    a\n", "\t", "(", "http://a.b/"} {
		c := &fakeMemory{notes: map[string]string{"short.md": strings.Repeat(unit, 9_000/len(unit)) + "\n", "long.md": strings.Repeat(unit, 90_000/len(unit)) + "\n"}}
		render := func(note string) time.Duration {
			begun := time.Now()
			if page := get(t, c, "/note?path="+note).Body.String(); !strings.Contains(page, "</html>") {
				t.Errorf("%q gives no whole page", unit)
			}
			return time.Since(begun)
		}
		// Ten times the text takes about ten times as long, a quadratic parser a hundred times.
		short, long := max(render("short.md"), 50*time.Millisecond), render("long.md")
		if long > 50*short {
			t.Errorf("%q: %s, and %s for ten times the text", unit, short, long)
		}
	}
}

// Raw notes are escaped and have the numbers of their lines.
func TestReaderShowsTheTextAsItIsWritten(t *testing.T) {
	t.Parallel()
	c := &fakeMemory{notes: map[string]string{"a.md": "one\n<script>alert(1)</script>\n\x1b[31mred\n"}}
	page := get(t, c, "/note?path=a.md&view=raw&lines=2").Body.String()
	if !strings.Contains(page, `<div id="L2" data-line="2-2" class="hit"><span class="no" data-no="2"></span><span class="text" dir="auto">&lt;script&gt;alert(1)&lt;/script&gt;</span>`) ||
		strings.Contains(page, "\x1b") || !strings.Contains(page, ">red</span>") {
		t.Errorf("the page is\n%s", page)
	}
}

func TestNotesAreListed(t *testing.T) {
	t.Parallel()
	c := &fakeMemory{notes: map[string]string{`a"b<c>.md`: "x"}}
	page := get(t, c, "/notes").Body.String()
	if !strings.Contains(page, `href="/note?path=a%22b%3Cc%3E.md"`) || !strings.Contains(page, `a&#34;b&lt;c&gt;</a>`) {
		t.Errorf("the page is\n%s", page)
	}
	if page = get(t, &fakeMemory{}, "/notes?find=zz").Body.String(); !strings.Contains(page, "No note is called like that") {
		t.Errorf("nothing found:\n%s", page)
	}
}
