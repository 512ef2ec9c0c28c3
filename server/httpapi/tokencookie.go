package httpapi

import (
	"net"
	"net/http"
)

// TokenCookie returns the name of the cookie that can carry a token in a request to the address that the request names, instead of the header
// Authorization. Browsers send the cookies of a host to all its ports, so the name has the port: servers on two ports of a machine do not
// log each other out, nor take the token of the other one for a wrong one.
func TokenCookie(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil || port == "" {
		return "kioku_token"
	}
	return "kioku_token_" + port
}
