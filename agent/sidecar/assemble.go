package sidecar

import (
	"context"
	"slices"
	"time"

	"kioku/agent/bootstrap"
	"kioku/agent/prompt"
	"kioku/agent/recall"
	"kioku/agent/skills"
	"kioku/memory"
)

// Turn describes the turn for which a prompt is made. Its members in JSON are those that a request may set.
type Turn struct {
	// Message of the user, for which memory is searched.
	Message string `json:"message,omitempty"`
	// Recent are the messages before it, oldest first; none if they are not known. They take part in the search if derivation is on.
	Recent []memory.Turn `json:"context,omitempty"`
	// Mode of the prompt; empty means bootstrap.Full.
	Mode bootstrap.Mode `json:"mode,omitempty"`
	// Channel of the conversation; see IsGroup. It may be empty.
	Channel string `json:"channel,omitempty"`
	// Group says whether more than one person is in the conversation; nil means that the channel decides.
	Group *bool `json:"group,omitempty"`
	// Author of the message; nil if it is not known. In private that is the owner of the memory.
	Author *memory.Author `json:"author,omitempty"`
	// Model is the name of the model, which the prompt tells; empty for none.
	Model string `json:"model,omitempty"`
	// Shared replaces Settings.Shared; nil keeps it.
	Shared []string `json:"shared_agents,omitempty"`
	// Directives of a council; see Obey.
	Directives []string `json:"-"`
	// Blocks that the caller adds to the prompt.
	Blocks []prompt.Block `json:"blocks,omitempty"`
	// Budget in tokens; 0 means no limit.
	Budget int `json:"budget_tokens,omitempty"`
	// CacheFriendly moves what changes from turn to turn out of the prompt, into a block of the newest message. nil means unless
	// Settings.OldOrder is set.
	CacheFriendly *bool `json:"cache_friendly,omitempty"`
	// NoTools leaves out the rules for the memory tools.
	NoTools bool `json:"no_memory_tools,omitempty"`
	// Standing has Recall and FrameInput begin with the standing instructions and preferences, as a conversation should, and what follows a compaction.
	Standing bool `json:"-"`
	// NoRecall skips the search, and derived preferences.
	NoRecall bool `json:"no_recall,omitempty"`
	// Shown are the keys of the passages (see [prompt.Memory.Key]) that earlier messages of the conversation are still sent with.
	// The cache-friendly order does not repeat their texts.
	Shown []string `json:"-"`
	// Now is the time of the turn; zero means the clock.
	Now time.Time `json:"ask_time,omitzero"`
	// Session is the name of the conversation, for the record of turns; may be empty.
	Session string `json:"session,omitempty"`
	// Transcript says that the message is in a transcript of Kioku, so that the record of turns contains it too.
	Transcript bool `json:"-"`
	// Preview says that the prompt is not sent to a model. It is not recorded.
	Preview bool `json:"-"`
}

// InGroup reports whether more than one person is assumed to be in the conversation.
func (t Turn) InGroup() bool {
	if t.Group != nil {
		return *t.Group
	}
	return IsGroup(t.Channel)
}

// Said says who has said the message of the turn, and where.
func (t Turn) Said() memory.Said {
	return memory.Said{Author: t.Author, Channel: t.Channel, Group: t.InGroup()}
}

// IsPrivate reports whether the conversation is with nobody but the owner, so that private memory belongs in its prompt. Somebody
// else may be shown it only if the caller says that the conversation is no group.
func (t Turn) IsPrivate() bool {
	return !t.InGroup() && (t.Group != nil || t.Said().ByOwner())
}

// Prompt is a system prompt and its sources.
type Prompt struct {
	prompt.Result
	// Files are the bootstrap files, including those that are missing.
	Files []bootstrap.File
	// Skills that were found.
	Skills skills.Set
	// Recall is what was recalled; zero if nothing was searched.
	Recall recall.Outcome
	// Group reports that more than one person is assumed to be in the conversation, or that it is with somebody else than the owner.
	Group bool
}

// Assemble returns the system prompt of a turn, with the files and skills that are on disk now. It never fails because of a
// memory; Prompt.Recall says what went wrong. Only the full mode searches memory. An unknown mode counts as bootstrap.None.
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
		p.Recall = s.search(ctx, t, spareFor(p.Files))
	}
	if *t.CacheFriendly {
		for i, m := range p.Recall.Memories {
			p.Recall.Memories[i].Shown = slices.Contains(t.Shown, m.Key())
		}
	}
	in := s.input(t, p.Recall.Memories)
	in.Files, in.Skills, in.SkillsShort = p.Files, p.Skills.Block, p.Skills.Names
	if !t.NoRecall {
		in.Preferences = s.preferences(ctx, t)
	}
	p.Result = prompt.Assemble(in)
	if !t.Preview {
		s.turns.Record(promptEntry(t, p))
	}
	return p
}

// Recall searches memory for a message. It also returns the framed section for a prompt, empty if nothing was recalled. It uses
// Message, Recent, Channel, Group, Shared, Standing, Now and Session of the turn.
func (s *Sidecar) Recall(ctx context.Context, t Turn) (recall.Outcome, string) {
	t.Mode = bootstrap.Full
	t = s.resolve(t)
	out := s.search(ctx, t, 0)
	block, shown := prompt.Frame(s.FrameInput(ctx, t, out.Memories))
	out.Memories = shown
	if !t.Preview {
		s.turns.Record(recallEntry(t, out))
	}
	return out, block
}

// resolve sets the defaults of a turn.
func (s *Sidecar) resolve(t Turn) Turn {
	switch {
	case t.Mode == "":
		t.Mode = bootstrap.Full
	case !t.Mode.Valid():
		t.Mode = bootstrap.None
	}
	group := !t.IsPrivate()
	t.Group = &group
	if t.Shared == nil {
		t.Shared = s.opt.Shared
	}
	if t.CacheFriendly == nil {
		friendly := !s.opt.OldOrder
		t.CacheFriendly = &friendly
	}
	t.NoRecall = t.NoRecall || s.opt.NoRecall
	if t.Now.IsZero() {
		t.Now = s.opt.Now()
	}
	return t
}

// search recalls for a resolved turn, with spare passages.
func (s *Sidecar) search(ctx context.Context, t Turn, spare int) recall.Outcome {
	return s.recall.Recall(ctx, recall.Request{
		Message: t.Message, Agent: s.opt.Agent, Shared: t.Shared, Group: *t.Group, Spare: spare, Now: t.Now, Context: t.Recent,
	})
}

// hitsPerFile is how many hits a search returns of one file as long as others have something as good.
const hitsPerFile = 2

// spareFor returns how many passages may be found that stand in files of the prompt.
func spareFor(files []bootstrap.File) (spare int) {
	for _, f := range files {
		if f.Text != "" {
			spare += hitsPerFile
		}
	}
	return spare
}

// input returns the input of the prompt for a resolved turn, without files and skills.
func (s *Sidecar) input(t Turn, recalled []prompt.Memory) prompt.Input {
	return prompt.Input{
		Mode: t.Mode, Group: *t.Group, Recalled: recalled, MaxRecalled: s.recall.TopK(), MemoryTools: !t.NoTools, Blocks: t.Blocks,
		Directives: t.Directives, Agent: s.opt.Agent, Model: t.Model, Channel: t.Channel, Now: t.Now,
		CacheFriendly: *t.CacheFriendly, Budget: t.Budget, Count: s.count, Key: s.opt.Key,
	}
}
