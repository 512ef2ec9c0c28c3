package embed

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
)

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
