package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// checkHost refuses a request for a host that is not this server. A web site whose name is made to point to this machine
// would otherwise get at it with the rights of the browser's user. An address cannot be made to point elsewhere, and a browser
// has checked the name of a certificate.
func (s *Server) checkHost(r *http.Request, conn *connection) error {
	name := strings.ToLower(strings.TrimSuffix(hostname(r.Host), "."))
	switch {
	case conn.trusted, name == "localhost", strings.HasSuffix(name, ".localhost"):
		return nil
	case conn.secure != nil && name != "" && name == strings.ToLower(conn.secure.ServerName):
		return nil
	case slices.ContainsFunc(s.opt.Hosts, func(h string) bool { return strings.EqualFold(h, name) || strings.EqualFold(h, r.Host) }):
		return nil
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return nil
	}
	return status.Errorf(codes.PermissionDenied, "this service does not answer for the host %q; use its address or localhost, or add the host to the setting http.hosts", clip(r.Host, 100))
}

// hostname returns a host without its port and the brackets of an address.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// checkOrigin refuses a request that a browser makes for another web site: one with its origin and, because images, scripts and
// frames are asked for without one, any other that the browser says is not for a page of this server.
func (s *Server) checkOrigin(r *http.Request) error {
	origins := r.Header.Values("Origin")
	switch {
	case len(origins) == 0 && (isOwnFetch(r) || isLinkToPage(r)):
		return nil
	case len(origins) == 1 && s.ownOrigin(r, origins[0]):
		return nil
	}
	return status.Error(codes.PermissionDenied, "this service answers no requests of other web sites; add the origin of yours to the setting http.origins if it may use the service")
}

// isOwnFetch reports whether no browser says that a request is for another web site. Programs say nothing.
func isOwnFetch(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none"
}

// isLinkToPage reports whether a browser leaves another web site to show a page of this server, as links do. The other site sees
// nothing of it. What programs ask for is no page: it may cost money, and its duration tells something.
func isLinkToPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" && !forPrograms.MatchString(r.URL.Path)
}

// forPrograms matches the paths that show no pages.
var forPrograms = regexp.MustCompile(`^/(v1|mcp|metrics|debug)(/|$)`)

// ownOrigin reports whether an origin is that of the server's own pages, or a trusted one.
func (s *Server) ownOrigin(r *http.Request, origin string) bool {
	if slices.ContainsFunc(s.opt.Origins, func(o string) bool { return strings.EqualFold(o, origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// CheckOrigin returns an error for a text that is not the origin of a web site.
func CheckOrigin(origin string) error {
	if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != origin {
		return fmt.Errorf("%q is no origin; write one as https://example.org or http://localhost:3000", origin)
	}
	return nil
}
