package modelstore

import (
	"slices"
	"strings"
)

// Known is a model that kioku model add knows by a short name.
type Known struct {
	// Name is the short name.
	Name string `json:"name"`
	// Repository on huggingface.co.
	Repository string `json:"repository"`
	// Revision is the commit that the checksum belongs to.
	Revision string `json:"revision"`
	// Role is what the model is for.
	Role Role `json:"role"`
	// Kind is "transformer" or "static".
	Kind string `json:"kind"`
	// MB is the size of the download in megabytes, about.
	MB int `json:"mb"`
	// License is the one of its page.
	License string `json:"license"`
	// Languages that it was trained for.
	Languages string `json:"languages"`
	// Weights is the SHA-256 of model.safetensors at the revision; empty if no public source was found that states it. Then the
	// checksum that the server announces counts.
	Weights string `json:"sha256,omitempty"`
	// Note says for whom it is.
	Note string `json:"note"`
}

// Catalog returns the known models. Their checksums are those that several public repositories pin independently.
func Catalog() []Known {
	return []Known{
		{"minilm", "sentence-transformers/all-MiniLM-L6-v2", "1110a243fdf4706b3f48f1d95db1a4f5529b4d41", Embedder, "transformer", 91,
			"Apache-2.0", "English", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
			"small and quick, where to start for notes in English"},
		{"bge-small-en", "BAAI/bge-small-en-v1.5", "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a", Embedder, "transformer", 134,
			"MIT", "English", "3c9f31665447c8911517620762200d2245a2518d6e7208acc78cd9db317e21ad",
			"better for code and documentation, half as quick"},
		{"e5-small", "intfloat/e5-small-v2", "ffb93f3bd4047442299a41ebb6fa998a38507c52", Embedder, "transformer", 134,
			"MIT", "English", "45bfa60070649aae2244fbc9d508537779b93b6f353c17b0f95ceccb1c5116c1", "questions and passages"},
		{"gte-small", "thenlper/gte-small", "17e1f347d17fe144873b1201da91788898c639cd", Embedder, "transformer", 68,
			"MIT", "English", "9a1eb90bbac323ea08aa5629b624fe6ae75db121b904799c2266a1e2c2de22d2", "half the bytes, general texts"},
		{"arctic-embed-xs", "Snowflake/snowflake-arctic-embed-xs", "d8c86521100d3556476a063fc2342036d45c106f", Embedder, "transformer", 91,
			"Apache-2.0", "English", "ee789e0b1d6ecbbd5ce37b474af556cc1a1319cee4417d9e3b11f82e90300706", "trained for retrieval"},
		{"multilingual-e5-small", "intfloat/multilingual-e5-small", "614241f622f53c4eeff9890bdc4f31cfecc418b3", Embedder, "transformer", 488,
			"MIT", "100 languages", "1a55775f53449dac10a2bcbc312469fac40b96d53198c407081a831f81c98477",
			"for notes in Japanese, Chinese and most other languages"},
		{"potion-base-8m", "minishlab/potion-base-8M", "bf8b056651a2c21b8d2565580b8569da283cab23", Embedder, "static", 31,
			"MIT", "English", "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
			"no network to run: thousands of texts a second on any machine"},
		{"potion-retrieval-32m", "minishlab/potion-retrieval-32M", "6fc8051fab2a1e0ee76689cf08c853792ac285e7", Embedder, "static", 130,
			"MIT", "English", "07609e5bd33aad37900b3fd62f4ec96f6daec88ca4d46b9d8b928bfababf6ea0", "the static one for search"},
		{"potion-multilingual-128m", "minishlab/potion-multilingual-128M", "73908c3438cf03b6a01bcb9611d62b23d0726f08", Embedder, "static", 531,
			"MIT", "101 languages", "14b5eb39cb4ce5666da8ad1f3dc6be4346e9b2d601c073302fa0a31bf7943397", "the static one for many languages"},
		{"ms-marco-minilm", "cross-encoder/ms-marco-MiniLM-L6-v2", "c5ee24cb16019beea0893ab7796b1df96625c6b8", Reranker, "transformer", 92,
			"Apache-2.0", "English", "", "re-ranks the best passages"},
	}
}

// Lookup returns the known model of a short name, or of a repository, whatever the case.
func Lookup(name string) (Known, bool) {
	all := Catalog()
	i := slices.IndexFunc(all, func(k Known) bool {
		return strings.EqualFold(name, k.Name) || strings.EqualFold(name, k.Repository)
	})
	if i < 0 {
		return Known{}, false
	}
	return all[i], true
}
