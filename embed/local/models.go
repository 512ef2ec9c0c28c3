package local

import (
	"path"
	"strings"
)

// The ways to make one vector of those of the tokens.
const (
	poolMean = "mean"
	poolCLS  = "cls"
)

// Known is what the model card of a model says.
type Known struct {
	// Query and Document are what the model wants before a query and before a document. Many models are trained with two different
	// ones, and find less without them.
	Query, Document string
	// pooling and tokens are how the vectors of the tokens become one, and how many tokens are read, for folders without the files
	// that say it; empty and 0 if it is not known.
	pooling string
	tokens  int
}

// The instructions for queries that several models share.
const (
	searchSentence = "Represent this sentence for searching relevant passages: "
	searchChinese  = "为这个句子生成表示以用于检索相关文章："
	searchTask     = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
	searchResult   = "task: search result | query: "
	titleNone      = "title: none | text: "
)

// knownModels is what the model cards say, by the beginning of the model's name; the first match counts.
var knownModels = []struct {
	name string
	Known
}{
	{"all-minilm-l12", Known{"", "", poolMean, 128}},
	{"all-minilm", Known{"", "", poolMean, 256}},
	{"paraphrase-multilingual-minilm", Known{"", "", poolMean, 128}},
	{"paraphrase-minilm", Known{"", "", poolMean, 128}},
	{"multi-qa-minilm", Known{"", "", poolMean, 512}},
	{"gte-", Known{"", "", poolMean, 512}},
	{"multilingual-e5-large-instruct", Known{searchTask, "", poolMean, 512}},
	{"multilingual-e5", Known{"query: ", "passage: ", poolMean, 512}},
	{"e5-mistral", Known{searchTask, "", "", 0}},
	{"e5-", Known{"query: ", "passage: ", poolMean, 512}},
	{"bge-small-zh", Known{searchChinese, "", poolCLS, 512}},
	{"bge-base-zh", Known{searchChinese, "", poolCLS, 512}},
	{"bge-large-zh", Known{searchChinese, "", poolCLS, 512}},
	{"bge-small", Known{searchSentence, "", poolCLS, 512}},
	{"bge-base", Known{searchSentence, "", poolCLS, 512}},
	{"bge-large", Known{searchSentence, "", poolCLS, 512}},
	{"bge-", Known{"", "", poolCLS, 512}},
	{"mxbai-embed", Known{searchSentence, "", poolCLS, 512}},
	{"snowflake-arctic-embed-l-v2", Known{"query: ", "", poolCLS, 512}},
	{"snowflake-arctic-embed-m-v2", Known{"query: ", "", poolCLS, 512}},
	{"snowflake-arctic-embed2", Known{"query: ", "", poolCLS, 512}},
	{"snowflake-arctic-embed", Known{searchSentence, "", poolCLS, 512}},
	{"arctic-embed", Known{"", "", poolCLS, 512}},
	{"nomic-embed-text", Known{"search_query: ", "search_document: ", "", 0}},
	{"gemini-embedding-2", Known{searchResult, titleNone, "", 0}},
	{"embeddinggemma", Known{searchResult, titleNone, "", 0}},
	{"qwen3-embedding", Known{searchTask, "", "", 0}},
	{"ruri-v3", Known{"検索クエリ: ", "検索文書: ", "", 0}},
	{"ruri", Known{"クエリ: ", "文章: ", "", 0}},
}

// KnownAs returns what is known of a model, whatever is around its name: the organisation, a tag, the ending of a file
// ("text-embedding-nomic-embed-text-v1.5@q8", "hf.co/intfloat/e5-base-v2:latest"). It is zero for other models.
func KnownAs(model string) Known {
	name := strings.ToLower(path.Base(strings.TrimSpace(model)))
	name = strings.TrimPrefix(strings.ReplaceAll(name, "_", "-"), "text-embedding-")
	for _, known := range knownModels {
		if strings.HasPrefix(name, known.name) {
			return known.Known
		}
	}
	return Known{}
}
