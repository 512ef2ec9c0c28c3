package prompt

import (
	"strings"
	"time"
	"unicode/utf8"

	"kioku/agent/bootstrap"
	"kioku/internal/text"
)

// Names of the layers in a Result, strongest first. Each block of the caller is a layer of its own, named LayerBlock and its
// name; it comes after LayerBootstrap. LayerTurn is there in the cache-friendly order alone.
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

// Input is what a prompt is made of. Everything but the files may be left out.
type Input struct {
	// Mode, empty for bootstrap.Full. In any other there are no soul, skills and memory.
	Mode bootstrap.Mode
	// Group is a session with more than one person in it. MEMORY.md and memories that are not shared stay out of it.
	Group bool
	// Files as bootstrap.Loader gives them.
	Files []bootstrap.File
	// Skills is what is said of the skills, and SkillsShort what is said if the budget has no room for that.
	Skills, SkillsShort string
	// Recalled memories, best first.
	Recalled []Memory
	// MemoryTools says that the model has the tools memory_search, memory_get and memory_append, in a group the last alone.
	MemoryTools bool
	// Blocks of the caller's own, trusted as the files are. They are there in every mode.
	Blocks []Block
	// Agent and Model are names; Channel is where the conversation takes place, such as "terminal" or "slack".
	Agent, Model, Channel string
	// Now is the time that the model is told, in its own zone; zero for none.
	Now time.Time
	// CacheFriendly moves what changes from turn to turn, recalled memories and the time, behind everything else.
	CacheFriendly bool
	// Budget in tokens, 0 for none.
	Budget int
	// Count counts the tokens of a text; nil means an estimate, one for four characters of ASCII and one for any other.
	Count func(text string) int
	// Key makes the id of the frame around recalled memories a secret: who does not know it cannot tell the id that a
	// memory will be framed with. With the same key the same input has the same id. Without a key the id still depends on
	// all that is framed.
	Key []byte
}

// Block is a part of the prompt that the caller adds.
type Block struct {
	// Name is its heading.
	Name, Text string
	// Volatile blocks change from turn to turn.
	Volatile bool
}

// Result is a prompt and what it consists of.
type Result struct {
	Prompt string
	// CachedBytes is how much of the beginning of the prompt stays the same as long as files, skills, blocks and budget do,
	// whatever is recalled and whatever the time is.
	CachedBytes int
	// Layers that are there, in their order.
	Layers []Layer
	// Tokens of all layers. Over says that they are more than the budget although nothing is left to be cut.
	Tokens int
	Over   bool
	// Recalled are the memories in the prompt, and LeftOut those that are not.
	Recalled []Memory
	LeftOut  []LeftOut
	// Cuts are what the budget has cost, in the order in which it was taken.
	Cuts []Cut
}

// Layer is a layer of a prompt.
type Layer struct {
	Name          string
	Chars, Tokens int
}

// LeftOut is a memory that is not in the prompt, with the reason.
type LeftOut struct {
	Memory
	Reason string
}

// Cut is a part of the prompt that was shortened for the budget. To is 0 if it was left out.
type Cut struct {
	Part     string
	From, To int
}

// part is a piece of a layer.
type part struct {
	name string
	// heading stands before text, and both are left out if text is empty.
	heading, text string
	// short replaces text before that is left out.
	short    string
	volatile bool
	// tight parts go on in the list of the part before them.
	tight bool
	// memories are those that text shows.
	memories []Memory
	// tokens of heading and text.
	tokens int
}

// layer is a run of parts under a heading.
type layer struct {
	name, heading string
	// block says that it is the caller's.
	block bool
	parts []*part
}

func (p *part) String() string {
	if p.text == "" {
		return ""
	}
	return p.heading + p.text
}

// Assemble makes a prompt.
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
	a.measure(layers)
	a.fit(layers)
	a.join(layers)
	for _, p := range all(layers) {
		a.out.Recalled = append(a.out.Recalled, p.memories...)
	}
	return a.out
}

// assembly is one call of Assemble.
type assembly struct {
	Input
	out Result
}

// admit drops the memories that are not for this session, and tells so.
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

// all returns the parts of all layers.
func all(layers []layer) []*part {
	var parts []*part
	for _, l := range layers {
		parts = append(parts, l.parts...)
	}
	return parts
}

// measure counts the tokens of all parts.
func (a *assembly) measure(layers []layer) {
	for _, p := range all(layers) {
		p.tokens = a.tokens(p.String())
	}
}

// tokens of a text and of the blank line before it.
func (a *assembly) tokens(text string) int {
	if text == "" {
		return 0
	}
	return a.Count(text) + 1
}

// layerTokens are those of a layer's heading and parts.
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

// join writes the layers.
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
