package sidecar

import (
	"context"
	"time"

	"kioku/agent/bootstrap"
	"kioku/agent/prompt"
	"kioku/agent/recall"
	"kioku/agent/skills"
)

// Turn is what a prompt is made for.
type Turn struct {
	// Message of the user, searched in memory.
	Message string
	Mode    bootstrap.Mode
	Channel string
	// Group overrides what the channel tells if it is not nil.
	Group *bool
	// Model is the name of the model that is asked.
	Model string
	// Shared replaces Options.Shared if it is not nil.
	Shared []string
	Blocks []prompt.Block
	// Budget in tokens, 0 for none.
	Budget int
	// CacheFriendly replaces that of Options if it is not nil.
	CacheFriendly *bool
	// NoTools leaves out how to use the memory tools, NoRecall does not search.
	NoTools, NoRecall bool
	// Now is the moment of the turn, zero for the clock.
	Now time.Time
}

// InGroup reports whether more than one person is taken to be in the conversation.
func (t Turn) InGroup() bool {
	if t.Group != nil {
		return *t.Group
	}
	return IsGroup(t.Channel)
}

// Prompt is a system prompt and what it is made of.
type Prompt struct {
	prompt.Result
	Files  []bootstrap.File
	Skills skills.Set
	Recall recall.Outcome
	// Group says that more than one person is taken to be in the conversation.
	Group bool
}

// Assemble makes the system prompt of a turn. It never fails for the sake of a memory: Prompt.Recall tells what went wrong.
// Files and skills are those on the disk at this moment. Memory is searched in the full mode alone. A mode that there is
// not counts as bootstrap.None.
func (s *Sidecar) Assemble(ctx context.Context, t Turn) Prompt {
	t = s.resolve(t)
	p := Prompt{Group: *t.Group, Files: s.files.Load(t.Mode, *t.Group)}
	if t.Mode == bootstrap.Full {
		p.Skills = s.skills.Load()
	}
	switch {
	case t.Mode != bootstrap.Full:
		p.Recall.Skipped = recall.SkippedMode
	case t.NoRecall:
		p.Recall.Skipped = recall.SkippedOff
	default:
		p.Recall = s.search(ctx, t)
	}
	in := s.input(t, p.Recall.Memories)
	in.Files, in.Skills, in.SkillsShort = p.Files, p.Skills.Block, p.Skills.Names
	p.Result = prompt.Assemble(in)
	return p
}

// Recall searches memory for a message, and returns also the framed block for a prompt, empty if nothing was recalled.
// Of the turn, Message, Channel, Group, Shared and Now count.
func (s *Sidecar) Recall(ctx context.Context, t Turn) (recall.Outcome, string) {
	t.Mode = bootstrap.Full
	t = s.resolve(t)
	out := s.search(ctx, t)
	block, shown := prompt.Frame(s.input(t, out.Memories))
	out.Memories = shown
	return out, block
}

// resolve fills in what a turn leaves open.
func (s *Sidecar) resolve(t Turn) Turn {
	switch {
	case t.Mode == "":
		t.Mode = bootstrap.Full
	case !t.Mode.Valid():
		t.Mode = bootstrap.None
	}
	group := t.InGroup()
	t.Group = &group
	if t.Shared == nil {
		t.Shared = s.opt.Shared
	}
	if t.CacheFriendly == nil {
		t.CacheFriendly = &s.opt.CacheFriendly
	}
	t.NoRecall = t.NoRecall || s.opt.NoRecall
	if t.Now.IsZero() {
		t.Now = s.opt.Now()
	}
	return t
}

// search recalls for a settled turn.
func (s *Sidecar) search(ctx context.Context, t Turn) recall.Outcome {
	return s.recall.Recall(ctx, recall.Request{Message: t.Message, Agent: s.opt.Agent, Shared: t.Shared, Group: *t.Group, Now: t.Now})
}

// input is that of a settled turn's prompt, without files and skills.
func (s *Sidecar) input(t Turn, recalled []prompt.Memory) prompt.Input {
	return prompt.Input{
		Mode: t.Mode, Group: *t.Group, Recalled: recalled, MemoryTools: !t.NoTools, Blocks: t.Blocks,
		Agent: s.opt.Agent, Model: t.Model, Channel: t.Channel, Now: t.Now,
		CacheFriendly: *t.CacheFriendly, Budget: t.Budget, Count: s.count, Key: s.opt.Key,
	}
}
