package mcp

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"kioku/agent/tools"
	"kioku/memory"
	"kioku/server"
)

const (
	// maxText is the maximum number of characters of notes in a result.
	maxText = 24_000
	// maxLinks is the maximum number of links of each kind in a result.
	maxLinks = 100
	// maxSkipped is the maximum number of skipped files in a result.
	maxSkipped = 10
)

// searchResult is the output of memory_search.
type searchResult struct {
	tools.SearchOutput
	// LeftOut is the number of results that had no room.
	LeftOut int `json:"left_out,omitempty"`
}

// boundResults leaves out the last results if all of them together are too long.
func boundResults(out tools.SearchOutput) searchResult {
	length := 0
	for i, r := range out.Results {
		length += utf8.RuneCountInString(r.Snippet)
		if length > maxText && i > 0 {
			left := len(out.Results) - i
			out.Results = out.Results[:i]
			return searchResult{out, left}
		}
	}
	return searchResult{out, 0}
}

// searchText is the output of memory_search for a model: for each passage a line that says where it is, and its text.
func searchText(out searchResult) string {
	var b strings.Builder
	if len(out.Results)+len(out.Units) == 0 {
		b.WriteString("Nothing found.\n")
	}
	for _, u := range out.Units {
		b.WriteString(unitText(u) + "\n")
	}
	if len(out.Units) > 0 {
		b.WriteString("\n")
	}
	for _, r := range out.Results {
		fmt.Fprintf(&b, "## %s:%d-%d (score %.2f%s)", r.Path, r.StartLine, r.EndLine, r.Score, suffix(r.Date))
		if r.Weak {
			b.WriteString(" weak")
		}
		if r.Heading != "" {
			b.WriteString(" " + r.Heading)
		}
		if r.SaidBy != "" {
			b.WriteString("\n(said by " + r.SaidBy + ")")
		}
		b.WriteString("\n" + strings.TrimRight(r.Snippet, "\n") + "\n\n")
	}
	if out.LeftOut > 0 {
		fmt.Fprintf(&b, "%d more left out; ask for fewer with max_results, or narrow the search with path_prefix, since or until.\n", out.LeftOut)
	}
	for _, d := range out.Degraded {
		fmt.Fprintf(&b, "Degraded (%s): %s\n", d.Code, d.Text)
	}
	if out.PendingFiles > 0 {
		fmt.Fprintf(&b, "Changed files that are not indexed yet: %d.\n", out.PendingFiles)
	}
	return strings.TrimRight(b.String(), "\n")
}

// unitText is a fact, a loop or a summary for a model, on one line.
func unitText(u tools.UnitOutput) string {
	state := ""
	if u.State != "" {
		state = ", " + u.State
	}
	return fmt.Sprintf("- %s (%s%s, score %.2f%s; %s)", u.Text, u.Kind, state, u.Score, suffix(u.Date), strings.Join(u.Citations, ", "))
}

// suffix returns what follows a score: a day, if there is one.
func suffix(day string) string {
	if day == "" {
		return ""
	}
	return ", " + day
}

// getText is the output of memory_get for a model.
func getText(out tools.GetOutput) string {
	if out.Lines == 0 {
		return fmt.Sprintf("%s has %d lines; there is no line %d.", out.Path, out.TotalLines, out.From)
	}
	said := fmt.Sprintf("%s:%d-%d of %d\n%s", out.Path, out.From, out.From+out.Lines-1, out.TotalLines, strings.TrimSuffix(out.Text, "\n"))
	if out.NextFrom > 0 {
		said += fmt.Sprintf("\n\nThe file goes on: memory_get with from %d.", out.NextFrom)
	}
	return said
}

// appendText is the output of memory_append for a model.
func appendText(out tools.AppendOutput) string {
	if out.Path == "" {
		return out.Hint
	}
	said := fmt.Sprintf("Stored in %s, line %d.", out.Path, out.StartLine)
	if out.Deduplicated {
		said = fmt.Sprintf("It was in %s before (line %d); nothing was written.", out.Path, out.StartLine)
	}
	if s := out.Similar; s != nil {
		said += fmt.Sprintf("\nLine %d of %s says: %s", s.Line, s.Path, s.Text)
	}
	return said + hintText(out.Secrets, out.Hint)
}

// updateText is the output of memory_update for a model.
func updateText(out tools.UpdateOutput) string {
	if out.Path == "" {
		return placesText(out)
	}
	return fmt.Sprintf("Changed %s, line %d. The text before is kept: revision %s.", out.Path, out.StartLine, out.Revision) + hintText(out.Secrets, out.Hint)
}

// placesText tells a model of places that say what is to be forgotten, or was.
func placesText(out tools.UpdateOutput) string {
	said := out.Hint
	if out.Revision != "" {
		said = strings.ReplaceAll(said, "REVISION", out.Revision)
	}
	for _, p := range out.Places {
		said += "\n" + p.Place + "  " + p.Text
		if p.Weak {
			said += " (perhaps)"
		}
	}
	return said
}

// hintText tells of secrets that were left out, and what a model may do then.
func hintText(secrets []tools.SecretOutput, hint string) string {
	said := ""
	for _, s := range secrets {
		said += "\nLeft out: " + s.Kind + ", now " + s.Reference + "."
	}
	if hint != "" {
		said += "\n" + hint
	}
	return said
}

// statusText is the status of a memory for a model.
func statusText(st server.IndexStatus) string {
	var b strings.Builder
	ix := st.Index
	fmt.Fprintf(&b, "%d files, %d passages, %d changed files not indexed yet.\n", ix.Files, ix.Chunks, ix.PendingFiles)
	if ix.LastSync.IsZero() {
		b.WriteString("The index was never in sync with the folder")
	} else {
		b.WriteString("Last in sync " + ix.LastSync.Format(time.RFC3339))
	}
	if st.Sync.Syncing {
		b.WriteString("; a sync is running")
	}
	if p := st.Space; p.IsZero() {
		b.WriteString(".\nNo embedding provider: searches go by keywords.\n")
	} else {
		fmt.Fprintf(&b, ".\nEmbedded by %s: %d of %d passages.\n", strings.TrimSpace(p.Provider+" "+p.Model), st.Embedded, ix.Chunks)
	}
	skipped := st.Skipped
	for _, f := range skipped[:min(maxSkipped, len(skipped))] {
		b.WriteString("Skipped " + f.Path + ": " + f.Reason + "\n")
	}
	if more := len(skipped) - maxSkipped; more > 0 {
		fmt.Fprintf(&b, "and %d more skipped files\n", more)
	}
	for _, d := range st.Degraded {
		fmt.Fprintf(&b, "Degraded (%s): %s\n", d.Code, d.Text)
	}
	return b.String()
}

// linksResult is the output of memory_links.
type linksResult struct {
	Path      string `json:"path"`
	Outgoing  []link `json:"outgoing"`
	Incoming  []link `json:"incoming"`
	Truncated bool   `json:"truncated,omitempty"`
}

// link is a link of a [linksResult].
type link struct {
	From string `json:"from"`
	Line int    `json:"line"`
	Text string `json:"text,omitempty"`
	// To is the path of the note, or what the link names if there is no such note.
	To      string `json:"to"`
	Missing bool   `json:"missing,omitempty"`
}

// linksOf returns the output for the links of a file.
func linksOf(l memory.Links) linksResult {
	out := linksResult{Path: l.Path}
	convert := func(from []memory.Link) []link {
		if len(from) > maxLinks {
			from, out.Truncated = from[:maxLinks], true
		}
		to := []link{}
		for _, l := range from {
			one := link{From: l.From, Line: l.Line, Text: l.Text, To: l.To}
			if one.To == "" {
				one.To, one.Missing = l.Target, true
			}
			to = append(to, one)
		}
		return to
	}
	out.Outgoing, out.Incoming = convert(l.Out), convert(l.In)
	return out
}

// text is the links for a model.
func (r linksResult) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s links to %d and is linked from %d places.\n", r.Path, len(r.Outgoing), len(r.Incoming))
	for _, l := range r.Outgoing {
		missing := ""
		if l.Missing {
			missing = " (no such note)"
		}
		fmt.Fprintf(&b, "line %d -> %s%s\n", l.Line, l.To, missing)
	}
	for _, l := range r.Incoming {
		fmt.Fprintf(&b, "%s:%d -> here\n", l.From, l.Line)
	}
	if r.Truncated {
		b.WriteString("More links are left out.\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
