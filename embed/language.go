package embed

import (
	"path"
	"regexp"
	"strings"
)

// englishNames are models that were trained on English only, by the cards of their families.
var englishNames = regexp.MustCompile(`minilm-l|all-mpnet|^minilm$|-en([-_.]|$)|^(e5|gte)-(small|base|large)(-v2)?$|^e5-small|arctic-embed-(xs|s|m|l)(-v1\.5)?$|potion-(base|retrieval)|wordllama|nomic-embed-text(-v1(\.5)?)?$|^glove|mxbai-embed-large`)

// EnglishOnly reports whether the model of a space is known, by its name, to have learnt English only. What such a model makes of
// another script says nothing.
func EnglishOnly(s Space) bool {
	name := strings.ToLower(path.Base(s.Model))
	return s.Provider != "hash" && !strings.Contains(name, "multilingual") && englishNames.MatchString(name)
}
