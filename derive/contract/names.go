package contract

import (
	"slices"

	"kioku/derive/vocab"
)

// Contracts with their versions. A new version asks or reads differently, so that answers to an old one are not used again.
const (
	NameExpand   = "expand/2"
	NameRerank   = "rerank/2"
	NameEntities = "entities/1"
	NameFacts    = "facts/1"
	NameLoops    = "loops/1"
	NameSummary  = "summary/1"
	NameExtract  = "extract/2"
)

// Contracts makes prompts and reads answers. The zero value uses the vocabulary without settings.
type Contracts struct {
	// Vocabulary of the predicates of facts; nil means vocab.Default().
	Vocabulary *vocab.Vocabulary
	// EntityTypes are types of entities beside vocab.EntityTypes.
	EntityTypes []string
	// UserNames are names of the owner of the memory. A fact about one of them is a fact about memory.UserName.
	UserNames []string
	// Reflections has extract ask for a reflection on each episode.
	Reflections bool
	// Delimiter returns the word around the data of a prompt, another one each time; nil means 26 random letters and digits.
	Delimiter func() string
}

// vocabulary returns the vocabulary in use.
func (c Contracts) vocabulary() *vocab.Vocabulary {
	if c.Vocabulary == nil {
		return vocab.Default()
	}
	return c.Vocabulary
}

// entityTypes returns all types of entities.
func (c Contracts) entityTypes() []string {
	return append(slices.Clone(vocab.EntityTypes), c.EntityTypes...)
}

// The most loops and entities that a prompt offers.
const (
	maxOfferedLoops    = 20
	maxOfferedEntities = 40
)
