package modelhttp

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// longestWait bounds the pause a server may ask for.
const longestWait = time.Hour

// What services say besides the status when money or the key is the trouble. Gemini says "exceeded your current
// quota" of a limit a minute too, so that this sentence proves nothing.
var (
	outOfCredit = regexp.MustCompile(`(?i)insufficient_(user_)?quota|insufficient balance|billing_hard_limit|billing_not_active|account_deactivated|arrearage`)
	badKey      = regexp.MustCompile(`(?i)invalid_api_key|api_key_invalid|(incorrect|invalid) api.?key|api key not valid`)
)

// OutOfCredit reports whether a server said that there is no money left, which no pause helps against.
func OutOfCredit(said string) bool { return outOfCredit.MatchString(said) }

// BadKey reports whether a server said that the key is wrong.
func BadKey(said string) bool { return badKey.MatchString(said) }

// Target names the host a redirect points to; the rest of the address may hold a key.
func Target(resp *http.Response) string {
	u, err := resp.Location()
	if err != nil {
		return ""
	}
	return " to " + u.Scheme + "://" + u.Host
}

// retryDelay is Google's way to ask for a pause, a RetryInfo in the body.
var retryDelay = regexp.MustCompile(`"retryDelay"\s*:\s*"([0-9.]+)s"`)

// Pause returns how long a server wants to be left alone, 0 if it does not say: Retry-After in seconds or as
// a date, retry-after-ms, or RetryInfo. The answer is never more than an hour.
func Pause(h http.Header, body []byte, now time.Time) time.Duration {
	if d := seconds(h.Get("Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	after := h.Get("Retry-After")
	if d := seconds(after, time.Second); d > 0 {
		return d
	}
	if at, err := http.ParseTime(after); err == nil {
		return min(max(at.Sub(now), 0), longestWait)
	}
	if m := retryDelay.FindSubmatch(body); m != nil {
		return seconds(string(m[1]), time.Second)
	}
	return 0
}

// seconds returns number times unit, 0 if it is no positive number.
func seconds(number string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(longestWait)))
}
