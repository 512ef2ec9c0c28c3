package modelstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"kioku/cmd/kioku/internal/disk"
	"kioku/internal/modelhttp"
)

const (
	// maxTries is how often a download begins again without having got further.
	maxTries = 4
	// maxRedirects is the maximum number of redirects of one request.
	maxRedirects = 5
	// stallWait is how long a download waits for the next bytes.
	stallWait = time.Minute
)

// maxDownload is the maximum size of a file that is downloaded, in bytes.
const maxDownload = 8 << 30

// ErrNoFile reports that a server does not have a file.
var ErrNoFile = errors.New("the server has no such file")

var (
	// errTooLarge reports a file beyond the limits.
	errTooLarge = errors.New("it is larger than any model that can be used")
	// errUnsafe reports an address or a redirect that honest sources do not have.
	errUnsafe = errors.New("this is not safe")
)

// errChanged reports that the file at the server is not the one of which a part was kept.
var errChanged = errors.New("the file at the server has changed")

// fetcher downloads files, and goes on with what an earlier run has left of them.
type fetcher struct {
	transport http.RoundTripper
	// tags is the folder of the ETags of what was downloaded, by address.
	tags     string
	progress func(Progress)
	// pause waits between two tries.
	pause func(context.Context, time.Duration) error
	// stall is how long it waits for the next bytes.
	stall time.Duration
}

// fetched is a file that is downloaded.
type fetched struct {
	// path is where it goes, and tag the path of its ETag.
	path, tag string
	bytes     int64
	sha256    string
	// announced is the SHA-256 that the server has announced, empty if none; revision is the commit that it has named.
	announced, revision string
}

// file downloads a file to a path. want is its SHA-256, or empty. If the server announces one, that is checked too. A download that breaks
// off is continued, by this call or by a later one.
func (f *fetcher) file(ctx context.Context, address, path, want string) (*fetched, error) {
	got := &fetched{path: path, tag: filepath.Join(f.tags, fmt.Sprintf("%.16x", sha256.Sum256([]byte(address))))}
	for try, reached := 1, int64(0); ; try++ {
		err := f.continueFile(ctx, address, got)
		if err == nil {
			break
		}
		if got.bytes > reached {
			try, reached = 1, got.bytes
		}
		if ctx.Err() != nil || !mayRetry(err) || try >= maxTries {
			return nil, fmt.Errorf("download %s: %w", shown(address), errors.Join(context.Cause(ctx), err))
		}
		if err := f.pause(ctx, time.Second<<try); err != nil {
			return nil, err
		}
	}
	var err error
	if got.sha256, err = hashFile(ctx, path); err != nil {
		return nil, err
	}
	for _, known := range []string{want, got.announced} {
		if known != "" && known != got.sha256 {
			err := fmt.Errorf("%s has the SHA-256 %s, and should have %s; nothing was added: somebody has changed it, or it was damaged on "+
				"the way. Try again, or add a folder that you trust", shown(address), got.sha256, known)
			return nil, errors.Join(err, os.Remove(path), os.Remove(got.tag))
		}
	}
	return got, nil
}

// mayRetry reports whether another try may succeed.
func mayRetry(err error) bool {
	var refused *refusedError
	if errors.As(err, &refused) {
		return refused.status == http.StatusTooManyRequests || refused.status >= 500
	}
	for _, final := range []error{ErrNoFile, disk.ErrFull, modelhttp.ErrOffline, errUnsafe, errTooLarge} {
		if errors.Is(err, final) {
			return false
		}
	}
	var ofDisk *fs.PathError
	return !errors.As(err, &ofDisk)
}

// continueFile makes one request for what is missing of a file, and counts how much of it there is then.
func (f *fetcher) continueFile(ctx context.Context, address string, got *fetched) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	etag := got.kept()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "kioku")
	req.Header.Set("Accept-Encoding", "identity") // lengths and ranges are those of the file
	if got.bytes > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", got.bytes))
		req.Header.Set("If-Range", etag)
	}
	watch := time.AfterFunc(f.stall, func() { stop(fmt.Errorf("nothing came for %s", f.stall)) })
	defer watch.Stop()
	resp, err := f.client(got).Do(req)
	if err == nil {
		defer resp.Body.Close()
		got.read(resp.Header)
		err = f.keep(ctx, resp, got, func() { watch.Reset(f.stall) })
	}
	return causeOf(ctx, err)
}

// causeOf returns why a context ended, if it did, and otherwise err.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// keep writes the body of an answer behind what there is of a file, or in place of it. alive is called with each piece.
func (f *fetcher) keep(ctx context.Context, resp *http.Response, got *fetched, alive func()) error {
	total := resp.ContentLength
	switch resp.StatusCode {
	case http.StatusOK:
		got.bytes = 0
	case http.StatusPartialContent:
		var first int64
		if _, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-", &first); err != nil || first != got.bytes {
			return errors.Join(errChanged, got.keepTag(""))
		}
		total += got.bytes
	case http.StatusRequestedRangeNotSatisfiable:
		if resp.Header.Get("Content-Range") == fmt.Sprintf("bytes */%d", got.bytes) {
			return nil // it was whole
		}
		return errors.Join(errChanged, got.keepTag(""))
	default:
		return refusal(resp)
	}
	if total > maxDownload {
		return errTooLarge
	}
	if err := disk.CheckSpace(f.tags, total-got.bytes); err != nil {
		return err
	}
	begin := got.bytes
	return got.write(resp, total, &disk.Reader{Context: ctx, From: io.LimitReader(resp.Body, maxDownload-begin+1), Each: func(n int64) {
		alive()
		f.progress(Progress{Phase: "download", Done: begin + n, Total: total})
	}})
}

// write writes the body of an answer behind what there is of a file.
func (g *fetched) write(resp *http.Response, total int64, body io.Reader) error {
	out, err := os.OpenFile(g.path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := errors.Join(out.Truncate(g.bytes), g.keepTag(resp.Header.Get("ETag"))); err != nil {
		return err
	}
	if _, err := out.Seek(g.bytes, io.SeekStart); err != nil {
		return err
	}
	n, err := io.Copy(out, body)
	g.bytes += n
	switch {
	case err != nil:
		return err
	case g.bytes > maxDownload:
		return errors.Join(errTooLarge, g.keepTag(""))
	case total >= 0 && g.bytes < total:
		return io.ErrUnexpectedEOF
	}
	return out.Sync()
}

// kept counts what an earlier request has left of the file, and returns its ETag; nothing is left without one.
func (g *fetched) kept() (etag string) {
	g.bytes = 0
	tag, err := os.ReadFile(g.tag)
	if info, statErr := os.Stat(g.path); err == nil && statErr == nil && len(tag) > 0 {
		g.bytes = info.Size()
	}
	return string(tag)
}

// keepTag remembers the ETag of the file. Without a strong one, the file is not continued.
func (g *fetched) keepTag(etag string) error {
	if strings.HasPrefix(etag, "W/") {
		etag = ""
	}
	return os.WriteFile(g.tag, []byte(etag), 0o600)
}

// sha256Tag matches an ETag that is a SHA-256.
var sha256Tag = regexp.MustCompile(`^"?([0-9a-f]{64})"?$`)

// read reads what a server announces of a file. Hugging Face names the SHA-256 of a large file and the commit before it redirects
// to where the file is.
func (g *fetched) read(h http.Header) {
	if m := sha256Tag.FindStringSubmatch(h.Get("X-Linked-Etag")); m != nil {
		g.announced = m[1]
	}
	if commit := h.Get("X-Repo-Commit"); commit != "" {
		g.revision = commit
	}
}

// client returns a client that follows redirects, but none from https to http.
func (f *fetcher) client(got *fetched) *http.Client {
	return &http.Client{Transport: f.transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if req.Response != nil {
			got.read(req.Response.Header)
		}
		switch {
		case len(via) > maxRedirects:
			return fmt.Errorf("%w: more than %d redirects", errUnsafe, maxRedirects)
		case via[0].URL.Scheme == "https" && req.URL.Scheme != "https":
			return fmt.Errorf("%w: a redirect from https to %s", errUnsafe, req.URL.Scheme)
		}
		return nil
	}}
}

// refusedError is an answer that is not a file.
type refusedError struct {
	status int
	text   string
}

// Error returns what to do.
func (e *refusedError) Error() string { return e.text }

// refusal returns the error for an answer that is not a file.
func refusal(resp *http.Response) error {
	text := "the server answers " + resp.Status
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		return ErrNoFile
	case http.StatusUnauthorized, http.StatusForbidden:
		text += ": the model may not exist, or need an account there; download it yourself and add the folder"
	}
	return &refusedError{resp.StatusCode, text}
}

// shown returns an address without what may be secret.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the address"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
