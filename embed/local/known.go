package local

import (
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

// name returns the name of the model.
func (f *folder) name() string {
	if name := path.Base(filepath.ToSlash(f.config.Name)); f.config.Name != "" && name != "." && name != "/" {
		return name
	}
	return filepath.Base(f.dir)
}

// setPooling sets the pooling and the number of tokens that the files do not say, from those known by name, else to the mean and
// to what the tokenizer cuts texts to.
func (f *folder) setPooling(tokenizerLimit int) {
	for _, name := range []string{f.name(), filepath.Base(f.dir)} {
		name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
		for _, known := range knownModels {
			if !strings.HasPrefix(name, known.name) {
				continue
			}
			if f.pooling == "" {
				f.pooling = known.pooling
			}
			if f.maxTokens == 0 {
				f.maxTokens = known.tokens
			}
		}
	}
	if f.pooling == "" {
		f.pooling = poolMean
	}
	if f.maxTokens == 0 {
		f.maxTokens = tokenizerLimit
	}
}

// Names of prompts in config_sentence_transformers.json.
var (
	queryPrompts    = []string{"query", "search_query", "retrieval_query"}
	documentPrompts = []string{"document", "passage", "search_document"}
)

// setPrefixes sets the prefixes: of the options, else of the files, else those known by name.
func (i *Info) setPrefixes(f *folder, opt Options) {
	if opt.Prefixes != nil {
		i.QueryPrefix, i.DocumentPrefix = opt.Prefixes(i.Name)
		if i.QueryPrefix+i.DocumentPrefix == "" {
			i.QueryPrefix, i.DocumentPrefix = opt.Prefixes(filepath.Base(i.Dir))
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
