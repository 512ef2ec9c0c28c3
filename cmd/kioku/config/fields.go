package config

import (
	"slices"
	"strings"
	"time"

	"kioku/memory"
)

// Field describes one setting.
type Field struct {
	// Key as it stands in the file, "query.maxResults".
	Key string
	// Type is what a value looks like: "text", "path", "secret", "integer", "number", "true or false", "list",
	// "paths", "pairs", or the choices, "passage | chunk".
	Type string
	// Doc is a sentence for people.
	Doc string

	// memory settings may stand in a block memorySearch as well.
	memory bool
	kind   kind
	set    func(*Config, input) error
	get    func(*Config) string
}

// Env returns the name of the environment variable: "query.maxResults" is KIOKU_QUERY_MAX_RESULTS.
func (f Field) Env() string {
	var b strings.Builder
	b.WriteString("KIOKU_")
	for _, r := range f.Key {
		switch {
		case r == '.':
			b.WriteByte('_')
		case r >= 'A' && r <= 'Z':
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteString(strings.ToUpper(string(r)))
		}
	}
	return b.String()
}

// OfMemory reports whether the setting belongs to indexing and searching rather than to the command or daemon.
func (f Field) OfMemory() bool { return f.memory }

// Fields returns every setting, in the order in which people read about them.
func Fields() []Field {
	memory := memoryFields()
	for i := range memory {
		memory[i].memory = true
	}
	return slices.Concat(serviceFields(), memory, agentSideFields())
}

func serviceFields() []Field {
	return []Field{
		path("workspace", "Folder with MEMORY.md, USER.md and memory/; unset means the current folder where it is one.",
			func(c *Config) *string { return &c.Workspace }),
		agentID("agent", "Agent that commands ask about and that the workspace belongs to.",
			func(c *Config) *string { return &c.Agent }),
		agentFolders("agents", "Folders of further agents: blocks of workspace, extraPaths and agentDir by id; id=folder,... as text."),
		path("state", "Folder of the index; unset means kioku in $XDG_STATE_HOME or ~/.local/state.",
			func(c *Config) *string { return &c.State }),
		path("socket", "Unix socket of the daemon; unset means one in the state folder.",
			func(c *Config) *string { return &c.Socket }),
		text("listen", "TCP address of the daemon, none for no TCP. Beyond loopback it needs tokenFile.",
			func(c *Config) *string { return &c.Listen }),
		path("tokenFile", "File of the tokens that may connect over TCP.",
			func(c *Config) *string { return &c.TokenFile }),
		timezone("timezone", "Time zone that decides which day a note belongs to, Asia/Tokyo; Local is the system's."),
		logLevel("logLevel", "Least severe log lines that are written."),
	}
}

func memoryFields() []Field {
	return slices.Concat(providerFields(), indexFields(), sessionFields(), queryFields(), []Field{
		number("cache.maxEntries", "Embeddings kept beyond those of the texts that are indexed now.", 1, 100_000_000,
			func(c *Config) *int { return &c.CacheEntries }),
		number("memoryBudgetBytes", "Bytes of vectors held in memory for all agents; what does not fit is searched on disk.", 0, 1<<40,
			func(c *Config) *int64 { return &c.MemoryBudget }),
	})
}

func providerFields() []Field {
	return []Field{
		choice("provider", "Where vectors come from; none searches by keywords alone, openai is any compatible server.",
			[]string{"none", "hash", "openai"}, func(c *Config) *string { return &c.Embed.Provider }),
		text("model", "Embedding model; unset means the provider's default.", func(c *Config) *string { return &c.Embed.Model }),
		number("dims", "Length of the vectors where the model can shorten them; 0 means its own.", 0, 65_536,
			func(c *Config) *int { return &c.Embed.Dims }),
		choice("fallback", "Second provider. Only none is possible.", []string{"none"},
			func(c *Config) *string { return &c.Fallback }),
		text("remote.baseUrl", "Base URL of an OpenAI-compatible server; unset means the provider's own.",
			func(c *Config) *string { return &c.Embed.BaseURL }),
		secret("remote.apiKey", "Key of the provider, env:NAME or file:PATH; unset means OPENAI_API_KEY for openai's own server.",
			func(c *Config) *string { return &c.apiKey }),
		secrets("remote.headers", "Headers sent with every request; values may be env:NAME or file:PATH.",
			func(c *Config) map[string]string { return c.headers }),
	}
}

func indexFields() []Field {
	return []Field{
		paths("extraPaths", "Further files or folders to index, absolute or relative to the workspace; the last element may be a glob.",
			func(c *Config) *[]string { return &c.Index.ExtraPaths }),
		number("maxFileBytes", "Size above which a file is skipped.", 1, 1<<30, func(c *Config) *int64 { return &c.Index.MaxFileBytes }),
		number("chunking.tokens", "Most tokens of a chunk.", 16, 8192, func(c *Config) *int { return &c.Chunking.Tokens }),
		number("chunking.overlap", "Tokens that a chunk repeats of the one before; less than chunking.tokens.", 0, 8191,
			func(c *Config) *int { return &c.Chunking.Overlap }),
		choice("chunking.encoding", "Vocabulary that counts tokens.", []string{"cl100k_base", "o200k_base"},
			func(c *Config) *string { return &c.Chunking.Encoding }),
		span("sync.watchDebounceMs", "How long a file must rest before it is indexed.", time.Millisecond, 1, 600_000,
			func(c *Config) *time.Duration { return &c.Index.Debounce }),
		span("sync.maxWaitMs", "Longest wait for a file that never rests.", time.Millisecond, 1, 3_600_000,
			func(c *Config) *time.Duration { return &c.Index.MaxWait }),
		span("sync.intervalMinutes", "Time between full scans.", time.Minute, 0.01, 10_080,
			func(c *Config) *time.Duration { return &c.Index.Interval }),
	}
}

func queryFields() []Field {
	return slices.Concat([]Field{
		number("query.maxResults", "Most results of a search.", 1, 100, func(c *Config) *int { return &c.Search.MaxResults }),
		fraction("query.minScore", "Least score where vectors took part.", 1, func(c *Config) *float64 { return c.Search.MinScore }),
		fraction("query.minKeywordScore", "Least score of keywords alone.", 1, func(c *Config) *float64 { return c.Search.MinKeywordScore }),
		choice("query.granularity", "What a result is: a passage shown whole, or a chunk of 400 tokens with its best window.",
			[]string{memory.GranularityPassage, memory.GranularityChunk}, func(c *Config) *string { return &c.Search.Granularity }),
		number("query.maxSnippetChars", "Most characters of a passage or snippet.", 40, 2000, func(c *Config) *int { return &c.Search.SnippetChars }),
		toggle("query.typos", "Let a word that the index lacks stand for those that differ from it by one typo.",
			func(c *Config) *bool { return c.Search.Typos }),
		toggle("query.hybrid.enabled", "Let vectors take part.", func(c *Config) *bool { return c.Search.Hybrid }),
		weight("query.hybrid.vectorWeight", "Weight of vectors; only the ratio counts. Unset, the provider hash gets 0.3.",
			func(c *Config) (*float64, *float64) { return c.Search.VectorWeight, c.Search.WeakVectorWeight }),
		weight("query.hybrid.textWeight", "Weight of keywords. Unset, it is 0.7 beside the provider hash.",
			func(c *Config) (*float64, *float64) { return c.Search.TextWeight, c.Search.WeakTextWeight }),
		number("query.hybrid.candidateMultiplier", "Times maxResults, at least 24, are taken from the vectors.", 1, 100,
			func(c *Config) *int { return &c.Search.CandidateMultiplier }),
	}, rerankFields())
}

func rerankFields() []Field {
	return []Field{
		toggle("query.hybrid.mmr.enabled", "Re-rank for diversity.", func(c *Config) *bool { return c.Search.MMR }),
		fraction("query.hybrid.mmr.lambda", "Weight of relevance against diversity.", 1, func(c *Config) *float64 { return c.Search.MMRLambda }),
		toggle("query.hybrid.temporalDecay.enabled", "Let older notes weigh less.", func(c *Config) *bool { return c.Search.Decay }),
		span("query.hybrid.temporalDecay.halfLifeDays", "Age at which half of what lies above the floor is gone.", 24*time.Hour, 0.01, 100_000,
			func(c *Config) *time.Duration { return &c.Search.HalfLife }),
		fraction("query.hybrid.temporalDecay.floor", "What is left of the weight of the oldest notes.", 1,
			func(c *Config) *float64 { return c.Search.DecayFloor }),
		list("query.hybrid.temporalDecay.evergreen", "Globs of paths that do not decay.",
			func(c *Config) *[]string { return &c.Search.Evergreen }),
	}
}

// ignored are keys of an OpenClaw block memorySearch that have no counterpart, and what to know about each.
func ignored() map[string]string {
	return map[string]string{
		"enabled":                           "memory is always on",
		"experimental":                      "sources: [memory, sessions] is enough to have transcripts indexed",
		"local":                             "there is no local model",
		"store":                             "the index lies in the state folder",
		"sync.onSessionStart":               "the daemon keeps the index in step",
		"sync.onSearch":                     "the daemon keeps the index in step",
		"sync.watch":                        "the daemon keeps the index in step",
		"sync.sessions.postCompactionForce": "what was said stays in the transcript after a compaction",
		"remote.batch":                      "batch jobs are not used",
		"cache.enabled":                     "the cache is always on",
		"maxTokensPerDay":                   "there is no daily budget",
	}
}

// lookup finds a setting by its key; those of one agent, agents.<id>.workspace and the like, are settings too.
func lookup(key string) (Field, bool) {
	for _, f := range Fields() {
		if f.Key == key {
			return f, true
		}
	}
	if parts := strings.Split(key, "."); len(parts) == 3 && parts[0] == "agents" {
		return agentField(parts[1], parts[2])
	}
	return Field{}, false
}
