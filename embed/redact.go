package embed

import (
	"cmp"
	"net"
	"net/url"

	"kioku/internal/secrets"
)

// isElsewhere reports whether a base URL names another machine than this one. One that cannot be read does.
func isElsewhere(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}

// redacts reports whether references take the places of secrets in the texts that are sent: to other machines, unless the secrets are to be
// sent.
func (cfg Config) redacts() bool {
	s, remote := services[cfg.Provider]
	return remote && !cfg.SendSecrets && isElsewhere(cmp.Or(cfg.BaseURL, s.base))
}

// redactAll returns texts with references in the places of their secrets, and the number of the secrets.
func redactAll(texts []string) ([]string, int) {
	out := make([]string, len(texts))
	count := 0
	for i, s := range texts {
		redacted, found := secrets.Redact(s)
		out[i] = redacted
		count += len(found)
	}
	return out, count
}
