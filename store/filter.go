package store

import (
	"strings"

	"kioku/memory"
)

// selectAllowed selects the ids of the chunks that a filter allows; FilterArgs returns its arguments. Chunks without a date
// are allowed only if the filter has no dates.
const selectAllowed = `SELECT c.id FROM chunks c JOIN files f ON f.id = c.file
	WHERE (?1 = '' OR instr(?1, ',' || f.source || ',') > 0)
	AND substr(f.path, 1, length(?2)) = ?2
	AND (?3 = '' OR c.date >= ?3) AND (?4 = '' OR c.date <> '' AND c.date <= ?4)
	AND ` + MeetsConditions

// FilterArgs returns the arguments of selectAllowed, ?1 to ?5.
func FilterArgs(f memory.Filter) []any {
	sources := ""
	if len(f.Sources) > 0 {
		sources = "," + strings.Join(f.Sources, ",") + ","
	}
	return []any{sources, f.PathPrefix, f.Since, f.Until, conditionsJSON(f.Where)}
}

// selectNewest selects the chunks that a filter allows, latest dates first, by the index chunks_date. Both bounds are always
// set: with an OR for "no bound", SQLite would not use the index.
const selectNewest = `SELECT c.id FROM chunks c JOIN files f ON f.id = c.file
	WHERE (?1 = '' OR instr(?1, ',' || f.source || ',') > 0)
	AND substr(f.path, 1, length(?2)) = ?2
	AND c.date BETWEEN ?3 AND ?4
	AND ` + MeetsConditions + `
	ORDER BY c.date DESC, c.file DESC, c.id DESC LIMIT ?6`

// newestArgs returns the arguments of selectNewest except the limit.
func newestArgs(f memory.Filter) []any {
	args := FilterArgs(f)
	if f.Since == "" && f.Until != "" {
		args[2] = "0" // excludes chunks without a date: '' sorts before, and every day after
	}
	if f.Until == "" {
		args[3] = "9999-12-31"
	}
	return args
}

// Restricts reports whether a filter may exclude anything.
func Restricts(f memory.Filter) bool {
	return len(f.Sources) > 0 || f.PathPrefix != "" || f.Since != "" || f.Until != "" || len(f.Where) > 0
}
