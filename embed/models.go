package embed

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"kioku/embed/local"
)

// prefixes are what is written before a query and before a document.
type prefixes struct{ query, document string }

// prefixes returns the prefixes of the configuration, else those that the model is known to want.
func (cfg Config) prefixes(model string) prefixes {
	var p prefixes
	if cfg.Provider != "voyage" { // it is told queries from documents
		known := local.KnownAs(model)
		p = prefixes{known.Query, known.Document}
	}
	if cfg.QueryPrefix != nil {
		p.query = *cfg.QueryPrefix
	}
	if cfg.DocumentPrefix != nil {
		p.document = *cfg.DocumentPrefix
	}
	return p
}

// before returns texts as they are sent.
func (p prefixes) before(kind textKind, texts []string) []string {
	prefix := p.document
	if kind == query {
		prefix = p.query
	}
	if prefix == "" {
		return texts
	}
	sent := make([]string, len(texts))
	for i, t := range texts {
		sent[i] = prefix + t
	}
	return sent
}

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

// classNames are the names of the classes, in their order.
var classNames = []string{"large", "small", "static", "weak"}

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

// englishNames are models that were trained on English only, by the cards of their families.
var englishNames = regexp.MustCompile(`minilm-l|all-mpnet|^minilm$|-en([-_.]|$)|^(e5|gte)-(small|base|large)(-v2)?$|^e5-small|arctic-embed-(xs|s|m|l)(-v1\.5)?$|potion-(base|retrieval)|wordllama|nomic-embed-text(-v1(\.5)?)?$|^glove|mxbai-embed-large`)

// EnglishOnly reports whether the model of a space is known, by its name, to have learnt English only. What such a model makes of
// another script says nothing.
func EnglishOnly(s Space) bool {
	name := strings.ToLower(path.Base(s.Model))
	return s.Provider != "hash" && !strings.Contains(name, "multilingual") && englishNames.MatchString(name)
}
