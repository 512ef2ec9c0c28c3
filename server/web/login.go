package web

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"kioku/server/httpapi"
)

const (
	// loginAge is how long a browser keeps a valid token, and tryAge how long one that nobody has checked yet.
	loginAge = 30 * 24 * time.Hour
	tryAge   = time.Minute
)

// login is what the login page shows.
type login struct {
	// Next is the address on this page that the login leads to.
	Next string
	// Wrong is true if the token that was given is not valid.
	Wrong bool
}

// serveLogin shows the login; or, after a token was given (parameter check), goes on and keeps the token if it is valid, and forgets it if not.
func (s *site) serveLogin(w http.ResponseWriter, r *http.Request) {
	next := ownAddress(r.URL.Query().Get("next"))
	_, err := s.agents(r.Context())
	code, _ := codeOf(err)
	switch {
	case err == nil:
		if token := tokenOf(r); token != "" {
			http.SetCookie(w, tokenCookieOf(r, token, int(loginAge.Seconds())))
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	case code != "UNAUTHENTICATED":
		s.fail(w, r, err)
	default:
		data := login{Next: next, Wrong: r.URL.Query().Has("check")}
		if data.Wrong {
			http.SetCookie(w, tokenCookieOf(r, "", -1))
		}
		s.render(w, http.StatusUnauthorized, page{View: view{Name: "login", Title: "Log in"}, Version: s.version, Data: data})
	}
}

// takeToken keeps the token of a form for a moment in a cookie that scripts cannot read and other sites cannot use. The next request, which
// carries it, tells whether it is valid and may stay.
func (s *site) takeToken(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 16<<10)
	token := strings.TrimSpace(r.PostFormValue("token"))
	age := int(tryAge.Seconds())
	if token == "" || strings.ContainsFunc(token, notInCookie) {
		token, age = "", -1 // no token of the service has such characters
	}
	http.SetCookie(w, tokenCookieOf(r, token, age))
	http.Redirect(w, r, link("/login", "check", "1", "next", ownAddress(r.PostFormValue("next"))), http.StatusSeeOther)
}

// logout forgets the token.
func (s *site) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, tokenCookieOf(r, "", -1))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// tokenCookieOf returns the cookie with a token for the client of a request; a negative age deletes it.
func tokenCookieOf(r *http.Request, token string, age int) *http.Cookie {
	return &http.Cookie{Name: httpapi.TokenCookie(r), Value: token, Path: "/", MaxAge: age, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode}
}

// notInCookie reports whether a cookie cannot contain a character.
func notInCookie(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`",;\`, r) }

// ownAddress returns an address of this page, "/" for one that leads anywhere else.
func ownAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(address, "/") ||
		strings.HasPrefix(address, "//") || strings.ContainsAny(address, "\\\r\n\t") || strings.HasPrefix(u.Path, "/login") {
		return "/"
	}
	return address
}
