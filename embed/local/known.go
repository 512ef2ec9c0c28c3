package local

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"
)

// The ways to make one vector of those of the tokens.
const (
	poolMean = "mean"
	poolCLS  = "cls"
)

// knownModels are the pooling and the number of tokens of the model cards, by the beginning of the model's name, for folders
// without the files that say it. The first match counts.
var knownModels = []struct {
	name    string
	pooling string
	tokens  int
}{
	{"all-minilm-l12", poolMean, 128},
	{"all-minilm", poolMean, 256},
	{"paraphrase-multilingual-minilm", poolMean, 128},
	{"paraphrase-minilm", poolMean, 128},
	{"multi-qa-minilm", poolMean, 512},
	{"multilingual-e5", poolMean, 512},
	{"e5-", poolMean, 512},
	{"bge-", poolCLS, 512},
	{"gte-", poolMean, 512},
	{"mxbai-embed", poolCLS, 512},
	{"snowflake-arctic-embed", poolCLS, 512},
	{"arctic-embed", poolCLS, 512},
}

// name returns the name of the model: that of its folder, or in the cache of Hugging Face (models--BAAI--bge-m3/snapshots/5617a9f)
// that of the repository.
func (f *folder) name() string {
	dir := filepath.Clean(f.dir)
	if parent := filepath.Dir(dir); filepath.Base(parent) == "snapshots" {
		parts := strings.Split(filepath.Base(filepath.Dir(parent)), "--")
		return parts[len(parts)-1]
	}
	return filepath.Base(dir)
}

// names returns the names by which the model may be known, in lower case. What config.json calls it is often the model that it was
// trained from.
func (f *folder) names() []string {
	names := []string{f.name(), path.Base(filepath.ToSlash(f.config.Name))}
	for i, name := range names {
		names[i] = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	}
	return names
}

// setKnown sets the pooling and the number of tokens that the files do not say, from those known by name, and else the pooling to
// the mean.
func (f *folder) setKnown() {
	for _, name := range f.names() {
		for _, known := range knownModels {
			if strings.HasPrefix(name, known.name) {
				f.pooling, f.maxTokens = cmp.Or(f.pooling, known.pooling), cmp.Or(f.maxTokens, known.tokens)
			}
		}
	}
	f.pooling = cmp.Or(f.pooling, poolMean)
}

// Names of prompts in config_sentence_transformers.json.
var (
	queryPrompts    = []string{"query", "search_query", "retrieval_query"}
	documentPrompts = []string{"document", "passage", "search_document"}
)

// setPrefixes sets the prefixes: of the options, else of the files, else those known by name.
func (i *Info) setPrefixes(f *folder, opt Options) {
	for _, name := range f.names() {
		if opt.Prefixes != nil && i.QueryPrefix+i.DocumentPrefix == "" {
			i.QueryPrefix, i.DocumentPrefix = opt.Prefixes(name)
		}
	}
	f.prompts.set(&i.QueryPrefix, queryPrompts)
	f.prompts.set(&i.DocumentPrefix, documentPrompts)
	if opt.QueryPrefix != nil {
		i.QueryPrefix = *opt.QueryPrefix
	}
	if opt.DocumentPrefix != nil {
		i.DocumentPrefix = *opt.DocumentPrefix
	}
}

// set sets prefix to the first of the prompts that is not empty. Sentence Transformers writes empty ones for models whose
// authors set none.
func (p promptsFile) set(prefix *string, names []string) {
	for _, name := range names {
		if prompt := p.Prompts[name]; prompt != nil && *prompt != "" {
			*prefix = *prompt
			return
		}
	}
}
