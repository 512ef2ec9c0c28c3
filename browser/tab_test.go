package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is the Chromium of all tests, and an error if there is none. TestMain ends it.
var browser struct {
	once sync.Once
	ctx  context.Context
	end  context.CancelFunc
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.end != nil {
		browser.end()
	}
	os.Exit(code)
}

// startBrowser starts Chromium.
func startBrowser() {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		browser.err = fmt.Errorf("no Chromium on the PATH")
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox)
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocator)
	browser.ctx, browser.end = ctx, func() { end(); endAllocator() }
	browser.err = chromedp.Do(ctx)
}

// tab is a tab of the browser that looks at a daemon. When the test ends it fails for anything in the console, a dialog, and a
// request to anywhere but the daemon.
type tab struct {
	*testing.T
	ctx  context.Context
	base string

	mu sync.Mutex
	// problems that the tab had, and expected parts of those that the test wants.
	problems, expected []string
}

// newTab opens a tab with its own cookies and storage.
func newTab(t *testing.T, d *daemon) *tab {
	t.Helper()
	browser.once.Do(startBrowser)
	if browser.err != nil {
		t.Skip("no browser: ", browser.err)
	}
	ctx, end := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext())
	ctx, stop := context.WithTimeout(ctx, 5*time.Minute)
	b := &tab{T: t, ctx: ctx, base: d.base}
	t.Cleanup(func() {
		stop()
		end()
		b.report()
	})
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, log.Enable, cdp.Empty{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, network.Enable, network.EnableParams{})
		return err
	}))
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	return b
}

// hear notes what should not happen.
func (b *tab) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			b.note("console: %v", e.Args)
		}
	case *runtime.EventExceptionThrown:
		b.note("exception: %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			b.note("log: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		b.note("dialog: %s", e.Message)
		go chromedp.Call(b.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, b.base+"/") && !strings.HasPrefix(url, "about:") && !chromiumIcon(url) {
			b.note("request to %s", url)
		}
	}
}

func (b *tab) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}

// expect tells that the tab will have a problem that contains part.
func (b *tab) expect(part string) { b.expected = append(b.expected, part) }

// report fails the test for the problems of the tab that it did not expect.
func (b *tab) report() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		known := false
		for _, part := range b.expected {
			known = known || strings.Contains(p, part)
		}
		if !known {
			b.Errorf("the tab had a problem: %s", p)
		}
	}
}

// do runs actions.
func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// open opens a path of the page and waits until its scripts have filled it.
func (b *tab) open(path string) *tab {
	b.Helper()
	b.do(chromedp.Navigate(b.base + path))
	b.wait(`!document.querySelector(".loading")`)
	return b
}

// wait waits until a page is loaded and a JavaScript expression is true in it.
func (b *tab) wait(expression string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	js := `new Promise(done => { const look = async () => { let ok = false; try { ok = document.readyState === "complete" && await (` + expression + `) } catch {} ok ? done(true) : setTimeout(look, 10) }; look() })`
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](js, chromedp.EvalAwaitPromise))
	for err != nil && ctx.Err() == nil { // another page was loaded meanwhile
		_, err = chromedp.Run(ctx, chromedp.Evaluate[bool](js, chromedp.EvalAwaitPromise))
	}
	if err != nil {
		body, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 1500)`))
		b.Fatalf("waited for %s: %v\non %s", expression, err, body)
	}
}

// answer has a JavaScript function change what the service answers at a path to the pages that are opened from now on.
func (b *tab) answer(path, change string) {
	b.Helper()
	js := fmt.Sprintf(`{ const own = fetch; window.fetch = async (at, init) => {
		const got = await own(at, init);
		if (new URL(at, location).pathname !== %q || !got.ok) return got;
		const body = await got.json();
		(%s)(body);
		return new Response(JSON.stringify(body), { status: got.status, headers: got.headers });
	} }`, path, change)
	b.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: js})
		return err
	}))
}

// eval returns the value of a JavaScript expression.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return v
}

// text returns the text of the page, as it is seen.
func (b *tab) text() string {
	b.Helper()
	return eval[string](b, `document.querySelector("main").innerText`)
}

// wantText fails the test if the page does not show a text.
func (b *tab) wantText(parts ...string) {
	b.Helper()
	text := b.text()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			b.Errorf("%q is not on the page:\n%.1500s", part, text)
		}
	}
}

// keys presses keys, one after the other.
func (b *tab) keys(keys string) {
	b.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// click clicks the first element that a CSS selector selects, once more if the page replaces it meanwhile.
func (b *tab) click(selector string) {
	b.Helper()
	err := chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
	for err != nil && b.ctx.Err() == nil && strings.Contains(err.Error(), "Could not find node") {
		err = chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
	}
	if err != nil {
		b.Fatal(err)
	}
}

// scheme sets the colours that the system prefers, "light" or "dark".
func (b *tab) scheme(name string) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
		return err
	}))
}

// chromiumIcon reports whether an address is an icon that Chromium itself draws, as in a field for a date.
func chromiumIcon(url string) bool { return strings.HasPrefix(url, "data:image/svg+xml;base64,") }
