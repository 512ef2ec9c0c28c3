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

// errChanged reports that the file at the server is not the one of which a part was kept.
var errChanged = errors.New("the file at the server has changed")

// fetcher downloads files into a folder, and goes on with what an earlier run has left there.
type fetcher struct {
	transport http.RoundTripper
	dir       string
	progress  func(Progress)
	// pause waits between two tries.
	pause func(context.Context, time.Duration) error
	// stall is how long it waits for the next bytes.
	stall time.Duration
}

// fetched is a downloaded file.
type fetched struct {
	path, sha256 string
	// announced is the SHA-256 that the server has announced, empty if none; revision is the commit that it has named.
	announced, revision string
}

// file downloads a file and returns where it is. want is its SHA-256, or empty. If the server announces one, that is checked too. A
// download that breaks off is continued, by this call or by a later one.
func (f *fetcher) file(ctx context.Context, address, want string) (fetched, error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fetched{}, fmt.Errorf("make the folder of downloads: %w", err)
	}
	part := filepath.Join(f.dir, fmt.Sprintf("%.16x.part", sha256.Sum256([]byte(address))))
	var got fetched
	for try, reached := 1, int64(0); ; try++ {
		size, err := f.continueFile(ctx, address, part, &got)
		if err == nil {
			break
		}
		if size > reached {
			try, reached = 1, size
		}
		if ctx.Err() != nil || !mayRetry(err) || try >= maxTries {
			return fetched{}, fmt.Errorf("download %s: %w", shown(address), errors.Join(context.Cause(ctx), err))
		}
		if err := f.pause(ctx, time.Second<<try); err != nil {
			return fetched{}, err
		}
	}
	return f.check(ctx, address, part, want, got)
}

// check compares a downloaded file with the checksums that are known of it.
func (f *fetcher) check(ctx context.Context, address, part, want string, got fetched) (fetched, error) {
	sum, err := hashFile(ctx, part)
	if err != nil {
		return fetched{}, err
	}
	for _, known := range []string{want, got.announced} {
		if known != "" && known != sum {
			err := fmt.Errorf("%s has the SHA-256 %s, and should have %s; nothing was added: somebody has changed it, or it was damaged on "+
				"the way. Try again, or add a folder that you trust", shown(address), sum, known)
			return fetched{}, errors.Join(err, os.Remove(part), os.Remove(part+".etag"))
		}
	}
	got.path, got.sha256 = part, sum
	return got, nil
}

// mayRetry reports whether another try may succeed.
func mayRetry(err error) bool {
	var refused *refusedError
	if errors.As(err, &refused) {
		return refused.status == http.StatusTooManyRequests || refused.status >= 500
	}
	for _, final := range []error{ErrNoFile, ErrNoSpace, modelhttp.ErrOffline, errUnsafe, errTooLarge} {
		if errors.Is(err, final) {
			return false
		}
	}
	var ofDisk *fs.PathError
	return !errors.As(err, &ofDisk)
}

// continueFile makes one request for what is missing of a file, and returns how much of it there is then.
func (f *fetcher) continueFile(ctx context.Context, address, part string, got *fetched) (size int64, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	have, etag := keptPart(part)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return have, err
	}
	req.Header.Set("User-Agent", "kioku")
	req.Header.Set("Accept-Encoding", "identity") // lengths and ranges are those of the file
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
		req.Header.Set("If-Range", etag)
	}
	watch := time.AfterFunc(f.stall, func() { stop(fmt.Errorf("nothing came for %s", f.stall)) })
	defer watch.Stop()
	resp, err := f.client(got).Do(req)
	if err != nil {
		return have, causeOf(ctx, err)
	}
	defer resp.Body.Close()
	got.read(resp.Header)
	body := &stallReader{r: resp.Body, timer: watch, wait: f.stall}
	size, err = f.keep(resp, body, part, have)
	return size, causeOf(ctx, err)
}

// causeOf returns why a context ended, if it did, and otherwise err.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// keep writes the body of an answer behind what there is of a file, or in place of it.
func (f *fetcher) keep(resp *http.Response, body io.Reader, part string, have int64) (int64, error) {
	total := resp.ContentLength
	switch resp.StatusCode {
	case http.StatusOK:
		have = 0
	case http.StatusPartialContent:
		var first int64
		if _, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-", &first); err != nil || first != have {
			return have, errors.Join(errChanged, dropPart(part))
		}
		total += have
	case http.StatusRequestedRangeNotSatisfiable:
		if resp.Header.Get("Content-Range") == fmt.Sprintf("bytes */%d", have) {
			return have, nil // it was whole
		}
		return 0, errors.Join(errChanged, dropPart(part))
	default:
		return have, refusal(resp)
	}
	if total > maxDownload {
		return have, errTooLarge
	}
	if err := checkSpace(f.dir, total-have); err != nil {
		return have, err
	}
	return f.write(resp, body, part, have, total)
}

// write writes the body of an answer behind the first have bytes of a file.
func (f *fetcher) write(resp *http.Response, body io.Reader, part string, have, total int64) (int64, error) {
	if have == 0 { // not emptied: a process that was killed may have left it as a second name of an installed file
		if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	out, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return have, err
	}
	defer out.Close()
	if err := errors.Join(out.Truncate(have), keepTag(part, resp.Header.Get("ETag"))); err != nil {
		return have, err
	}
	if _, err := out.Seek(have, io.SeekStart); err != nil {
		return have, err
	}
	counted := &countingReader{r: io.LimitReader(body, maxDownload-have+1), tell: func(n int64) {
		f.progress(Progress{Phase: "download", Done: have + n, Total: total})
	}}
	n, err := io.Copy(out, counted)
	size := have + n
	switch {
	case err != nil:
		return size, err
	case size > maxDownload:
		return size, errors.Join(errTooLarge, dropPart(part))
	case total >= 0 && size < total:
		return size, io.ErrUnexpectedEOF
	}
	return size, out.Sync()
}

// keptPart returns the size and the ETag of a part that an earlier request has left, 0 if there is none to go on with.
func keptPart(part string) (size int64, etag string) {
	tag, err := os.ReadFile(part + ".etag")
	if err != nil || len(tag) == 0 {
		return 0, ""
	}
	info, err := os.Stat(part)
	if err != nil {
		return 0, ""
	}
	return info.Size(), string(tag)
}

// keepTag remembers the ETag of a part. Without a strong one, a part is not continued.
func keepTag(part, etag string) error {
	if strings.HasPrefix(etag, "W/") {
		etag = ""
	}
	return os.WriteFile(part+".etag", []byte(etag), 0o600)
}

// dropPart forgets a part.
func dropPart(part string) error { return os.WriteFile(part+".etag", nil, 0o600) }

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

// countingReader tells how much was read.
type countingReader struct {
	r    io.Reader
	n    int64
	tell func(n int64)
}

// Read implements io.Reader.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.tell(c.n)
	return n, err
}

// stallReader resets a timer with each byte that comes.
type stallReader struct {
	r     io.Reader
	timer *time.Timer
	wait  time.Duration
}

// Read implements io.Reader.
func (s *stallReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if n > 0 {
		s.timer.Reset(s.wait)
	}
	return n, err
}
