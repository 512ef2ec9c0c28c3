package note

import (
	"slices"
	"strings"

	"kioku/internal/secrets"
	"kioku/memory"
)

// redaction puts references in the places of the secrets of a note or an update, unless the caller says that secrets stay.
type redaction struct {
	keep bool
	// found are the secrets that were left out.
	found []secrets.Found
}

// redact returns a text without its secrets, but for those that known contains.
func (r *redaction) redact(text, known string) string {
	return r.redactExcept(text, func(secret string) bool { return r.keep || strings.Contains(known, secret) })
}

// redactBehind is redact for a text behind another one, which may be the name of a secret that the text gives.
func (r *redaction) redactBehind(lead, text, known string) string {
	behind := redaction{keep: r.keep}
	out, ok := strings.CutPrefix(behind.redact(lead+text, known+"\n"+lead), lead)
	if !ok {
		return text // a secret goes over from one to the other
	}
	r.found = append(r.found, behind.found...)
	return out
}

// Redacted returns a note without its secrets, as Append writes it, and what was replaced.
func Redacted(n memory.Note) (memory.Note, []memory.ReplacedSecret) {
	r := redaction{keep: n.KeepSecrets}
	n.Text, n.Category = r.redact(n.Text, ""), r.redact(n.Category, "")
	return n, r.replaced()
}

// redactAll returns a text without any secret.
func (r *redaction) redactAll(text string) string {
	return r.redactExcept(text, func(string) bool { return false })
}

func (r *redaction) redactExcept(text string, stays func(secret string) bool) string {
	redacted, found := secrets.RedactExcept(text, stays)
	r.found = append(r.found, found...)
	return redacted
}

// replaced returns the secrets that were left out, each once.
func (r *redaction) replaced() []memory.ReplacedSecret {
	var out []memory.ReplacedSecret
	for _, f := range r.found {
		told := memory.ReplacedSecret{Kind: f.Kind, Reference: f.Reference}
		if !slices.Contains(out, told) {
			out = append(out, told)
		}
	}
	return out
}
