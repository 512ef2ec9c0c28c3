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

// maxReported is the maximum number of skills in a response.
const maxReported = 500

// PromptResponse returns a prompt as the service returns it. problem returns why a search failed, empty if it did not.
func PromptResponse(p sidecar.Prompt, problem func(recall.Search) string) *kiokuv1.AssemblePromptResponse {
	return &kiokuv1.AssemblePromptResponse{
		Prompt: p.Prompt, TurnBlock: p.Turn, CachedBytes: int32Of(p.CachedBytes), Tokens: int32Of(p.Tokens), OverBudget: p.Over, Group: p.Group,
		Layers: convertAll(p.Layers, promptLayer), Files: convertAll(p.Files, fileReport), Cuts: convertAll(p.Cuts, promptCut),
		Skills: skillReports(p.Skills.Report), SkillsNote: p.Skills.Note,
		Recall: recallReport(p.Recall, p.Recalled, p.LeftOut, problem),
	}
}

func promptLayer(l prompt.Layer) *kiokuv1.PromptLayer {
	return &kiokuv1.PromptLayer{Name: l.Name, Chars: int32Of(l.Chars), Tokens: int32Of(l.Tokens)}
}

func promptCut(c prompt.Cut) *kiokuv1.PromptCut {
	return &kiokuv1.PromptCut{Part: c.Part, FromTokens: int32Of(c.From), ToTokens: int32Of(c.To)}
}

func fileReport(f bootstrap.File) *kiokuv1.FileReport {
	return &kiokuv1.FileReport{
		Name: f.Name, Path: f.Path, Overriding: f.Override, RawChars: int32Of(f.RawChars), InjectedChars: int32Of(f.InjectedChars),
		Cut: f.Cut, Reason: clip(f.Reason, 500),
	}
}

// skillReports returns at most maxReported skills; an entry without a path reports how many more there are.
func skillReports(list []skills.Entry) []*kiokuv1.SkillReport {
	out := convertAll(list[:min(len(list), maxReported)], func(e skills.Entry) *kiokuv1.SkillReport {
		return &kiokuv1.SkillReport{
			Name: clip(e.Name, 200), Path: clip(e.Path, 1000), Loaded: e.Loaded, InPrompt: e.InPrompt, Reason: clip(e.Reason, 500),
		}
	})
	if more := len(list) - maxReported; more > 0 {
		out = append(out, &kiokuv1.SkillReport{Reason: fmt.Sprintf("and %d more skills", more)})
	}
	return out
}

// recallReport returns the memories that are in the prompt, those that are not, and the searches.
func recallReport(o recall.Outcome, in []prompt.Memory, out []prompt.LeftOut, problem func(recall.Search) string) *kiokuv1.RecallReport {
	return &kiokuv1.RecallReport{
		Query: o.Query, Skipped: o.Skipped, Took: durationpb.New(o.Took),
		Recalled: convertAll(in, func(m prompt.Memory) *kiokuv1.RecalledMemory { return recalledMemory(m, "") }),
		LeftOut:  convertAll(out, func(m prompt.LeftOut) *kiokuv1.RecalledMemory { return recalledMemory(m.Memory, m.Reason) }),
		Searches: convertAll(o.Searches, func(one recall.Search) *kiokuv1.RecallSearch {
			return &kiokuv1.RecallSearch{
				Agent: one.Agent, HitCount: int32Of(one.Hits), Mode: one.Mode, Degraded: convertAll(one.Degraded, degradation),
				Error: problem(one), Took: durationpb.New(one.Took),
			}
		}),
	}
}

func recalledMemory(m prompt.Memory, reason string) *kiokuv1.RecalledMemory {
	channel, author, more := originParts(m.Origin)
	return &kiokuv1.RecalledMemory{
		Channel: channel, Author: author, MoreAuthors: more,
		Agent: m.Agent, Shared: m.Shared, Path: m.Path, StartLine: int32Of(m.StartLine), EndLine: int32Of(m.EndLine),
		Score: m.Score, VectorScore: m.VectorScore, TextScore: m.TextScore, Date: m.Date, Text: m.Text, Flags: m.Flags, Reason: reason,
	}
}

// searchProblem returns why a search failed, empty if it did not. An unforeseen cause may name addresses and goes only to the log.
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
