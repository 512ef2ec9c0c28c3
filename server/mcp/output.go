package mcp

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"kioku/agent/tools"
	kiokuv1 "kioku/proto/kioku/v1"
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
	if len(out.Results) == 0 {
		b.WriteString("Nothing found.\n")
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
	if out.Deduplicated {
		return fmt.Sprintf("It was in %s before (line %d); nothing was written.", out.Path, out.StartLine)
	}
	return fmt.Sprintf("Stored in %s, line %d.", out.Path, out.StartLine)
}

// statusResult is the output of memory_status.
type statusResult struct {
	Agent        string                    `json:"agent"`
	Files        int32                     `json:"files"`
	Chunks       int32                     `json:"chunks"`
	PendingFiles int32                     `json:"pending_files"`
	Embedded     int32                     `json:"embedded_chunks"`
	Provider     string                    `json:"provider"`
	Model        string                    `json:"model,omitempty"`
	LastSync     string                    `json:"last_sync,omitempty"`
	Syncing      bool                      `json:"syncing"`
	Skipped      []string                  `json:"skipped,omitempty"`
	SkippedCount int                       `json:"skipped_count"`
	Degraded     []tools.DegradationOutput `json:"degraded"`
	Synced       *syncedFiles              `json:"synced,omitempty"`
}

// syncedFiles is what a sync of memory_status did.
type syncedFiles struct {
	Indexed int32 `json:"indexed"`
	Removed int32 `json:"removed"`
}

// statusOf returns the output for a status, and for the report of the sync before it, which may be nil.
func statusOf(st *kiokuv1.StatusResponse, report *kiokuv1.SyncReport) statusResult {
	ix := st.GetIndex()
	out := statusResult{
		Agent: st.GetAgent(), Files: ix.GetFileCount(), Chunks: ix.GetChunkCount(), PendingFiles: ix.GetPendingFileCount(),
		Embedded: st.GetEmbeddedChunkCount(), Provider: st.GetProvider().GetProvider(), Model: st.GetProvider().GetModel(),
		Syncing: st.GetSyncing(), SkippedCount: len(st.GetSkipped()), Degraded: []tools.DegradationOutput{},
	}
	if ix.GetLastSyncTime() != nil {
		out.LastSync = ix.GetLastSyncTime().AsTime().Format(time.RFC3339)
	}
	for _, f := range st.GetSkipped()[:min(maxSkipped, len(st.GetSkipped()))] {
		out.Skipped = append(out.Skipped, f.GetPath()+": "+f.GetReason())
	}
	for _, d := range st.GetDegraded() {
		out.Degraded = append(out.Degraded, tools.DegradationOutput{Code: d.GetCode(), Text: d.GetText()})
	}
	if report != nil {
		out.Synced = &syncedFiles{report.GetFileCount(), report.GetRemovedFileCount()}
	}
	return out
}

// text is the status for a model.
func (r statusResult) text() string {
	var b strings.Builder
	if r.Synced != nil {
		fmt.Fprintf(&b, "Synced: %d files indexed, %d removed.\n", r.Synced.Indexed, r.Synced.Removed)
	}
	fmt.Fprintf(&b, "%d files, %d chunks, %d changed files not indexed yet.\n", r.Files, r.Chunks, r.PendingFiles)
	switch {
	case r.LastSync == "":
		b.WriteString("The index was never in sync with the folder")
	default:
		b.WriteString("Last in sync " + r.LastSync)
	}
	if r.Syncing {
		b.WriteString("; a sync is running")
	}
	if r.Provider == "none" {
		b.WriteString(".\nNo embedding provider: searches go by keywords.\n")
	} else {
		fmt.Fprintf(&b, ".\nEmbedded by %s: %d of %d chunks.\n", strings.TrimSpace(r.Provider+" "+r.Model), r.Embedded, r.Chunks)
	}
	for _, f := range r.Skipped {
		b.WriteString("Skipped " + f + "\n")
	}
	if more := r.SkippedCount - len(r.Skipped); more > 0 {
		fmt.Fprintf(&b, "and %d more skipped files\n", more)
	}
	for _, d := range r.Degraded {
		fmt.Fprintf(&b, "Degraded (%s): %s\n", d.Code, d.Text)
	}
	return strings.TrimRight(b.String(), "\n")
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
	Line int32  `json:"line"`
	Text string `json:"text,omitempty"`
	// To is the path of the note, or what the link names if there is no such note.
	To      string `json:"to"`
	Missing bool   `json:"missing,omitempty"`
}

// linksOf returns the output for the links of a file.
func linksOf(l *kiokuv1.Links) linksResult {
	out := linksResult{Path: l.GetPath(), Truncated: l.GetTruncated()}
	convert := func(from []*kiokuv1.Link) []link {
		if len(from) > maxLinks {
			from, out.Truncated = from[:maxLinks], true
		}
		to := []link{}
		for _, l := range from {
			one := link{From: l.GetFromPath(), Line: l.GetLine(), Text: l.GetText(), To: l.GetToPath()}
			if one.To == "" {
				one.To, one.Missing = l.GetTarget(), true
			}
			to = append(to, one)
		}
		return to
	}
	out.Outgoing, out.Incoming = convert(l.GetOutgoing()), convert(l.GetIncoming())
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
