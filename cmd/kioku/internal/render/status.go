package render

import (
	"fmt"
	"strings"
	"time"

	"kioku/internal/text"
	kiokuv1 "kioku/proto/kioku/v1"
)

// Status adds the state of an index, one line for each matter.
func (p *Page) Status(st *kiokuv1.StatusResponse, now time.Time) {
	ix := st.GetIndex()
	p.Row("agent", "%s", st.GetAgent())
	p.Row("workspace", "%s", st.GetWorkspace())
	p.Row("index", "%s, %s, %d pending, generation %d, %s", Count(ix.GetFileCount(), "file"), Count(ix.GetChunkCount(), "chunk"),
		ix.GetPendingFileCount(), ix.GetGeneration(), LastSync(ix, now))
	for _, t := range st.GetTranscripts() {
		p.Row("source", "%s, transcripts in %s", t.GetSource(), t.GetFolder())
	}
	p.Row("provider", "%s", providerText(st.GetProvider()))
	if said := activeText(st); said != "" {
		p.Row("answering", "%s", said)
	}
	if st.GetReranker() != "" {
		p.Row("re-ranker", "%s", strings.TrimSuffix(st.GetReranker()+", not answering: "+st.GetRerankerError(), ", not answering: "))
	}
	p.Row("vectors", "%d of %s embedded, %d cached", st.GetEmbeddedChunkCount(), Count(ix.GetChunkCount(), "chunk"), st.GetCachedEmbeddingCount())
	if b := st.GetBackfill(); b != nil {
		p.Row("embedding", "%s", backfillText(b))
	}
	p.Row("memory", "%s of vectors and words%s", Size(st.GetResidentBytes()), sharedMemory(st))
	p.Row("watch", "%s", strings.TrimSuffix(st.GetWatchMode()+", "+st.GetWatchNote(), ", "))
	p.Row("database", "%s, %s and %s of log", st.GetDatabase(), Size(st.GetDatabaseBytes()), Size(st.GetWalBytes()))
	p.egress(st, now)
	if st.GetSyncing() {
		p.Row("working", "a sync is running")
	}
	for _, path := range st.GetUnavailable() {
		p.Row("missing", "%s cannot be read; its entries stay in the index", path)
	}
	if n := st.GetUnindexedFileCount(); n > 0 {
		p.Row("beside", "%s%s not indexed; kioku index --all takes them in", moreThan(st.GetUnindexedMore()), Count(n, "Markdown file"))
	}
	for _, f := range st.GetSkipped() {
		label := "skipped"
		if f.GetIndexed() {
			label = "unread"
		}
		p.Row(label, "%s", strings.TrimPrefix(f.GetPath()+": "+f.GetReason(), ": "))
	}
	if c := st.GetCheck(); c != nil {
		p.Row("check", "%s, %s, %s, words of %s, %s checked, %s ago", Count(c.GetPageCount(), "page"),
			Count(c.GetTableCount(), "table"), Count(c.GetTextCount(), "text"), Count(c.GetWordCount(), "text"), Count(c.GetVectorCount(), "vector"),
			now.Sub(c.GetTime().AsTime()).Round(time.Second))
		for _, found := range c.GetFound() {
			p.Row("found", "%s; it was mended", found)
		}
	}
	for _, d := range st.GetDegraded() {
		p.Row("degraded", "%s: %s", d.GetCode(), d.GetText())
	}
}

// sharedMemory says how much memory the vectors and words of all agents occupy, if the service tells.
func sharedMemory(st *kiokuv1.StatusResponse) string {
	if st.GetMemoryBudgetBytes() == 0 {
		return ""
	}
	return fmt.Sprintf("; %s of %s for all agents", Size(st.GetMemoryResidentBytes()), Size(st.GetMemoryBudgetBytes()))
}

// egress writes what the process has sent to other hosts.
func (p *Page) egress(st *kiokuv1.StatusResponse, now time.Time) {
	if st.GetOffline() {
		p.Row("network", "offline: nothing is sent to another machine")
	}
	for _, e := range st.GetEgress() {
		host := e.GetHost()
		if e.GetLocal() {
			host += " (this machine)"
		}
		refused := ""
		if n := e.GetRefusedCount(); n > 0 {
			refused = fmt.Sprintf(", %d not sent because it is offline", n)
		}
		p.Row("network", "%s: %s for %s, %s sent%s, the last %s ago", host, Count(e.GetRequestCount(), "request"), e.GetPurpose(),
			Size(e.GetSentBytes()), refused, now.Sub(e.GetLastTime().AsTime()).Round(time.Second))
	}
}

// backfillText says how far the embedding of chunks is.
func backfillText(b *kiokuv1.Backfill) string {
	said := fmt.Sprintf("%d of %s, newest first", b.GetEmbeddedCount(), Count(b.GetTotalCount(), "chunk"))
	if b.GetLeft() != nil {
		said += fmt.Sprintf(", %.3g a second, about %s left", b.GetChunksPerSecond(), text.About(b.GetLeft().AsDuration()))
	}
	return said
}

// LastSync returns how long ago an index was last in sync with its folder.
func LastSync(ix *kiokuv1.IndexState, now time.Time) string {
	if ix.GetLastSyncTime() == nil {
		return "never in sync"
	}
	return "in sync " + now.Sub(ix.GetLastSyncTime().AsTime()).Round(time.Second).String() + " ago"
}

// moreThan returns what stands before a number that may be larger.
func moreThan(more bool) string {
	if more {
		return "more than "
	}
	return ""
}

func providerText(p *kiokuv1.Provider) string {
	text := strings.Join(strings.Fields(p.GetProvider()+" "+p.GetModel()), " ")
	if p.GetDims() > 0 {
		text += fmt.Sprintf(", %d dimensions", p.GetDims())
	}
	if p.GetReason() != "" {
		text += " (" + p.GetReason() + ")"
	}
	if p.GetHealthy() || p.GetError() == "" {
		return text
	}
	text += ", not answering: " + p.GetError()
	if p.GetRetryTime() != nil {
		text += ", next try at " + p.GetRetryTime().AsTime().Local().Format(time.TimeOnly)
	}
	return text
}

// activeText says whose vectors searches use while they are not those of the provider; empty if they are.
func activeText(st *kiokuv1.StatusResponse) string {
	p := st.GetProvider()
	isOther := p.GetActiveProvider() != p.GetProvider() || p.GetActiveModel() != p.GetModel()
	if p.GetActiveProvider() == "" || p.GetProvider() == "none" || !isOther {
		return ""
	}
	return fmt.Sprintf("%s %s, until the provider has embedded the rest: %d of %s", p.GetActiveProvider(), p.GetActiveModel(),
		st.GetEmbeddedChunkCount(), Count(st.GetIndex().GetChunkCount(), "chunk"))
}

// Holdings returns the numbers of files and chunks of an index.
func Holdings(st *kiokuv1.StatusResponse) string {
	ix := st.GetIndex()
	return fmt.Sprintf("%s, %s", Count(ix.GetFileCount(), "file"), Count(ix.GetChunkCount(), "chunk"))
}
