package server

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/types/known/durationpb"

	"kioku/agent/bootstrap"
	"kioku/agent/prompt"
	"kioku/agent/recall"
	"kioku/agent/sidecar"
	"kioku/agent/skills"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// maxReported is the most skills that an answer tells of.
const maxReported = 500

// PromptResponse returns a prompt as the service answers with it. problem says why a search failed, empty if it did not.
func PromptResponse(p sidecar.Prompt, problem func(recall.Search) string) *kiokuv1.AssemblePromptResponse {
	resp := &kiokuv1.AssemblePromptResponse{
		Prompt: p.Prompt, CachedBytes: int32Of(p.CachedBytes), Tokens: int32Of(p.Tokens), OverBudget: p.Over, Group: p.Group,
		Files: fileReports(p.Files), Skills: skillReports(p.Skills.Report), SkillsNote: p.Skills.Note,
		Recall: recallReport(p.Recall, p.Recalled, p.LeftOut, problem),
	}
	for _, l := range p.Layers {
		resp.Layers = append(resp.Layers, &kiokuv1.PromptLayer{Name: l.Name, Chars: int32Of(l.Chars), Tokens: int32Of(l.Tokens)})
	}
	for _, c := range p.Cuts {
		resp.Cuts = append(resp.Cuts, &kiokuv1.PromptCut{Part: c.Part, FromTokens: int32Of(c.From), ToTokens: int32Of(c.To)})
	}
	return resp
}

func fileReports(files []bootstrap.File) []*kiokuv1.FileReport {
	var out []*kiokuv1.FileReport
	for _, f := range files {
		out = append(out, &kiokuv1.FileReport{
			Name: f.Name, Path: f.Path, Overriding: f.Override, RawChars: int32Of(f.RawChars), InjectedChars: int32Of(f.InjectedChars),
			Cut: f.Cut, Reason: clip(f.Reason, 500),
		})
	}
	return out
}

// skillReports tells of at most maxReported skills; an entry without a path says how many more there are.
func skillReports(list []skills.Entry) []*kiokuv1.SkillReport {
	var out []*kiokuv1.SkillReport
	for i, e := range list {
		if i == maxReported {
			return append(out, &kiokuv1.SkillReport{Reason: fmt.Sprintf("and %d more skills", len(list)-maxReported)})
		}
		out = append(out, &kiokuv1.SkillReport{
			Name: clip(e.Name, 200), Path: clip(e.Path, 1000), Loaded: e.Loaded, InPrompt: e.InPrompt, Reason: clip(e.Reason, 500),
		})
	}
	return out
}

// recallReport tells what was recalled, which of it is in the prompt, and why the rest is not.
func recallReport(o recall.Outcome, in []prompt.Memory, out []prompt.LeftOut, problem func(recall.Search) string) *kiokuv1.RecallReport {
	r := &kiokuv1.RecallReport{Query: o.Query, Skipped: o.Skipped, Took: durationpb.New(o.Took)}
	for _, m := range in {
		r.Recalled = append(r.Recalled, recalledMemory(m, ""))
	}
	for _, m := range out {
		r.LeftOut = append(r.LeftOut, recalledMemory(m.Memory, m.Reason))
	}
	for _, one := range o.Searches {
		r.Searches = append(r.Searches, &kiokuv1.RecallSearch{
			Agent: one.Agent, HitCount: int32Of(one.Hits), Mode: one.Mode, Degraded: degradations(one.Degraded),
			Error: problem(one), Took: durationpb.New(one.Took),
		})
	}
	return r
}

func recalledMemory(m prompt.Memory, reason string) *kiokuv1.RecalledMemory {
	return &kiokuv1.RecalledMemory{
		Agent: m.Agent, Shared: m.Shared, Path: m.Path, StartLine: int32Of(m.StartLine), EndLine: int32Of(m.EndLine),
		Score: m.Score, Date: m.Date, Text: m.Text, Flags: m.Flags, Reason: reason,
	}
}

// searchProblem tells why a search has no answer. What is not foreseen may name addresses and goes to the log alone.
func (s *Server) searchProblem(one recall.Search) string {
	if one.Err == nil {
		return ""
	}
	if known := memory.ErrorOf(memory.Reason(one.Err)); known != nil {
		return known.Error()
	}
	switch {
	case errors.Is(one.Err, recall.ErrBusy):
		return recall.ErrBusy.Error()
	case errors.Is(one.Err, context.DeadlineExceeded):
		return "no answer in time"
	case errors.Is(one.Err, context.Canceled):
		return "the call was canceled"
	}
	s.opt.Log.Warn("cannot recall", "agent", one.Agent, "err", clip(one.Err.Error(), 1000))
	return "the search has failed; the log has the cause"
}
