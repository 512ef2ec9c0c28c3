package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"kioku/indexer"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/server"
	"kioku/vectors"
)

// Status adds the state of an index, one line for each matter.
func (p *Page) Status(st server.IndexStatus, now time.Time) {
	ix := st.Index
	p.Row("agent", "%s", st.Agent)
	p.Row("workspace", "%s", st.Workspace)
	p.Row("index", "%s, %d pending, %s", Holdings(ix), ix.PendingFiles, LastSync(ix, now))
	for _, t := range st.Transcripts {
		p.Row("source", "%s, transcripts in %s", t.Source, t.Folder)
	}
	p.Row("provider", "%s", providerText(st))
	if said := activeText(st); said != "" {
		p.Row("answering", "%s", said)
	}
	if st.RerankerErr != nil {
		p.Row("re-ranker", "%s, not answering: %v", st.Reranker, st.RerankerErr)
	} else if st.Reranker != "" {
		p.Row("re-ranker", "%s", st.Reranker)
	}
	p.Row("vectors", "%d of %s embedded, %d cached", st.Embedded, Count(ix.Chunks, "passage"), st.Cached)
	if st.Backfill.Running {
		p.Row("embedding", "%s", backfillText(st.Backfill))
	}
	p.Row("memory", "%s of vectors and words%s", Size(st.Sizes.Resident), sharedMemory(st))
	p.Row("watch", "%s", strings.TrimSuffix(st.Sync.WatchMode+", "+st.Sync.WatchNote, ", "))
	p.Row("database", "%s, %s and %s of log", st.Sizes.Path, Size(st.Sizes.Database), Size(st.Sizes.WAL))
	p.egress(st, now)
	if st.Sync.Syncing {
		p.Row("working", "a sync is running")
	}
	for _, path := range st.Sync.Unavailable {
		p.Row("missing", "%s cannot be read; its entries stay in the index", path)
	}
	if st.Beside.Files > 0 {
		p.Row("beside", "%s not indexed; kioku index --all takes them in", Beside(st.Beside))
	}
	for _, f := range st.Skipped {
		label := "skipped"
		if f.Indexed {
			label = "unread"
		}
		p.Row(label, "%s", strings.TrimPrefix(f.Path+": "+f.Reason, ": "))
	}
	if c := st.Check; c != nil {
		p.Row("check", "%s, %s, %s, words of %s, %s checked, %s ago", Count(c.Pages, "page"),
			Count(c.Tables, "table"), Count(c.Texts, "text"), Count(c.Words, "text"), Count(c.Vectors, "vector"),
			now.Sub(c.Time).Round(time.Second))
		for _, found := range c.Found {
			p.Row("found", "%s; it was mended", found)
		}
	}
	for _, d := range st.Degraded {
		p.Row("degraded", "%s: %s", d.Code, d.Text)
	}
}

// sharedMemory says how much memory the vectors and words of all agents occupy, if the service tells.
func sharedMemory(st server.IndexStatus) string {
	if st.BudgetBytes == 0 {
		return ""
	}
	return fmt.Sprintf("; %s of %s for all agents", Size(st.AllResidentBytes), Size(st.BudgetBytes))
}

// egress writes what the process has sent to other hosts.
func (p *Page) egress(st server.IndexStatus, now time.Time) {
	if st.Offline {
		p.Row("network", "offline: nothing is sent to another machine")
	}
	for _, e := range st.Egress {
		host := e.Host
		if e.Local {
			host += " (this machine)"
		}
		refused := ""
		if n := e.Refused; n > 0 {
			refused = fmt.Sprintf(", %d not sent because it is offline", n)
		}
		p.Row("network", "%s: %s for %s, %s sent%s, the last %s ago", host, Count(e.Requests, "request"), e.Purpose,
			Size(e.Bytes), refused, now.Sub(e.Last).Round(time.Second))
	}
}

// backfillText says how far the embedding of chunks is.
func backfillText(b vectors.State) string {
	said := fmt.Sprintf("%d of %s, newest first", b.Embedded, Count(b.Total, "passage"))
	if b.Left > 0 {
		said += fmt.Sprintf(", %.3g a second, about %s left", b.PerSecond, text.About(b.Left))
	}
	return said
}

// LastSync returns how long ago an index was last in sync with its folder.
func LastSync(ix memory.IndexStats, now time.Time) string {
	if ix.LastSync.IsZero() {
		return "never in sync"
	}
	return "in sync " + now.Sub(ix.LastSync).Round(time.Second).String() + " ago"
}

// Beside returns how many Markdown files are not indexed.
func Beside(b indexer.Beside) string {
	if b.More {
		return "more than " + Count(b.Files, "Markdown file")
	}
	return Count(b.Files, "Markdown file")
}

// providerText names the embedding provider, and says why it was chosen and whether it answers.
func providerText(st server.IndexStatus) string {
	text := strings.TrimSpace(cmp.Or(st.Space.Provider, "none") + " " + st.Space.Model)
	if st.Space.Dims > 0 {
		text += fmt.Sprintf(", %d dimensions", st.Space.Dims)
	}
	if st.ProviderReason != "" {
		text += " (" + st.ProviderReason + ")"
	}
	if st.Health.Healthy || st.Health.Err == nil {
		return text
	}
	text += ", not answering: " + st.Health.Err.Error()
	if !st.Health.RetryAt.IsZero() {
		text += ", next try at " + st.Health.RetryAt.Local().Format(time.TimeOnly)
	}
	return text
}

// activeText says whose vectors searches use while they are not those of the provider; empty if they are.
func activeText(st server.IndexStatus) string {
	of, now := st.Space, st.Active
	if now.Provider == "" || of.Provider == "" || now.Provider == of.Provider && now.Model == of.Model {
		return ""
	}
	return fmt.Sprintf("%s %s, until the provider has embedded the rest: %d of %s", now.Provider, now.Model, st.Embedded, Count(st.Index.Chunks, "passage"))
}

// Holdings returns the numbers of files and chunks of an index.
func Holdings(ix memory.IndexStats) string {
	return fmt.Sprintf("%s, %s", Count(ix.Files, "file"), Count(ix.Chunks, "passage"))
}
