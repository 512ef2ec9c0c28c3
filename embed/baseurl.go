package embed

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// versioned matches a path that says its API version, such as /v1, /api/v3 and /v1beta/openai.
var versioned = regexp.MustCompile(`/v[0-9]+[a-z0-9]*(/|$)`)

// parseBase returns base as a URL without trailing slash, and refuses what no request can be sent to.
func parseBase(base string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The address may hold a password: it is not quoted.
		return nil, errors.New("remote.baseUrl is not a URL such as http://localhost:1234/v1")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	u.Fragment = ""
	return u, nil
}

// embeddingsURL returns where an OpenAI-compatible server with this base takes embedding requests.
func embeddingsURL(base *url.URL) string {
	u := *base
	switch {
	case strings.HasSuffix(u.Path, "/embeddings"):
	case versioned.MatchString(u.Path):
		u.Path += "/embeddings"
	default:
		u.Path += "/v1/embeddings"
	}
	return u.String()
}

// canonical returns the same text for all ways to write one base URL. User and query are no part of it: they
// often hold a key, and a new key does not make new vectors.
func canonical(base *url.URL) string {
	host := strings.ToLower(base.Host)
	for scheme, port := range map[string]string{"http": ":80", "https": ":443"} {
		if base.Scheme == scheme {
			host = strings.TrimSuffix(host, port)
		}
	}
	path := strings.TrimSuffix(base.Path, "/embeddings")
	path = strings.TrimRight(strings.TrimSuffix(path, "/v1"), "/")
	return base.Scheme + "://" + host + path
}

// fingerprint identifies the server behind base; it is empty if base is the provider's own address.
func fingerprint(base *url.URL, own string) string {
	name := canonical(base)
	if name == own {
		return ""
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:6])
}
