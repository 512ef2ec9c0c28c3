package config

import (
	"net/http"
)

// observing registers the settings of what a daemon records of itself.
func (r *registry) observing(c *Config) {
	r.group = "Audit log and traces of the daemon"
	r.path(&c.Audit.File, "audit.file", "File of the audit log, a line of JSON for each call: who read or wrote which agent, without any text of notes; unset keeps none. See observability.md.")
	number(r, &c.Audit.MaxBytes, 0, 1<<40, "audit.maxBytes", "Size above which the audit log is renamed to FILE.1 and a new one begun, of which the newest 5 are kept; 0 means never.")
	r.toggle(&c.Audit.Required, "audit.required", "Refuse calls while they cannot be recorded in the audit log.")
	r.text(&c.Tracing.Endpoint, "tracing.endpoint", "URL of an OpenTelemetry collector that takes traces by OTLP over HTTP, such as http://localhost:4318; unset sends none.")
	r.decimal(&c.Tracing.Sample, 1, "tracing.sample", "Share of the traces that are sent, 0 to 1, unless the caller of a call has decided.")
	r.secretMap(c.traceHeaders, "tracing.headers", "Headers sent to the collector; values may be env:NAME or file:PATH.")
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
