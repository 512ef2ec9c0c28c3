package config

import (
	"time"

	"kioku"
	"kioku/history"
)

// defaultHistory returns the settings of a run that nobody configured.
func defaultHistory() kioku.HistoryOptions {
	return kioku.HistoryOptions{MaxBytes: history.DefaultJournalBytes, MaxAge: 400 * 24 * time.Hour}
}

// history registers the settings of the journal.
func (r *registry) history(c *Config) {
	r.group = "History of notes"
	h := &c.History
	r.toggle(&h.Journal, "history.journal", "Keep the versions of the notes in the state folder, for kioku log, show, diff and search --as-of in a folder that is in no repository of git. The program git keeps them. Passwords and keys of known shapes are left out.")
	number(r, &h.MaxBytes, 1<<20, 1<<40, "history.maxBytes", "Size of the journal in bytes above which its oldest versions are removed.")
	r.duration(&h.MaxAge, 24*time.Hour, 0, 36_500, "history.maxDays", "Days after which a version that another one has followed is removed from the journal; 0 keeps all.")
}
