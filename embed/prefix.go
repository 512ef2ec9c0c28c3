package embed

import (
	"path"
	"strings"
)

// prefixes are what a model wants before a query and before a document. Many models are trained with two different ones, and
// find less without them.
type prefixes struct{ query, document string }

// searchSentence is the instruction for queries that several English models share.
const searchSentence = "Represent this sentence for searching relevant passages: "

// searchTask is the instruction for queries of models that are told their task.
const searchTask = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "

// knownPrefixes are the prefixes of the model cards, by the beginning of the model's name; the first match counts.
var knownPrefixes = []struct {
	name string
	prefixes
}{
	{"nomic-embed-text", prefixes{"search_query: ", "search_document: "}},
	{"multilingual-e5-large-instruct", prefixes{searchTask, ""}},
	{"e5-mistral", prefixes{searchTask, ""}},
	{"multilingual-e5", prefixes{"query: ", "passage: "}},
	{"e5-", prefixes{"query: ", "passage: "}},
	{"bge-m3", prefixes{}},
	{"bge-small-zh", prefixes{"为这个句子生成表示以用于检索相关文章：", ""}},
	{"bge-base-zh", prefixes{"为这个句子生成表示以用于检索相关文章：", ""}},
	{"bge-large-zh", prefixes{"为这个句子生成表示以用于检索相关文章：", ""}},
	{"bge-small", prefixes{searchSentence, ""}},
	{"bge-base", prefixes{searchSentence, ""}},
	{"bge-large", prefixes{searchSentence, ""}},
	{"mxbai-embed", prefixes{searchSentence, ""}},
	{"snowflake-arctic-embed-l-v2", prefixes{"query: ", ""}},
	{"snowflake-arctic-embed-m-v2", prefixes{"query: ", ""}},
	{"snowflake-arctic-embed2", prefixes{"query: ", ""}},
	{"snowflake-arctic-embed", prefixes{searchSentence, ""}},
	{"gemini-embedding-2", prefixes{"task: search result | query: ", "title: none | text: "}},
	{"embeddinggemma", prefixes{"task: search result | query: ", "title: none | text: "}},
	{"qwen3-embedding", prefixes{searchTask, ""}},
	{"ruri-v3", prefixes{"検索クエリ: ", "検索文書: "}},
	{"ruri", prefixes{"クエリ: ", "文章: "}},
}

// prefixesOf returns the prefixes that a model is known to want, whatever is around its name: the organisation, a tag, the
// ending of a file ("text-embedding-nomic-embed-text-v1.5@q8", "hf.co/intfloat/e5-base-v2:latest"). Both are empty for other
// models.
func prefixesOf(model string) prefixes {
	name := strings.ToLower(path.Base(strings.TrimSpace(model)))
	name = strings.TrimPrefix(strings.ReplaceAll(name, "_", "-"), "text-embedding-")
	for _, known := range knownPrefixes {
		if strings.HasPrefix(name, known.name) {
			return known.prefixes
		}
	}
	return prefixes{}
}

// prefixes returns the prefixes of the configuration, else those of the model.
func (cfg Config) prefixes(model string) prefixes {
	var p prefixes
	if cfg.Provider != "voyage" { // it is told queries from documents
		p = prefixesOf(model)
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
