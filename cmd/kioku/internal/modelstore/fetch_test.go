package modelstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// hubServer serves repositories as huggingface.co does: a large file is a redirect that names its SHA-256.
type hubServer struct {
	*httptest.Server
	mu sync.Mutex
	// files by path, such as /org/name/resolve/main/config.json.
	files map[string]string
	// tag of the large files; changes when they do.
	tag string
	// cutAfter ends each answer with a large file after so many bytes; 0 serves it whole.
	cutAfter int
	// announced is the SHA-256 that it announces instead of the right one.
	announced string
	// served counts the bytes of large files.
	served atomic.Int64
	// ranges are the ranges that were asked for.
	ranges []string
}

// newHub serves files of the revision main of a repository.
func newHub(t testing.TB, repo string, files map[string]string) *hubServer {
	h := &hubServer{files: map[string]string{}, tag: `"one"`}
	for name, text := range files {
		h.files["/"+repo+"/resolve/main/"+name] = text
	}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

// ServeHTTP implements http.Handler.
func (h *hubServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	path, stored := strings.CutPrefix(r.URL.Path, "/store")
	text, ok := h.files[path]
	switch large := strings.HasSuffix(path, ".safetensors"); {
	case !ok:
		http.NotFound(w, r)
	case large && !stored:
		sum := h.announced
		if sum == "" {
			sum = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		}
		w.Header().Set("X-Linked-Etag", `"`+sum+`"`)
		w.Header().Set("X-Repo-Commit", "0123456789abcdef0123456789abcdef01234567")
		http.Redirect(w, r, "/store"+path, http.StatusFound)
	case large:
		h.serveLarge(w, r, text)
	default:
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	}
}

// serveLarge serves a large file, and ends the connection in the middle if it is to.
func (h *hubServer) serveLarge(w http.ResponseWriter, r *http.Request, text string) {
	h.ranges = append(h.ranges, r.Header.Get("Range"))
	counted := &countedWriter{ResponseWriter: w, served: &h.served, left: h.cutAfter, cut: h.cutAfter > 0}
	w.Header().Set("ETag", h.tag)
	http.ServeContent(counted, r, "", time.Time{}, strings.NewReader(text))
}

// countedWriter counts bytes and breaks the connection after some.
type countedWriter struct {
	http.ResponseWriter
	served       *atomic.Int64
	left, status int
	cut          bool
}

// WriteHeader implements http.ResponseWriter.
func (c *countedWriter) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (c *countedWriter) Write(p []byte) (int, error) {
	if c.cut && len(p) > c.left {
		c.count(c.left)
		_, _ = c.ResponseWriter.Write(p[:c.left])
		c.left = 0
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	c.count(len(p)) // before the client has it, and the test with it
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// count counts bytes of an answer that has some.
func (c *countedWriter) count(n int) {
	if c.status < 300 {
		c.served.Add(int64(n))
	}
}

// hubAdder returns an adder that uses a hub.
func hubAdder(t testing.TB, h *hubServer) *Adder {
	a := newAdder(t)
	a.Hub = h.URL
	return a
}

func TestAddDownloadsARepository(t *testing.T) {
	t.Parallel()
	h := newHub(t, "org/Tiny", modelFiles())
	for _, source := range []string{"org/Tiny", h.URL + "/org/Tiny", h.URL + "/org/Tiny/tree/main", h.URL + "/org/Tiny/resolve/main/model.safetensors?download=true"} {
		a := hubAdder(t, h)
		m := add(t, a, Request{Source: source})
		if m.Name != "tiny" || m.Model != "org/Tiny" || len(m.Files) != 5 ||
			m.Revision != "0123456789abcdef0123456789abcdef01234567" || m.Verify(t.Context()) != nil {
			t.Errorf("%s: %+v", source, m)
		}
		for _, f := range m.Files {
			if f.Verified != (f.Path == "model.safetensors") {
				t.Errorf("%s: verified is %t", f.Path, f.Verified)
			}
		}
		if left, err := os.ReadDir(filepath.Join(a.Store.dir, downloads)); err != nil || len(left) > 0 {
			t.Errorf("downloads are left: %v %v", left, err)
		}
	}
}

func TestAddGoesOnWithADownload(t *testing.T) {
	t.Parallel()
	files := modelFiles()
	files["model.safetensors"] = strings.Repeat("weights ", 1<<17) // 1 MiB
	h := newHub(t, "org/tiny", files)
	a := hubAdder(t, h)
	h.cutAfter = 300_000
	if m := add(t, a, Request{Source: "org/tiny"}); m.Verify(t.Context()) != nil {
		t.Errorf("%v", m.Verify(t.Context()))
	}
	if h.served.Load() != 1<<20 {
		t.Errorf("%d bytes were served for a file of %d, by %q", h.served.Load(), 1<<20, h.ranges)
	}
	// A run that ends is continued by the next one.
	h.served.Store(0)
	h.ranges = nil
	ctx, cancel := context.WithCancelCause(t.Context())
	a.Pause = func(context.Context, time.Duration) error { cancel(errors.New("ctrl-c")); return context.Cause(ctx) }
	if _, err := a.Add(ctx, Request{Source: "org/tiny", Name: "second"}); err == nil {
		t.Fatal("the download did not end")
	}
	a.Pause = newAdder(t).Pause
	h.cutAfter = 0
	if m := add(t, a, Request{Source: "org/tiny", Name: "second"}); m.Verify(t.Context()) != nil || h.served.Load() != 1<<20 {
		t.Errorf("%d bytes, by %q: %v", h.served.Load(), h.ranges, m.Verify(t.Context()))
	}
}

func TestAddBeginsADownloadAgainIfTheFileChanges(t *testing.T) {
	t.Parallel()
	files := modelFiles()
	files["model.safetensors"] = strings.Repeat("weights ", 1<<17)
	h := newHub(t, "org/tiny", files)
	a := hubAdder(t, h)
	h.cutAfter = 300_000
	tries := 0
	a.Pause = func(context.Context, time.Duration) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if tries++; tries == 1 {
			h.files["/org/tiny/resolve/main/model.safetensors"], h.tag, h.cutAfter = strings.Repeat("weights2", 1<<16), `"two"`, 0
		}
		return nil
	}
	m := add(t, a, Request{Source: "org/tiny"})
	data, err := os.ReadFile(filepath.Join(m.Dir, "model.safetensors"))
	if err != nil || string(data) != strings.Repeat("weights2", 1<<16) {
		t.Errorf("the file is a mixture of two: %d bytes, %v", len(data), err)
	}
}

func TestAddDoesNotDownloadAgainWhatItHas(t *testing.T) {
	t.Parallel()
	h := newHub(t, "org/tiny", modelFiles())
	a := hubAdder(t, h)
	open := a.Open
	a.Open = func(context.Context, string, Manifest) (Facts, error) { return Facts{}, errors.New("not today") }
	if _, err := a.Add(t.Context(), Request{Source: "org/tiny"}); err == nil {
		t.Fatal("it was added")
	}
	a.Open = open
	h.served.Store(0)
	add(t, a, Request{Source: "org/tiny"})
	if h.served.Load() != 0 {
		t.Errorf("%d bytes were served again", h.served.Load())
	}
}

func TestAddChecksTheChecksum(t *testing.T) {
	t.Parallel()
	h := newHub(t, "org/tiny", modelFiles())
	h.announced = strings.Repeat("0", 64)
	a := hubAdder(t, h)
	for range 2 { // what was damaged is not kept
		if _, err := a.Add(t.Context(), Request{Source: "org/tiny"}); err == nil || !strings.Contains(err.Error(), "should have 000000") {
			t.Errorf("%v", err)
		}
	}
	if h.served.Load() != int64(2*len(modelFiles()["model.safetensors"])) || len(folders(t, a.Store.dir)) != 1 {
		t.Errorf("%d bytes, %q", h.served.Load(), folders(t, a.Store.dir))
	}
	// That of the catalog counts whatever the server says.
	k, _ := Lookup("minilm")
	forged := newHub(t, "x/y", nil)
	for name, text := range modelFiles() {
		forged.files["/"+k.Repository+"/resolve/"+k.Revision+"/"+name] = text
	}
	a = hubAdder(t, forged)
	if _, err := a.Add(t.Context(), Request{Source: "minilm"}); err == nil || !strings.Contains(err.Error(), "should have "+k.Weights) {
		t.Errorf("%v", err)
	}
}

func TestAddRespectsOffline(t *testing.T) {
	t.Parallel()
	a := newAdder(t)
	a.Offline = true
	a.Transport = failingTransport{t}
	for _, source := range []string{"minilm", "org/tiny", "https://example.com/org/tiny", "https://huggingface.co/org/tiny"} {
		if _, err := a.Add(t.Context(), Request{Source: source}); !errors.Is(err, ErrOffline) {
			t.Errorf("%s: %v", source, err)
		}
	}
	add(t, a, Request{Source: writeFiles(t, filepath.Join(t.TempDir(), "m"), modelFiles())})
}

// failingTransport fails the test at each request.
type failingTransport struct{ t testing.TB }

// RoundTrip implements http.RoundTripper.
func (f failingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	f.t.Errorf("a request to %s", r.URL)
	return nil, errors.New("no")
}

func TestAddReportsWhatAServerRefuses(t *testing.T) {
	t.Parallel()
	status := map[string]int{"/a/gone/": 404, "/a/secret/": 401, "/a/busy/": 503}
	asked := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for prefix, code := range status {
			if strings.HasPrefix(r.URL.Path, prefix) {
				asked[prefix]++
				w.WriteHeader(code)
			}
		}
	}))
	defer s.Close()
	a := newAdder(t)
	a.Hub = s.URL
	for source, want := range map[string]string{
		"a/gone": "or there is no such repository", "a/secret": "need an account", "a/busy": "503 Service Unavailable",
	} {
		if _, err := a.Add(t.Context(), Request{Source: source}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", source, err)
		}
	}
	if asked["/a/secret/"] != 1 || asked["/a/busy/"] != maxTries {
		t.Errorf("requests: %v", asked)
	}
}

func TestAddDoesNotHang(t *testing.T) {
	t.Parallel()
	block := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("x"))
		w.(http.Flusher).Flush()
		<-block
	}))
	defer s.Close()
	defer close(block)
	a := newAdder(t)
	a.Stall = 20 * time.Millisecond
	_, err := a.Add(t.Context(), Request{Source: s.URL + "/org/tiny"})
	if err == nil || !strings.Contains(err.Error(), "nothing came for 20ms") {
		t.Errorf("%v", err)
	}
}

func TestAddFollowsNoRedirectToPlainHTTP(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer plain.Close()
	s := httptest.NewTLSServer(http.RedirectHandler(plain.URL+"/org/tiny", http.StatusFound))
	defer s.Close()
	a := newAdder(t)
	a.Transport = s.Client().Transport
	if _, err := a.Add(t.Context(), Request{Source: s.URL + "/org/tiny"}); !errors.Is(err, errUnsafe) {
		t.Errorf("%v", err)
	}
}

func TestParseSource(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, t.TempDir(), map[string]string{"minilm/x": "", "m.zip": "", "tiny/model.safetensors": ""})
	for given, want := range map[string]string{
		"minilm":                        "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
		"MiniLM":                        "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
		"intfloat/e5-base-v2":           "https://huggingface.co/intfloat/e5-base-v2 main",
		"./minilm":                      filepath.Join(dir, "minilm"),
		"tiny/model.safetensors":        filepath.Join(dir, "tiny"),
		"m.zip":                         "unpack an archive, and add the folder",
		"https://hf.co/a/b/tree/abc/":   "https://hf.co/a/b abc",
		"http://x.org/a/b":              "use https",
		"https://x.org/":                "is not the page of a model",
		"https://x.org/a/b/c/d":         "is not the page of a model",
		"mini":                          "did you mean minilm?",
		"nothing at all":                "known are minilm, bge-small-en",
		"https://me:secret@x.org/a.doc": "https://x.org/a.doc is not the page",
	} {
		s, err := parseSource(given, dir, Hub)
		got := strings.TrimSpace(s.folder + s.base + " " + s.revision)
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.Contains(got, want)) || strings.Contains(got, "secret") {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}
