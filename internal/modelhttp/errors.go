package modelhttp

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"kioku/internal/text"
)

// Class says what can be done about a failure.
type Class int

const (
	// Unavailable means that the same request may succeed later. It is the zero value and the class of network trouble.
	Unavailable Class = iota
	// RateLimited means that the same request succeeds after a pause.
	RateLimited
	// Rejected means that the provider does not take this request; others may pass.
	Rejected
	// Overflow means that the request is too long for the model; shorter ones may pass.
	Overflow
	// Malformed means that the answer makes no sense; to ask again at once only costs.
	Malformed
	// Auth means that the key is missing, wrong or not permitted.
	Auth
	// NoCredit means that the account has no money left.
	NoCredit
	// Misconfigured means that the address or the model is wrong.
	Misconfigured
)

// Transient reports whether the same request may succeed later.
func (c Class) Transient() bool { return c == Unavailable || c == RateLimited }

// Refusal reports whether another request may succeed now.
func (c Class) Refusal() bool { return c == Rejected || c == Overflow }

// Terminal reports whether nothing succeeds until a person has acted.
func (c Class) Terminal() bool { return c == Auth || c == NoCredit || c == Misconfigured }

// Error is the failure of one request. It never shows a key, an address or a text of the request.
type Error struct {
	// Class is the kind of failure, which decides whether to retry.
	Class Class
	// Message says what failed, for people.
	Message string
	// Status is the HTTP status of the answer; 0 if there was none.
	Status int
	// RetryAfter is how long the server wants to be left alone, at most an hour; 0 if it did not say.
	RetryAfter time.Duration
	// Tokens is what a server said of a request that is too long; zero for other failures.
	Tokens TokenCount
	// Begun is set if the provider had begun to answer, which it charges for.
	Begun bool
	// Err is the cause, for errors.Is.
	Err error
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// minRateLimitPause is the pause after too many requests if the server names none.
const minRateLimitPause = 2 * time.Second

// Pause returns how long to wait at least before the next request.
func (e *Error) Pause() time.Duration {
	if e.Class == RateLimited && e.RetryAfter == 0 {
		return minRateLimitPause
	}
	return e.RetryAfter
}

// ClassOf returns the class of the *Error in err, and Unavailable if there is none.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return Unavailable
}

// Errorf returns an error of a class with the message of fmt.Errorf.
func Errorf(class Class, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Class: class, Message: err.Error(), Err: err}
}

// errorf returns an error of c's provider.
func (c *Client) errorf(class Class, format string, args ...any) *Error {
	return Errorf(class, c.cfg.Provider+": "+format, args...)
}

// Lost describes a connection that failed. arrived says how much of the answer had come; empty means that none of it had.
func (c *Client) Lost(err error, arrived string) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // without the URL, which may contain a key
	}
	var e *Error
	switch {
	case arrived != "":
		e = c.errorf(Unavailable, "the answer broke off after %s: %w", arrived, err)
	case errors.Is(err, ErrOffline):
		e = c.errorf(Misconfigured, "%w", err)
	case errors.Is(err, errSilence) && c.cfg.Silence == 0:
		e = c.errorf(Unavailable, "the answer stopped for %s before its end: check that the server answers", c.cfg.Idle)
	case errors.Is(err, errSilence):
		e = c.errorf(Unavailable, "no answer within %s: check that the server answers, or set %s", c.cfg.Silence, c.cfg.TimeoutSetting)
	default:
		e = c.errorf(Unavailable, "%w: check the network and that the server runs", err)
	}
	e.Err, e.Begun = err, arrived != ""
	return e
}

// Refused describes a response that is not a success. body is what came of it.
func (c *Client) Refused(resp *http.Response, body []byte, texts []string) *Error {
	said := quote(body, c.secrets, texts, c.cfg.TextWindow)
	class := classify(resp.StatusCode, said)
	e := c.errorf(class, "%d: %s", resp.StatusCode, c.advice(resp, class, texts))
	e.Status = resp.StatusCode
	if class.Transient() {
		e.RetryAfter = retryAfter(resp.Header, body, c.cfg.Now())
	}
	if class == RateLimited && dailyQuota.Match(body) {
		e.RetryAfter = maxRetryAfter
	}
	if class == Overflow {
		e.Tokens = countTokens(said, body)
	}
	if said != "" && class != Auth { // a server that refuses a key likes to repeat parts of it
		e.Message += fmt.Sprintf(" (%s)", text.Shorten(said, maxSaid))
	}
	return e
}

// maxSaid bounds in characters what an error message quotes.
const maxSaid = 300

// Quote returns what a server said, for an error message.
func (c *Client) Quote(body []byte, texts []string) string {
	return text.Shorten(quote(body, c.secrets, texts, c.cfg.TextWindow), maxSaid)
}

// Interrupted describes an error that a server reports within an answer that it had begun. code is its own name for the
// error, such as "overloaded_error", or a status in digits.
func (c *Client) Interrupted(code string, body []byte, texts []string, arrived string) *Error {
	class, said := Unavailable, c.Quote(body, texts)
	switch code {
	case "rate_limit_error", "rate_limit_exceeded", "429":
		class = RateLimited
	case "authentication_error", "permission_error", "401", "403":
		class, said = Auth, "check "+c.cfg.KeyHint
	case "invalid_request_error", "not_found_error", "400", "404":
		class = Rejected
	}
	if class != RateLimited && class != Auth && overflowing.MatchString(said) {
		class = Overflow
	}
	e := c.errorf(class, "the server stopped after %s: %s", arrived, said)
	e.Begun = true
	if class == Overflow {
		e.Tokens = countTokens(said, body)
	}
	return e
}

// What servers say besides the status. Gemini also says "exceeded your current quota" of a limit a minute, so this
// sentence is not evidence of an empty account.
var (
	outOfCredit = regexp.MustCompile(`(?i)insufficient_(user_)?quota|insufficient balance|billing_hard_limit|billing_not_active|account_deactivated|arrearage`)
	// dailyQuota is how Google names a quota of a day, beside a RetryInfo of some seconds.
	dailyQuota = regexp.MustCompile(`"quotaId"\s*:\s*"[^"]*PerDay`)
	// noNumber is how Ollama fails, with 500, on a text of which its model makes NaN.
	noNumber = regexp.MustCompile(`unsupported value: (NaN|[+-]?Inf)`)
	badKey   = regexp.MustCompile(`(?i)invalid_api_key|api_key_invalid|(incorrect|invalid) api.?key|api key not valid`)
)

// classify returns the class of a status. said is what the server said, without texts of the request.
func classify(status int, said string) Class {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return Auth
	case status == http.StatusPaymentRequired:
		return NoCredit
	case status == http.StatusTooManyRequests && outOfCredit.MatchString(said):
		return NoCredit
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == http.StatusRequestEntityTooLarge, overflowing.MatchString(said):
		return Overflow
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		if badKey.MatchString(said) {
			return Auth
		}
		if outOfCredit.MatchString(said) {
			return NoCredit
		}
		return Rejected
	case noNumber.MatchString(said):
		return Rejected
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status >= 500 && status != http.StatusNotImplemented:
		return Unavailable
	}
	return Misconfigured
}

// advice says what a person can do.
func (c *Client) advice(resp *http.Response, class Class, texts []string) string {
	cfg := c.cfg
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return "the server redirects" + c.redirectTarget(resp, texts) + ": set " + cfg.BaseURLSetting + " to the final address"
	case resp.StatusCode == http.StatusForbidden:
		return "this key may not do that: check its permissions, or " + cfg.KeyHint
	case resp.StatusCode == http.StatusNotFound:
		return "no such endpoint or model: check " + cfg.BaseURLSetting + " and " + cfg.ModelSetting
	}
	switch class {
	case Auth:
		return "check " + cfg.KeyHint
	case NoCredit:
		return "the account has no credit left: check its billing"
	case RateLimited:
		return "too many requests"
	case Overflow:
		return "it does not fit into the model's window"
	case Misconfigured:
		return "check " + cfg.KeyHint + ", " + cfg.BaseURLSetting + " and " + cfg.ModelSetting
	case Unavailable:
		return "the server has a problem"
	}
	return "the server refuses the request"
}

// redirectTarget names the host that a redirect points to, because the rest of the address may contain a key.
func (c *Client) redirectTarget(resp *http.Response, texts []string) string {
	u, err := resp.Location()
	if err != nil {
		return ""
	}
	return " to " + c.Quote([]byte(u.Scheme+"://"+u.Host), texts)
}
