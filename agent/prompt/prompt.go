package prompt

import (
	"strings"
	"time"
	"unicode/utf8"

	"kioku/agent/bootstrap"
	"kioku/internal/text"
)

// Names of the layers in a Result, in order of precedence. Each block of the caller is a layer named LayerBlock and the name of
// the block, and follows LayerBootstrap. Only the cache-friendly order has LayerTurn.
const (
	LayerIdentity  = "identity"
	LayerSoul      = "soul"
	LayerTools     = "tools"
	LayerSkills    = "skills"
	LayerMemory    = "memory"
	LayerBootstrap = "bootstrap"
	LayerRuntime   = "runtime"
	LayerChannel   = "channel"
	LayerTurn      = "turn"
	LayerBlock     = "block: "
)

// Input is the input of Assemble. All fields may be zero.
type Input struct {
	// Mode of the prompt; empty means bootstrap.Full. In other modes there are no soul, skills and memory.
	Mode bootstrap.Mode
	// Group says that the session has more than one person in it. MEMORY.md and memories that are not shared are left out.
	Group bool
	// Files as bootstrap.Loader returns them.
	Files []bootstrap.File
	// Skills is the section on the skills, and SkillsShort replaces it if the budget has no room for it.
	Skills, SkillsShort string
	// Recalled memories, best first.
	Recalled []Memory
	// MemoryTools says that the model has the tools memory_search, memory_get and memory_append; in a group only the last.
	MemoryTools bool
	// Blocks of the caller, which are trusted like the files. They are in the prompt in every mode.
	Blocks []Block
	// Agent and Model are names. Channel is the place of the conversation, such as "terminal" or "slack".
	Agent, Model, Channel string
	// Now is the time that the model is told, in the zone of the value; zero tells none.
	Now time.Time
	// CacheFriendly moves recalled memories and the time, which change from turn to turn, behind everything else.
	CacheFriendly bool
	// Budget in tokens; 0 means no limit.
	Budget int
	// Count counts the tokens of a text; nil means text.EstimateTokens.
	Count func(text string) int
	// Key makes the id of the frame around recalled memories unpredictable for those who do not have it. The same key and
	// input give the same id. Without a key the id still depends on everything in the frame.
	Key []byte
}

// Block is a part of the prompt that the caller adds.
type Block struct {
	// Name is the heading of the block; empty for none.
	Name, Text string
	// Volatile says that the block changes from turn to turn.
	Volatile bool
}

// Result is a prompt and its parts.
type Result struct {
	// Prompt is the whole text.
	Prompt string
	// CachedBytes is the length of the beginning of the prompt that stays the same while files, skills, blocks and budget do,
	// whatever is recalled and whatever the time is.
	CachedBytes int
	// Layers of the prompt, in order.
	Layers []Layer
	// Tokens is the size of all layers.
	Tokens int
	// Over reports that Tokens exceeds the budget although nothing more can be cut.
	Over bool
	// Recalled are the memories in the prompt.
	Recalled []Memory
	// LeftOut are the memories that are not in the prompt; nil if there are none.
	LeftOut []LeftOut
	// Cuts are the parts that were cut for the budget, in order.
	Cuts []Cut
}

// Layer is a layer of a prompt.
type Layer struct {
	Name          string // a Layer constant; LayerBlock is followed by the name of the block
	Chars, Tokens int    // the size of the layer in the prompt
}

// LeftOut is a memory that is not in the prompt, with the reason.
type LeftOut struct {
	Memory
	// Reason says why it was left out.
	Reason string
}

// Cut is a part of the prompt that was shortened for the budget.
type Cut struct {
	// Part is the name of the part, such as a layer or a file.
	Part string
	// From and To are sizes in tokens. To is 0 if the part was left out.
	From, To int
}

// part is a part of a layer.
type part struct {
	name string
	// heading precedes text. Both are left out if text is empty.
	heading, text string
	// short replaces text before the part is left out; empty for none.
	short    string
	volatile bool
	// tight parts follow the part before them without a blank line.
	tight bool
	// memories that text contains.
	memories []Memory
	// tokens of heading and text.
	tokens int
}

// layer is a list of parts under a heading.
type layer struct {
	name, heading string
	// block says that the layer is a block of the caller.
	block bool
	parts []*part
}

func (p *part) String() string {
	if p.text == "" {
		return ""
	}
	return p.heading + p.text
}

// Assemble returns the prompt for an input.
func Assemble(in Input) Result {
	if in.Mode == "" {
		in.Mode = bootstrap.Full
	}
	if in.Count == nil {
		in.Count = text.EstimateTokens
	}
	a := &assembly{Input: in}
	a.admit()
	layers := a.layers()
	for _, p := range allParts(layers) {
		p.tokens = a.tokens(p.String())
	}
	a.fit(layers)
	a.join(layers)
	for _, p := range allParts(layers) {
		a.out.Recalled = append(a.out.Recalled, p.memories...)
	}
	return a.out
}

// assembly is one call of Assemble.
type assembly struct {
	Input
	out Result
}

// admit leaves out the memories that are not for this session.
func (a *assembly) admit() {
	var kept []Memory
	for _, m := range a.Recalled {
		switch {
		case strings.TrimSpace(m.Text) == "":
			a.leaveOut(m, "empty")
		case a.Mode != bootstrap.Full:
			a.leaveOut(m, bootstrap.ReasonMode)
		case a.Group && !m.Shared:
			a.leaveOut(m, bootstrap.ReasonGroup)
		default:
			m.Flags = suspicions(m.Text)
			kept = append(kept, m)
		}
	}
	a.Recalled = kept
}

func (a *assembly) leaveOut(m Memory, reason string) {
	a.out.LeftOut = append(a.out.LeftOut, LeftOut{m, reason})
}

// allParts returns the parts of all layers.
func allParts(layers []layer) []*part {
	var parts []*part
	for _, l := range layers {
		parts = append(parts, l.parts...)
	}
	return parts
}

// tokens returns the size of a text and of the blank line before it.
func (a *assembly) tokens(text string) int {
	if text == "" {
		return 0
	}
	return a.Count(text) + 1
}

// layerTokens returns the size of the heading and the parts of a layer.
func (a *assembly) layerTokens(l layer) int {
	n := 0
	for _, p := range l.parts {
		n += p.tokens
	}
	if n > 0 {
		n += a.tokens(l.heading)
	}
	return n
}

// join makes the prompt of the layers.
func (a *assembly) join(layers []layer) {
	var b strings.Builder
	stable, changing := 0, false
	write := func(text, space string) {
		if b.Len() > 0 {
			b.WriteString(space)
		}
		b.WriteString(text)
	}
	for _, l := range layers {
		tokens, begin := a.layerTokens(l), b.Len()
		if tokens > 0 && l.heading != "" {
			write(l.heading, "\n\n")
		}
		for i, p := range l.parts {
			changing = changing || p.volatile
			switch {
			case p.text == "":
			case p.tight && l.parts[i-1].text != "":
				write(p.String(), "\n")
			default:
				write(p.String(), "\n\n")
			}
			if p.text != "" && !changing {
				stable = b.Len()
			}
		}
		if tokens > 0 {
			text := strings.TrimPrefix(b.String()[begin:], "\n\n")
			a.out.Layers = append(a.out.Layers, Layer{Name: l.name, Chars: utf8.RuneCountInString(text), Tokens: tokens})
			a.out.Tokens += tokens
		}
	}
	a.out.Prompt, a.out.CachedBytes = b.String(), stable
	a.out.Over = a.Budget > 0 && a.out.Tokens > a.Budget
}
