package note

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"kioku/memory"
	"kioku/search/analysis"
)

const (
	// proposedDays is the number of days whose notes are read for what MEMORY.md lacks, and maxProposed the maximum number of lines
	// that are proposed for it.
	proposedDays, maxProposed = 7, 10
	// heldBy is the part of the terms of a note that an entry has if it says the note already.
	heldBy = 0.7
)

// lasting are the categories of notes that hold beyond their day.
var lasting = analysis.WordSet("decision decisions preference preferences rule rules")

// dayEntry is a line of a note of a day.
type dayEntry struct {
	entry    // without a heading, which says nothing here but the category
	path     string
	category string
	source   string // who has written it; empty for a person
}

// lastDays returns the entries of the notes of the last days, the newest last, without the words of others and of tools and what was
// forgotten.
func (f *Folder) lastDays() (all []dayEntry) {
	today := f.opt.Now().In(f.opt.Location)
	for back := proposedDays - 1; back >= 0; back-- {
		name := path.Join("memory", today.AddDate(0, 0, -back).Format(time.DateOnly)+".md")
		src, err := f.read(name)
		if err != nil {
			continue // nothing was written on that day, or Sync tells about the file
		}
		sources := sourcesOf(src)
		for _, e := range entriesOf(src) {
			id, _ := f.Forgotten().SaysAny(e.text)
			if id != "" || !e.tidy || sources[e.line-1] == memory.NoteFromTool {
				continue
			}
			_, category, _ := strings.Cut(e.heading, " - ")
			e.heading = ""
			all = append(all, dayEntry{e, name, strings.ToLower(strings.TrimSpace(category)), sources[e.line-1]})
		}
	}
	return all[max(0, len(all)-maxTidyEntries):]
}

// sourcesOf returns for each line of a file of a day who has written something of its section: memory.NoteFromTool also for words of others, else
// a model, else a person.
func sourcesOf(src []byte) []string {
	lines, origins := linesOf(src), Origins(src)
	sources := make([]string, len(lines))
	for from, to := 0, 0; from < len(lines); from = to {
		found := ""
		for to = from; to == from || to < len(lines) && !lines[to].IsEntry(); to++ {
			marker := markerFrom.FindString(markerPattern.FindString(lines[to].Text))
			if source := strings.TrimPrefix(marker, " from="); source != "" && source != memory.NoteFromUser && found != memory.NoteFromTool {
				found = source
			}
		}
		if memory.JoinOrigins(origins, from+1, to) != nil {
			found = memory.NoteFromTool
		}
		for i := from; i < to; i++ {
			sources[i] = found
		}
	}
	return sources
}

// proposals returns what Tidy finds in a file of what stays true, what the notes of the last days say otherwise, and, for MEMORY.md, what
// they say for good or on two days and it lacks. No line has two proposals.
func proposals(name string, src []byte, days []dayEntry) (all []memory.Untidy) {
	entries := entriesOf(src)
	for i := range entries {
		entries[i].heading = "" // that of a day is another one
	}
	all = Tidy(name, src)
	proposed := map[int]bool{} // by lines
	for _, u := range all {
		proposed[u.Line], proposed[u.OtherLine] = true, true
	}
	missing := 0
	for i, d := range slices.Backward(days) { // the newest word first
		u := memory.Untidy{Path: name, Other: d.text, OtherPath: d.path, OtherLine: d.line, Source: d.source}
		at := slices.IndexFunc(entries, func(e entry) bool { return e.tidy && contradict(e, d.entry) })
		told := slices.ContainsFunc(days[i+1:], func(newer dayEntry) bool { return sameWords(newer.entry, d.entry) || contradict(newer.entry, d.entry) })
		switch {
		case told:
			continue
		case at >= 0 && !proposed[entries[at].line]:
			proposed[entries[at].line] = true
			u.Kind, u.Line, u.Text = memory.UntidyOutdated, entries[at].line, entries[at].text
			u.ID = fmt.Sprintf("%s#L%d:%s", name, u.Line, fingerprint(u.Text + "\x00" + u.Other)[:8])
		case at >= 0 || name != longTermFile || missing == maxProposed || !d.lasts(days[:i]) || slices.ContainsFunc(entries, d.isIn):
			continue
		default:
			missing++
			u.Kind, u.ID = memory.UntidyMissing, fmt.Sprintf("%s#new:%s", name, fingerprint(d.text)[:8])
		}
		all = append(all, u)
	}
	return all
}

// lasts reports whether a line holds beyond its day: by its category, or because earlier days say it too.
func (d dayEntry) lasts(earlier []dayEntry) bool {
	return lasting[d.category] ||
		slices.ContainsFunc(earlier, func(other dayEntry) bool { return other.path != d.path && sayTheSame(d.entry, other.entry) })
}

// isIn reports whether an entry has nearly all that a line says, and not the contrary.
func (d dayEntry) isIn(e entry) bool {
	return d.negated == e.negated && float64(common(d.terms, e.terms)) >= heldBy*float64(len(d.terms))
}
