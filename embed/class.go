package embed

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Class is how far the vectors of a model can be trusted beside the words of a text.
type Class int

const (
	// Large models have some hundred million parameters or more; those behind a paid interface are.
	Large Class = iota
	// Small models are of the size of MiniLM and of the small and base ones of other families.
	Small
	// Static models average one vector a token, as Model2Vec and wordllama do.
	Static
	// Weak vectors are of no model, such as hashed features.
	Weak
)

// classNames are the names of the classes in settings, in their order.
var classNames = []string{"large", "small", "static", "weak"}

// ClassNames returns the names of the classes.
func ClassNames() []string { return slices.Clone(classNames) }

// String returns the name of a class.
func (c Class) String() string {
	if c < 0 || int(c) >= len(classNames) {
		return fmt.Sprintf("class %d", int(c))
	}
	return classNames[c]
}

// largeDims is the number of dimensions from which on a model of unknown name counts as large.
const largeDims = 1000

var (
	staticNames = regexp.MustCompile(`model2vec|potion-|wordllama|(^|[-_])static([-_.]|$)|glove|fasttext`)
	largeNames  = regexp.MustCompile(`large|[0-9](\.[0-9]+)?b([-_.:]|$)|bge-m3|qwen3|jina-embeddings-v[3-9]|e5-mistral|gemini|voyage|text-embedding-(3|ada|v)`)
	smallNames  = regexp.MustCompile(`minilm|(^|[-_])(small|base|tiny|mini|xs|s|m)([-_.:]|$)|small|nomic-embed|embeddinggemma`)
)

// ClassOf returns the class of the models of a space, by the provider and the name, else by the number of dimensions. A model
// of unknown name and dimensions counts as small.
func ClassOf(s Space) Class {
	name := strings.ToLower(path.Base(s.Model))
	switch {
	case s.Provider == "hash":
		return Weak
	case s.Provider == "gemini", s.Provider == "voyage", s.Provider == "mistral":
		return Large
	case staticNames.MatchString(name):
		return Static
	case largeNames.MatchString(name):
		return Large
	case smallNames.MatchString(name):
		return Small
	case s.Dims >= largeDims:
		return Large
	}
	return Small
}

// classOf returns the class of a name, or that of the space if the name is empty or "auto".
func classOf(name string, s Space) Class {
	if i := slices.Index(classNames, name); i >= 0 {
		return Class(i)
	}
	return ClassOf(s)
}
