package kioku

import (
	"slices"
	"strings"

	"kioku/internal/secrets"
	"kioku/memory"
)

// redaction puts references in the places of the secrets of a note or an update. A secret stays only if somebody asks for it twice: if
// the note keeps secrets, and this one was left out of a note before.
type redaction struct {
	m    *Memory
	keep bool
	// found are the secrets that were left out, and texts what they are.
	found []secrets.Found
	texts []string
}

// redaction returns a redaction. keep says that secrets which were left out before stay.
func (m *Memory) redaction(keep bool) *redaction { return &redaction{m: m, keep: keep} }

// redact returns a text without its secrets. Those that known contains stay.
func (r *redaction) redact(text, known string) string {
	return r.redactExcept(text, func(secret string) bool {
		return strings.Contains(known, secret) || r.keep && r.m.refusals().has(secret)
	})
}

// redactBehind is redact for a text behind another one, which may be the name of a secret that the text gives.
func (r *redaction) redactBehind(lead, text, known string) string {
	redacted := redaction{m: r.m, keep: r.keep}
	out, ok := strings.CutPrefix(redacted.redact(lead+text, known+"\n"+lead), lead)
	if !ok {
		return text // a secret goes over from one to the other
	}
	r.found, r.texts = append(r.found, redacted.found...), append(r.texts, redacted.texts...)
	return out
}

// redactAll returns a text without any secret.
func (r *redaction) redactAll(text string) string {
	return r.redactExcept(text, func(string) bool { return false })
}

func (r *redaction) redactExcept(text string, stays func(secret string) bool) string {
	redacted, found := secrets.RedactExcept(text, stays)
	for _, f := range found {
		r.texts = append(r.texts, text[f.Start:f.End])
	}
	r.found = append(r.found, found...)
	return redacted
}

// tell returns what is told of the secrets that were left out, each once. From then on they count as left out.
func (r *redaction) tell() []memory.ReplacedSecret {
	for _, secret := range r.texts {
		if err := r.m.refusals().add(secret); err != nil {
			r.m.log.Warn("a secret was left out, and cannot be kept if somebody asks for it again", "err", err)
		}
	}
	var out []memory.ReplacedSecret
	for _, f := range r.found {
		told := memory.ReplacedSecret{Kind: f.Kind, Reference: f.Reference}
		if !slices.Contains(out, told) {
			out = append(out, told)
		}
	}
	return out
}
