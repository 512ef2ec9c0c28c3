package engine

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
)

// Load is how busy a council is.
type Load struct {
	// Open are the tasks that have not ended, with those in the inbox. Waiting are those of them that wait for a person, and Stalled
	// those of them about which the council cannot agree.
	Open    int `json:"open"`
	Waiting int `json:"waiting"`
	Stalled int `json:"stalled"`
	// Absent are the members who are paused, or had no ballot in the round that was sealed last; sorted.
	Absent []string `json:"absent"`
	// Today is what the day has cost, Limit how many tokens it may; both are zero if nobody asks the members here.
	Today council.Usage `json:"today"`
	Limit int           `json:"limit"` // in tokens
}

// Load counts what is open.
func (e *Engine) Load(context.Context) (Load, error) {
	var l Load
	waiting, err := e.f.Names(folder.Inbox)
	if err != nil {
		return l, err
	}
	tasks, err := e.tasks()
	if err != nil {
		return l, err
	}
	for _, name := range waiting {
		if strings.HasSuffix(name, ".json") {
			l.Open++
		}
	}
	w := e.lockedWorld()
	absent := map[string]bool{}
	for name := range w.Paused {
		absent[name] = true
	}
	var newest time.Time
	var last map[string]string
	for _, s := range tasks {
		pos := flow.Where(s, w)
		if !flow.Final(pos.Status) {
			l.Open++
		}
		if pos.NeedsOwner != "" {
			l.Waiting++
		}
		if pos.Status == council.StatusStalled {
			l.Stalled++
		}
		for _, a := range s.Rounds {
			if a.Seal != nil && a.Seal.SealedAt.After(newest) {
				newest, last = a.Seal.SealedAt, a.Seal.Abstentions
			}
		}
	}
	for name := range last {
		absent[name] = true
	}
	l.Absent = slices.Sorted(maps.Keys(absent))
	if spender, ok := e.opt.Ask.(interface{ Today() (council.Usage, bool) }); ok {
		if today, known := spender.Today(); known {
			l.Today, l.Limit = today, e.set.MaxTokensPerDay
		}
	}
	return l, nil
}
