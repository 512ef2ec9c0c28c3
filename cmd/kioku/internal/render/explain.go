package render

import (
	"strings"

	kiokuv1 "kioku/proto/kioku/v1"
)

// Explanation adds the outcome for a passage, the query terms, and the results that it competed with.
func (p *Page) Explanation(req *kiokuv1.ExplainRequest, resp *kiokuv1.ExplainResponse) {
	if req.GetPath() != "" {
		p.Linef("%s:%d  %s", Bold(req.GetPath()), req.GetLine(), Cyan(strings.ReplaceAll(resp.GetOutcome(), "_", " ")))
		p.Linef("%s", resp.GetText())
		if hit := resp.GetPassage(); hit != nil {
			p.Linef("")
			p.Result(int(hit.GetTrace().GetRank()), hit)
		}
		p.Linef("")
	}
	p.Linef("terms: %s", strings.Join(resp.GetTerms(), " "))
	if hits := resp.GetAnswer().GetResults(); len(hits) == 0 {
		p.Linef("no results (%s)", Channels(resp.GetAnswer()))
	} else {
		p.Linef("%s (%s):", Count(len(hits), "result"), Channels(resp.GetAnswer()))
		p.Linef("")
		p.Results(hits)
	}
}
