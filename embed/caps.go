package embed

import (
	"path"
	"strings"
)

// The size of a request to a provider whose caps are not known, or are larger.
const (
	defaultItems  = 64
	defaultTokens = 100_000
)

// capMargin is the part of a cap of tokens that is used: tokens are estimated.
const capMargin = 0.75

// knownCaps are the most texts and tokens that a provider takes in one request, by the beginning of the model's name; 0 means no
// known cap. The first match counts. A cap that is not known is found out: the client halves a request that is refused.
var knownCaps = []struct {
	provider, model string
	items, tokens   int
}{
	// https://platform.openai.com/docs/api-reference/embeddings/create
	{"openai", "text-embedding-3", 2048, 300_000},
	{"openai", "text-embedding-ada", 2048, 300_000},
	// DashScope, by its OpenAI-compatible interface: "batch size is invalid, it should not be larger than 10" (25 before v3),
	// https://help.aliyun.com/zh/model-studio/text-embedding-synchronous-api
	{"openai", "text-embedding-v1", 25, 0},
	{"openai", "text-embedding-v2", 25, 0},
	{"openai", "text-embedding-v", 10, 0},
	// https://docs.z.ai and https://open.bigmodel.cn: at most 64 texts
	{"openai", "embedding-3", 64, 0},
	// "at most 100 requests can be in one batch", also by its OpenAI-compatible interface
	{"openai", "gemini-embedding", 100, 0},
	{"gemini", "", 100, 0},
	// https://docs.voyageai.com/reference/embeddings-api
	{"voyage", "voyage-4-lite", 1000, 1_000_000},
	{"voyage", "voyage-3.5-lite", 1000, 1_000_000},
	{"voyage", "voyage-4-large", 1000, 120_000},
	{"voyage", "voyage-4", 1000, 320_000},
	{"voyage", "voyage-3.5", 1000, 320_000},
	{"voyage", "voyage-2", 1000, 320_000},
	{"voyage", "", 1000, 120_000},
	// "Too many inputs in request" above 256, "Too many tokens in batch. Max is 16384"
	{"mistral", "", 256, 16_384},
	// No cap of the server's: a model on a small machine needs seconds for this much.
	{"ollama", "", 32, 16_384},
}

// batchCaps returns how many texts and tokens to send to a model in one request.
func batchCaps(provider, model string) (items, tokens int) {
	items, tokens = defaultItems, defaultTokens
	name := strings.ToLower(path.Base(model))
	for _, c := range knownCaps {
		if c.provider != provider || !strings.HasPrefix(name, c.model) {
			continue
		}
		if c.items > 0 {
			items = min(items, c.items)
		}
		if c.tokens > 0 {
			tokens = min(tokens, int(capMargin*float64(c.tokens)))
		}
		break
	}
	return items, tokens
}
