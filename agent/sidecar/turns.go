package sidecar

import (
	"cmp"
	"errors"
	"path/filepath"
	"strings"

	"kioku/agent/compact"
	"kioku/agent/flush"
	"kioku/agent/prompt"
	"kioku/agent/recall"
	"kioku/agent/session"
	"kioku/agent/turns"
	"kioku/llm"
	"kioku/memory"
)

// turnsLog returns the record of the turns of an agent, <state>/agents/<agent>/turns.
func turnsLog(opt Options) *turns.Log {
	return turns.New(turns.Options{
		Folder: filepath.Join(opt.State, "agents", opt.Agent, "turns"), Off: !opt.Turns.Keep || opt.ReadOnly, Messages: opt.Turns.Messages,
		Now: opt.Now, Log: opt.Log,
	})
}

// Turns returns the record of the agent's turns.
func (s *Sidecar) Turns() *turns.Log { return s.turns }

// promptEntry returns the entry of a prompt for a resolved turn.
func promptEntry(t Turn, p Prompt) turns.Entry {
	e := turnEntry(turns.KindPrompt, t)
	e.Tokens, e.Budget, e.Over = p.Tokens, t.Budget, p.Over
	for _, l := range p.Layers {
		e.Layers = append(e.Layers, turns.Layer{Name: l.Name, Chars: l.Chars, Tokens: l.Tokens})
	}
	for _, c := range p.Cuts {
		e.Cuts = append(e.Cuts, turns.Cut{Part: c.Part, From: c.From, To: c.To})
	}
	e.Recall = recallOf(p.Recall, p.Recalled, p.LeftOut)
	return e
}

// recallEntry returns the entry of a recall without a prompt.
func recallEntry(t Turn, out recall.Outcome) turns.Entry {
	e := turnEntry(turns.KindRecall, t)
	e.Recall = recallOf(out, out.Memories, nil)
	return e
}

// turnEntry returns what entries of a turn have in common.
func turnEntry(kind string, t Turn) turns.Entry {
	return turns.Entry{
		Kind: kind, Session: t.Session, Channel: t.Channel, Group: *t.Group, Model: t.Model, Mode: string(t.Mode), Message: t.Message,
		Transcript: t.Transcript,
	}
}

// recallOf returns what was recalled, without texts.
func recallOf(o recall.Outcome, in []prompt.Memory, out []prompt.LeftOut) *turns.Recall {
	r := &turns.Recall{Query: o.Query, Skipped: o.Skipped, Took: o.Took}
	for _, m := range in {
		r.In = append(r.In, passage(m, ""))
	}
	for _, m := range out {
		r.Out = append(r.Out, passage(m.Memory, m.Reason))
	}
	for _, one := range o.Searches {
		s := turns.Search{Agent: one.Agent, Hits: one.Hits, Mode: one.Mode, Failed: one.Err != nil, Took: one.Took}
		for _, d := range one.Degraded {
			s.Degraded = append(s.Degraded, d.Code)
		}
		r.Searches = append(r.Searches, s)
	}
	return r
}

// passage returns the place of a memory.
func passage(m prompt.Memory, reason string) turns.Passage {
	return turns.Passage{
		Agent: m.Agent, Shared: m.Shared, Path: m.Path, Start: m.StartLine, End: m.EndLine, Score: m.Score, Vector: m.VectorScore,
		Words: m.TextScore, Date: m.Date, Flags: m.Flags, Reason: reason,
	}
}

// recordFlush records a flush, unless there was nothing to do.
func (s *Sidecar) recordFlush(sessionID string, out flush.Outcome) {
	if out.Outcome == session.FlushDone && out.Ranges == 0 {
		return
	}
	f := &turns.Flush{Outcome: out.Outcome, Reason: out.Reason, Covered: out.Covered, Uncovered: out.Uncovered}
	if out.Err != nil {
		f.Reason = plainReason(out.Err)
	}
	for _, n := range out.Notes {
		f.Notes = append(f.Notes, turns.Note{Path: n.Path, Line: n.StartLine, Deduplicated: n.Deduplicated})
	}
	for _, why := range out.Refused {
		f.Notes = append(f.Notes, turns.Note{Refused: why})
	}
	s.turns.Record(turns.Entry{Kind: turns.KindFlush, Session: sessionID, Flush: f})
}

// plainReason returns what kind of error a model or memory has returned, without their words, which may quote the conversation.
func plainReason(err error) string {
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return "the language model: " + e.Kind
	}
	if reason := memory.Reason(err); reason != "" {
		return "the memory: " + strings.ToLower(strings.ReplaceAll(reason, "_", " "))
	}
	return "it failed; the log has the cause"
}

// recordCommit records the commit of a range.
func (s *Sidecar) recordCommit(done flush.Committed) {
	f := &turns.Flush{Outcome: session.FlushDone, Reason: done.Warning, Covered: done.Covered, Uncovered: done.Uncovered}
	for _, n := range done.Notes {
		f.Notes = append(f.Notes, turns.Note{Path: n.Path, Line: n.StartLine, Deduplicated: n.Deduplicated, Refused: n.Refused})
	}
	s.turns.Record(turns.Entry{Kind: turns.KindFlush, Session: done.Session, Flush: f})
}

// recordCompaction records a compaction, unless there was nothing to compact.
func (s *Sidecar) recordCompaction(sessionID string, v session.View, made session.Compaction, err error) {
	c := &turns.Compaction{Before: cmp.Or(made.TokensBefore, v.Tokens), After: made.TokensAfter}
	_, uncovered := errors.AsType[*UncoveredError](err)
	switch {
	case errors.Is(err, compact.ErrNothing), uncovered:
		return
	case err != nil:
		c.After, c.Reason = c.Before, plainReason(err)
	}
	s.turns.Record(turns.Entry{Kind: turns.KindCompaction, Session: sessionID, Compaction: c})
}
