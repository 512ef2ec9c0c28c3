package prompt

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kioku/agent/bootstrap"
	"kioku/internal/text"
	"kioku/memory"
)

// Names of the layers in a Result, in order of precedence. Each block of the caller is a layer named LayerBlock and the name of
// the block, and follows LayerBootstrap; in the cache-friendly order a block that changes follows LayerChannel. Only this order
// has LayerTurn.
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
	// Preferences are facts about what the user likes and wants, best first. They follow the standing instructions and preferences of
	// MEMORY.md and USER.md. The prompt has those of them that the files in it lack.
	Preferences []Memory
	// Recalled memories, best first. Those whose text stands in a file of the prompt, uncut, are left out.
	Recalled []Memory
	// Start has Frame begin with what MEMORY.md and USER.md in Files say, and call Recalled what is open and the notes of the last days:
	// a session begins, so that nothing was found for a message.
	Start bool
	// MaxRecalled is the maximum number of memories in the prompt; 0 means all.
	MaxRecalled int
	// MemoryTools says that the model has the tools memory_search, memory_get and memory_append; in a group only the last.
	MemoryTools bool
	// Blocks of the caller, which are trusted like the files. They are in the prompt in every mode.
	Blocks []Block
	// Agent and Model are names. Channel is the place of the conversation, such as "terminal" or "slack".
	Agent, Model, Channel string
	// Directives are what the agent is told to heed by a council, each a line of at most 200 characters.
	Directives []string
	// Now is the time that the model is told, in the zone of the value; zero tells none.
	Now time.Time
	// CacheFriendly moves recalled memories, the time and changing blocks, which change from turn to turn, out of the prompt into
	// Result.Turn.
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
	Name string `json:"name,omitempty"`
	Text string `json:"text"`
	// Volatile says that the block changes from turn to turn.
	Volatile bool `json:"changing,omitempty"`
}

// Result is a prompt and its parts.
type Result struct {
	// Prompt is the system prompt.
	Prompt string
	// CachedBytes is the length of the beginning of the prompt that stays the same while files, skills, blocks and budget do,
	// whatever is recalled and whatever the time is. In the cache-friendly order it is all of it.
	CachedBytes int
	// Turn is what the newest message of the user is sent with in the cache-friendly order, between two tags that
	// memory.StripRecalled knows; empty if there is nothing, and in the other order.
	Turn string
	// TurnTokens is the part of Tokens that is Turn.
	TurnTokens int
	// Layers of the prompt, in order.
	Layers []Layer
	// Tokens is the size of all layers, those of Turn included.
	Tokens int
	// Over reports that Tokens exceeds the budget although nothing more can be cut.
	Over bool
	// Recalled are the recalled memories in the prompt.
	Recalled []Memory
	// LeftOut are the memories that are not in the prompt; nil if there are none.
	LeftOut []LeftOut
	// Cuts are the parts that were cut for the budget, in order.
	Cuts []Cut
}

// Whole returns the prompt and, after a blank line, the turn block.
func (r Result) Whole() string {
	if r.Turn == "" {
		return r.Prompt
	}
	return r.Prompt + "\n\n" + r.Turn
}

// Layer is a layer of a prompt.
type Layer struct {
	Name   string `json:"name"`   // a Layer constant; LayerBlock is followed by the name of the block
	Chars  int    `json:"chars"`  // the size of the layer in the prompt
	Tokens int    `json:"tokens"` // the size of the layer in the prompt
}

// LeftOut is a memory that is not in the prompt, with the reason.
type LeftOut struct {
	Memory
	// Reason says why it was left out.
	Reason string `json:"reason"`
}

// Cut is a part of the prompt that was shortened for the budget.
type Cut struct {
	// Part is the name of the part, such as a layer or a file.
	Part string `json:"part"`
	// From and To are sizes in tokens. To is 0 if the part was left out.
	From int `json:"from_tokens"`
	To   int `json:"to_tokens"`
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
	// memories that text contains, and frame, which makes the text of them.
	memories []Memory
	frame    func(memories []Memory) string
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
	texts := a.fileTexts()
	for range maxPasses {
		a = &assembly{Input: in, present: presentIn(texts)}
		after, cut := a.textsAfterCuts(a.assemble())
		if !cut || slices.Equal(after, texts) {
			break
		}
		texts = after // what was cut may have been a standing instruction, or what a memory says
	}
	return a.out
}

// maxPasses is how often a prompt is assembled at most, because what one pass cuts may be missing in the next one.
const maxPasses = 3

// assemble makes the prompt, and returns its layers.
func (a *assembly) assemble() []layer {
	a.standing = a.standingPart()
	for _, m := range a.standing.memories {
		a.present += presentIn([]string{m.Text})
	}
	a.admit()
	layers, turn := a.layers()
	for _, p := range allParts(slices.Concat(layers, turn)) {
		p.tokens = a.tokens(p.String())
	}
	if !a.CacheFriendly {
		a.fit(layers, a.Budget)
		a.out.Prompt, a.out.CachedBytes = a.join(layers)
	} else {
		// What the turn needs must not change what is cut of the prompt.
		a.fit(layers, a.Budget-a.Budget/turnParts)
		a.out.Prompt, a.out.CachedBytes = a.join(layers)
		a.joinTurn(turn)
	}
	a.out.Over = a.Budget > 0 && a.out.Tokens > a.Budget
	for _, p := range allParts(slices.Concat(layers, turn)) {
		if p.name == recalledPart {
			a.out.Recalled = append(a.out.Recalled, p.memories...)
		}
	}
	return layers
}

const (
	// turnParts: 1/turnParts of the budget is kept for the turn block, which also has what the prompt leaves.
	turnParts = 8
	// turnIntro begins the turn block.
	turnIntro = "The user did not write this: the agent's program adds it to the message."
)

// joinTurn makes the turn block of its layers.
func (a *assembly) joinTurn(turn []layer) {
	frame := func(text string) string {
		id := a.id(text, a.Now)
		return fmt.Sprintf("<%s id=%q>\n%s\n\n%s\n</%s id=%q>", memory.TurnTag, id, turnIntro, text, memory.TurnTag, id)
	}
	before := a.out.Tokens
	if a.Budget > 0 {
		a.fit(turn, max(a.Budget-before-a.tokens(frame("")), 1))
	}
	text, _ := a.join(turn)
	if text == "" {
		return
	}
	a.out.Turn = frame(text)
	if n := len(a.out.Layers); n == 0 || a.out.Layers[n-1].Name != LayerTurn {
		a.out.Layers = append(a.out.Layers, Layer{Name: LayerTurn})
	}
	l := &a.out.Layers[len(a.out.Layers)-1]
	l.Chars, l.Tokens = l.Chars+utf8.RuneCountInString(frame("")), l.Tokens+a.tokens(frame(""))
	a.out.Tokens += a.tokens(frame(""))
	a.out.TurnTokens = a.out.Tokens - before
}

// assembly is one call of Assemble.
type assembly struct {
	Input
	// present is what the files in the prompt and the standing lines say.
	present present
	// standing has the standing instructions and preferences.
	standing *part
	out      Result
}

// admit leaves out the memories that are not for this session.
func (a *assembly) admit() {
	var kept []Memory
	passages := 0
	for _, m := range a.Recalled {
		switch {
		case strings.TrimSpace(m.Text) == "":
			a.leaveOut(m, "empty")
		case a.Mode != bootstrap.Full:
			a.leaveOut(m, bootstrap.ReasonMode)
		case a.Group && !m.Shared:
			a.leaveOut(m, bootstrap.ReasonGroup)
		case a.present.has(m.Text), m.Quote != "" && a.present.hasItem(m.Quote):
			a.leaveOut(m, ReasonPresent)
		case m.Kind == "" && a.MaxRecalled > 0 && passages == a.MaxRecalled:
		default:
			if m.Kind == "" {
				passages++
			}
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

// join returns the text of the layers, and the length of its beginning that does not change. It adds the layers to the result.
func (a *assembly) join(layers []layer) (text string, stable int) {
	var b strings.Builder
	changing := false
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
			own := strings.TrimPrefix(b.String()[begin:], "\n\n")
			a.out.Layers = append(a.out.Layers, Layer{Name: l.name, Chars: utf8.RuneCountInString(own), Tokens: tokens})
			a.out.Tokens += tokens
		}
	}
	return b.String(), stable
}
