package modelhttp

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// versioned matches a path with an API version, such as /v1, /api/v3 and /v1beta/openai.
var versioned = regexp.MustCompile(`/v[0-9]+[a-z0-9]*(/|$)`)

// ParseBase returns base as a URL without trailing slash. For a base that no request can be sent to it returns an error that
// names the setting and does not quote the base.
func ParseBase(base, setting string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%s is not a URL such as http://localhost:1234/v1", setting)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	u.Fragment = ""
	return u, nil
}

// Endpoint returns the URL for requests of a kind, "embeddings" or "chat/completions", at an OpenAI-compatible server. The
// base may end with the kind, with a version, or before the version.
func Endpoint(base *url.URL, kind string) string { return VersionedEndpoint(base, "v1", kind) }

// VersionedEndpoint is Endpoint for a server whose version, unless the base has one, is another than v1.
func VersionedEndpoint(base *url.URL, version, kind string) string {
	u := *base
	switch {
	case strings.HasSuffix(u.Path, "/"+kind):
	case versioned.MatchString(u.Path):
		u.Path += "/" + kind
	default:
		u.Path += "/" + version + "/" + kind
	}
	return u.String()
}

// Canonical returns the same text for all ways to write one base URL; ends are what its path may end with and is the same without, the
// longest first. User and query are not part of it: they often contain a key.
func Canonical(base *url.URL, ends []string) string {
	host := strings.ToLower(base.Host)
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if base.Scheme == scheme {
			host = strings.TrimSuffix(host, port)
		}
	}
	return base.Scheme + "://" + host + TrimEnds(base.Path, ends)
}

// TrimEnds returns the path of a base URL without what it may end with.
func TrimEnds(path string, ends []string) string {
	for _, end := range ends {
		path = strings.TrimRight(strings.TrimSuffix(path, end), "/")
	}
	return path
}
