package llm

import (
	"fmt"
	"net/http"
	"regexp"

	"kioku/internal/modelhttp"
)

// overflowing is what servers say of a prompt that is too long: OpenAI and vLLM, Anthropic, OpenRouter, llama.cpp, LM Studio
// and Ollama.
var overflowing = regexp.MustCompile(`(?i)context_length_exceeded|exceed_context_size|prompt is too long|maximum context length|` +
	`(exceeds?|overflows?|larger than|greater than|longer than)[^.]{0,60}context (window|length|size)|context (window|length|size)[^.]{0,40}(exceeded|overflow)|` +
	`context the overflows|input length and .?max_tokens.? exceed|input is too long|request_too_large|exceeds the maximum number of tokens`)

// refusal returns the error of an answer with a status that is no success. body is what came of it.
func (s *server) refusal(resp *http.Response, body []byte, texts []string) *Error {
	said := modelhttp.Quote(body, s.secrets, texts, textWindow)
	e := &Error{Kind: kindOf(resp.StatusCode, string(body))}
	e.RetryAfter = modelhttp.Pause(resp.Header, body, s.now())
	e.final = e.Kind != KindUnavailable && e.Kind != KindRateLimit || resp.StatusCode == http.StatusPaymentRequired ||
		e.Kind == KindRateLimit && modelhttp.OutOfCredit(string(body)) || resp.StatusCode == http.StatusNotImplemented
	e.Message = fmt.Sprintf("%s: %d: %s", s.name, resp.StatusCode, s.advice(resp.StatusCode, e))
	// A server that refuses a key likes to repeat parts of it.
	if said != "" && e.Kind != KindAuth {
		e.Message += fmt.Sprintf(" (%s)", modelhttp.Shorten(said, 300))
	}
	return e
}

// kindOf judges an answer by its status and by what the server said.
func kindOf(status int, said string) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return KindAuth
	case status == http.StatusRequestEntityTooLarge:
		return KindOverflow
	case status == http.StatusTooManyRequests, status == http.StatusPaymentRequired:
		return KindRateLimit
	case overflowing.MatchString(said):
		return KindOverflow
	case status == http.StatusBadRequest && modelhttp.BadKey(said):
		return KindAuth
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		return KindUnavailable
	}
	return KindInput
}

// advice says what a person can do.
func (s *server) advice(status int, e *Error) string {
	switch {
	case status == http.StatusForbidden:
		return "this key may not do that: check its permissions, or " + s.keyHint
	case e.Kind == KindAuth:
		return "check " + s.keyHint
	case e.Kind == KindOverflow:
		return "the prompt does not fit into the model's window"
	case e.Kind == KindRateLimit && e.final:
		return "the account has no credit left: check its billing"
	case e.Kind == KindRateLimit:
		return "too many requests"
	case e.Kind == KindUnavailable:
		return "the server has a problem"
	case status == http.StatusNotFound:
		return "no such endpoint or model: check llm.baseUrl and llm.model"
	}
	return "the server refuses the request"
}

// midway returns the error that a server reports within an answer it had begun. code is its own name for it, such as
// "overloaded_error", or a status in digits.
func (s *server) midway(code string, body []byte, texts []string, arrived string) *Error {
	said := modelhttp.Quote(body, s.secrets, texts, textWindow)
	kind := KindUnavailable
	switch {
	case overflowing.Match(body):
		kind = KindOverflow
	case code == "rate_limit_error", code == "rate_limit_exceeded", code == "429":
		kind = KindRateLimit
	case code == "authentication_error", code == "permission_error", code == "401", code == "403":
		kind = KindAuth
	case code == "invalid_request_error", code == "not_found_error", code == "400", code == "404":
		kind = KindInput
	}
	if kind == KindAuth {
		said = "check " + s.keyHint
	}
	return &Error{Kind: kind, Message: fmt.Sprintf("%s: the server stopped after %s: %s", s.name, arrived, modelhttp.Shorten(said, 300)),
		final: kind != KindUnavailable && kind != KindRateLimit, begun: true}
}
