package modelhttp

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// versioned matches a path that says its API version, such as /v1, /api/v3 and /v1beta/openai.
var versioned = regexp.MustCompile(`/v[0-9]+[a-z0-9]*(/|$)`)

// ParseBase returns base as a URL without trailing slash. It refuses what no request can be sent to, with an error that
// names the setting.
func ParseBase(base, setting string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The address may hold a password: it is not quoted.
		return nil, fmt.Errorf("%s is not a URL such as http://localhost:1234/v1", setting)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	u.Fragment = ""
	return u, nil
}

// Endpoint returns where an OpenAI-compatible server with this base takes requests of a kind: "embeddings" or
// "chat/completions". A base may end with the kind, with a version, or before it.
func Endpoint(base *url.URL, kind string) string {
	u := *base
	switch {
	case strings.HasSuffix(u.Path, "/"+kind):
	case versioned.MatchString(u.Path):
		u.Path += "/" + kind
	default:
		u.Path += "/v1/" + kind
	}
	return u.String()
}
