package httpapi_test

import (
	"net/http"
	"testing"

	"kioku/server/httpapi"
)

// Servers on two ports of a host have cookies of their own.
func TestNameHasThePort(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{"127.0.0.1:7600": "kioku_token_7600", "[::1]:7601": "kioku_token_7601", "kioku.example": "kioku_token", "": "kioku_token"} {
		if got := httpapi.TokenCookie(&http.Request{Host: host}); got != want {
			t.Errorf("%q: %s, want %s", host, got, want)
		}
	}
}
