package config

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// secretSetting is a setting that may be a reference to a secret.
type secretSetting struct {
	// written is the value before the reference is resolved, and at the secret.
	key, written string
	at           *string
}

// hidden is shown instead of a secret.
const hidden = "(hidden)"

// maxSecretBytes is how much is read of a file with a secret.
const maxSecretBytes = 64 << 10

// reference makes the path of a file:PATH absolute.
func (r *registry) reference(value string) string {
	if path, ok := strings.CutPrefix(value, "file:"); ok {
		return "file:" + r.abs(path)
	}
	return value
}

// shown returns what may be shown of a secret: a reference, but never the value.
func shown(value string) string {
	if value == "" || strings.HasPrefix(value, "env:") || strings.HasPrefix(value, "file:") {
		return value
	}
	return hidden
}

// reveal returns the secret: the variable of env:NAME, the trimmed content of file:PATH, else the value itself.
func reveal(value string, env map[string]string) (string, error) {
	if name, ok := strings.CutPrefix(value, "env:"); ok {
		if env[name] == "" {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		return env[name], nil
	}
	path, ok := strings.CutPrefix(value, "file:")
	if !ok {
		return value, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSecretBytes))
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	if secret := strings.TrimSpace(string(text)); secret != "" {
		return secret, nil
	}
	return "", fmt.Errorf("the file %s is empty", path)
}

// revealHeaders returns headers with their secrets in the clear; nil for none.
func (l *loader) revealHeaders(key string, written map[string]string) map[string]string {
	var clear map[string]string
	for name, value := range written {
		text, err := reveal(value, l.env)
		if err != nil {
			l.fail(l.conf.origins[key].where, key+"."+name, err)
			continue
		}
		if clear == nil {
			clear = map[string]string{}
		}
		clear[http.CanonicalHeaderKey(name)] = text
	}
	return clear
}

// HidesSecret reports whether Text hides a secret that the setting has in the clear instead of a reference.
func (v Value) HidesSecret() bool { return strings.Contains(v.Text, hidden) }
