package config

import (
	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/memory"
	"kioku/server"
)

// tokensMost is a bound of numbers of tokens.
const tokensMost = "0..1e12"

// newRegistry returns the settings of a config that contains the defaults, in the order of the documentation. A setting stands here and
// nowhere else: its place in the config, its key, what it may be and what it means.
func newRegistry(c *Config) *registry {
	r := &registry{}
	r.daemon(c)
	r.memory = true
	r.embedding(c)
	r.indexing(c)
	r.searching(c)
	r.memory = false
	r.turns(c)
	r.languageModel(c)
	r.derivation(c)
	return r
}

// daemon registers the settings of the command and the daemon.
func (r *registry) daemon(c *Config) {
	r.group = "Workspace and daemon"
	r.add(&c.Workspace, "workspace", pathType, "Folder of notes; unset means the one that is found from the current folder, see folders.md.")
	r.add(&c.Agent, "agent", textType, "Agent that commands use and that the workspace belongs to; unset means the one that has the folder, else main, whose index is one of its own for each folder.", agentID)
	r.agents(c, "agents", "Folders of further agents: blocks of workspace, extraPaths and agentDir by id; id=folder,... as text.")
	r.add(&c.State, "state", pathType, "Folder of the index; unset means kioku in $XDG_STATE_HOME or ~/.local/state.")
	r.add(&c.Socket, "socket", pathType, "Unix socket of the daemon; unset means one in the state folder.")
	r.add(&c.Listen, "listen", textType, "TCP address of the daemon; none disables TCP. An address beyond loopback needs tokenFile, tls.cert and tls.key.")
	r.add(&c.TokenFile, "tokenFile", pathType, "File of the tokens, and of the names in certificates, that may connect over TCP.")
	r.add(&c.Store, "store", secretType, "Addresses of the PostgreSQL databases of a cluster (postgres://user@host/database), separated by commas, or env:NAME or file:PATH. Unset means that this machine keeps all by itself.")
	r.add(&c.NodeAddress, "cluster.address", textType, "Address at which the other nodes of the cluster reach this one, such as 10.0.0.7:7600; unset means listen.")
	r.add(&c.Tokens, "tokens", secretType, "What a tokenFile contains, instead of one: for containers that get it in KIOKU_TOKENS, or by env:NAME.")
	r.inFolder = true
	r.add(&c.Location, "timezone", textType, "Time zone that decides which day a note belongs to, such as Asia/Tokyo; Local is the system's.")
	r.inFolder = false
	r.add(&c.LogLevel, "logLevel", "debug | info | warn | error", "Minimum log level.")
	r.add(&c.Offline, "offline", toggleType, "Send nothing to another machine: no texts, no questions, no downloads. Servers on this machine, at loopback addresses and Unix sockets, are still used.")
	r.add(&c.MemoryBudget, "memoryBudgetBytes", "0..1099511627776", "Maximum number of bytes of vectors in memory for all agents; the rest is searched on disk.")
	r.add(&c.Council.Folder, "council.folder", pathType, "Folder with a council.yaml, which kioku serve runs and kioku council asks; see council.md. "+
		"Unset means that kioku council looks for one in the current folder and above, and kioku serve runs none.")

	r.group = "Network"
	r.add(&c.TLS.Cert, "tls.cert", pathType, "PEM file of the certificate of the TCP address, with its chain. It is read again when it changes.")
	r.add(&c.TLS.Key, "tls.key", pathType, "PEM file of the private key of tls.cert.")
	r.add(&c.TLS.ClientCA, "tls.clientCA", pathType, "PEM file of authorities; clients over TCP must have a certificate of one of them.")
	r.add(&c.InsecurePlaintext, "insecurePlaintext", toggleType, "Permit an address beyond loopback without TLS: tokens and memories can be read on the network.")
	r.add(&c.Hosts, "http.hosts", listType, "Names under which a proxy or other machines reach the daemon by HTTP; localhost, addresses and the names of the certificate need not be there.")
	r.add(&c.Origins, "http.origins", listType, "Web sites whose pages may send requests to the daemon by HTTP, such as https://example.org.",
		func(item string) (string, error) { return item, server.CheckOrigin(item) })
	r.add(&c.Client.Target, "client.target", textType, "host:port of the daemon that commands and kioku agent use, or unix:///path; unset means the daemon of the state folder.")
	r.add(&c.Client.Token, "client.token", secretType, "Token that commands send to client.target, env:NAME or file:PATH.")
	r.add(&c.Client.CA, "client.ca", pathType, "PEM file of the authorities of client.target; unset means those of the system. TLS is used beyond loopback, and wherever client.ca or client.cert is set.")
	r.add(&c.Client.Cert, "client.cert", pathType, "PEM file of the certificate that is shown to it; unset shows none.")
	r.add(&c.Client.Key, "client.key", pathType, "PEM file of the private key of client.cert.")
	r.add(&c.AgentListen, "sidecar.listen", textType, "TCP address of kioku agent, which uses the memory at client.target; none disables TCP. An address beyond loopback needs tokenFile.")

	r.group = "Audit log and traces of the daemon"
	r.add(&c.Audit.File, "audit.file", pathType, "File of the audit log, a line of JSON for each call: who read or wrote which agent, without any text of notes; unset keeps none. See observability.md.")
	r.add(&c.Audit.Required, "audit.required", toggleType, "Refuse calls while they cannot be recorded in the audit log.")
	r.add(&c.Tracing.Endpoint, "tracing.endpoint", textType, "URL of an OpenTelemetry collector that takes traces by OTLP over HTTP, such as http://localhost:4318; unset sends none.")
	r.add(c.traceHeaders, "tracing.headers", pairsType, "Headers sent to the collector; values may be env:NAME or file:PATH.")
}

// embedding registers the settings of the embedding provider and the re-ranker.
func (r *registry) embedding(c *Config) {
	r.group = "Embedding provider and re-ranker"
	r.add(&c.Provider, "provider", "auto | none | local | hash | openai | gemini | voyage | mistral | ollama", "Where vectors come from: auto is a local model that was added (kioku model add), else the service of "+
		"remote.apiKey or remote.baseUrl, else none; none searches by keywords only; local is a model in this program; openai is any compatible server; see providers.md.")
	r.inFolder = true
	r.add(&c.LocalModel, "local.model", textType, "Local model: its name in kioku model list, or, but not in the file of a workspace, the path of its folder; unset means the one that was added first.", r.localModel)
	r.inFolder = false
	r.add(&c.Embed.Model, "model", textType, "Embedding model; unset means the provider's default.")
	r.add(&c.Embed.Dims, "dims", "0..65536", "Length of the vectors if the model can shorten them; 0 means its own.")
	r.add(&c.Embed.TokensPerDay, "maxTokensPerDay", "0..1e9", "Tokens that one process may have embedded in a day, estimated; a tenth is kept for queries; 0 means no limit.")
	r.add(&c.Embed.BaseURL, "remote.baseUrl", textType, "Base URL of the provider's server, such as http://localhost:1234/v1; unset means the provider's own.")
	r.add(&c.Embed.APIKey, "remote.apiKey", secretType, "Key of the provider, env:NAME or file:PATH; unset means OPENAI_API_KEY, GEMINI_API_KEY, VOYAGE_API_KEY or MISTRAL_API_KEY for the own server of the provider that is set.")
	r.add(c.headers, "remote.headers", pairsType, "Headers sent with every request; values may be env:NAME or file:PATH.")
	r.add(&c.Embed.QueryPrefix, "remote.queryPrefix", textType, "Written before each query that is embedded; unset means what the model is known to want, \"\" means nothing.")
	r.add(&c.Embed.DocumentPrefix, "remote.documentPrefix", textType, "Written before each text that is embedded; unset means what the model is known to want. With another prefix everything is embedded again.")
	r.add(&c.RerankProvider, "rerank.provider", "auto | none | local | http", "What scores the best passages of a search again: auto is a cross-encoder that was added "+
		"(kioku model add NAME --as reranker), else the server of rerank.baseUrl, which gets the passages, else none.")
	r.add(&c.Rerank.Model, "rerank.model", textType, "Re-ranker: its name in kioku model list or the path of its folder, or its name at the server; unset means the one that was added first, or the server's only one.")
	r.add(&c.Rerank.BaseURL, "rerank.baseUrl", textType, "Base URL of a server with POST /v1/rerank, such as vLLM, llama.cpp, Jina or Cohere.")
	r.add(&c.Rerank.APIKey, "rerank.apiKey", secretType, "Key of that server, env:NAME or file:PATH.")
}

// indexing registers the settings of what is indexed.
func (r *registry) indexing(c *Config) {
	r.group, r.inFolder = "Index", true
	r.add(&c.Index.Include, "include", globsType, "Globs of Markdown files of the workspace to index beside MEMORY.md, USER.md and memory/, such as docs/**/*.md. "+
		"Unset means none, or all if the workspace has neither MEMORY.md nor memory/.", included)
	r.add(&c.Index.Exclude, "exclude", globsType, "Globs of paths that are not indexed, whatever else includes them.", excluded)
	r.add(&c.Index.ExtraPaths, "extraPaths", listType, "Additional files or folders to index, absolute or relative to the workspace; the end may be a glob, such as notes/**/*.md.", r.inHome)
	r.add(&c.Index.MaxFileBytes, "maxFileBytes", "1..1073741824", "Size in bytes above which a file is skipped. A day whose notes need more goes on in a further file.")
	r.add(&c.Chunking.Tokens, "chunking.tokens", "16..8192", "Maximum number of tokens of a chunk, which repeats a fifth of them from the one before.")
	r.inFolder = false
	r.add(&c.Index.Debounce, "sync.watchDebounceMs", "1..600000", "Milliseconds without a change after which a file is indexed; after ten seconds it is indexed although it still changes.")
	r.add(&c.Index.Interval, "sync.intervalMinutes", "0.01..10080", "Minutes between full scans.")
	r.add(&c.Sources, "sources", listType, "What is indexed: memory, sessions for what users and assistants said in the agent's transcripts, claude-code and codex for what they said in those of Claude Code and Codex, hosts for the memories that Claude Code, Codex and OpenClaw keep for themselves, for the agent of the config file only.", source)
	r.add(&c.Projects, "transcripts.projects", pathsType, "Folders whose conversations with Claude Code and Codex are indexed, with all below them; unset means the workspace. An agent may have its own: agents.ID.projects.")
	r.add(&c.History.Journal, "history.journal", toggleType, "Keep the versions of the notes in the state folder, for kioku history and search --as-of in a folder that is in no repository of git. Passwords and keys of known shapes are left out.")
}

// searching registers the settings of searches, which a running daemon reads again.
func (r *registry) searching(c *Config) {
	s := &c.Search
	r.group, r.inFolder = "Search", true
	r.add(&s.MaxResults, "query.maxResults", "1..100", "Maximum number of results of a search.")
	r.add(&s.MinScore, "query.minScore", "0..1", "Score from which on a result is an answer if vectors took part. If unset, its words or its meaning decide.")
	r.add(&s.MinKeywordScore, "query.minKeywordScore", "0..1", "Score by keywords from which on a result is an answer. If unset, a score that grows with the folder, 0.16 for 60 chunks.")
	r.add(&s.Granularity, "query.granularity", memory.GranularityPassage+" | "+memory.GranularityChunk, "What a result is: a passage returned whole, or a chunk of 400 tokens with its best window.")
	r.add(&s.SnippetChars, "query.maxSnippetChars", "40..2000", "Maximum number of characters of a passage or snippet.")
	r.add(&s.Hybrid, "query.hybrid.enabled", toggleType, "Let vectors take part.")
	r.add(&s.VectorWeight, "query.hybrid.vectorWeight", "0..1", "Weight of vectors; words have what it lacks to 1. If it is unset, it depends on the class of the model and on how well the words match.")
	r.add(&s.Decay, "query.hybrid.temporalDecay.enabled", toggleType, "Let older notes weigh less.")
	r.add(&s.HalfLife, "query.hybrid.temporalDecay.halfLifeDays", "0.01..100000", "Age in days at which half of the weight above the floor is gone.")
	r.add(&s.Evergreen, "query.hybrid.temporalDecay.evergreen", listType, "Globs of paths that do not decay.")
	r.inFolder = false
}

// turns registers the settings of what runs beside an agent, in the order in which a turn meets them.
func (r *registry) turns(c *Config) {
	f := &c.Flush
	r.group = "Prompt, recall and flush"
	r.add(&c.Bootstrap.MaxChars, "bootstrapMaxChars", "100..1e7", "Maximum number of characters of one file of the workspace (SOUL.md, AGENTS.md, ...) in the prompt; the middle is cut first.")
	r.add(&c.AgentDir, "agentDir", pathType, "Folder whose SOUL.md, TOOLS.md and so on replace those of the workspace; agents.ID.agentDir sets it for one agent.")
	r.add(&c.Skills.Extra, "skills.extraDirs", pathsType, "Additional folders with skills; a skill of the workspace wins over one with the same name.")
	r.add(&c.OldOrder, "cacheFriendly", notType, "Send what changes from turn to turn (the time, recalled memories) with the message of the user, so that a provider's cache has the system prompt; "+
		"false: all of it is in the prompt.")
	r.add(&c.RecallEnabled, "recall.enabled", toggleType, "Search memory for each message of the user and put what is found into the prompt.")
	r.add(&c.Recall.TopK, "recall.topK", "1..100", "Maximum number of memories recalled for a message.")
	r.add(&c.Recall.Deadline, "recall.deadlineMs", "1..600000", "Milliseconds to wait for memories; then a turn continues with those that were found.")
	r.add(&c.Shared, "recall.shared", listType, "Agents whose memory is searched in addition to an agent's own; groups are shown it too.", agentID)
	r.add(&f.ReserveTokens, "compaction.reserveTokensFloor", tokensMost, "Tokens of the model's window that stay free for the answer; history is compacted if fewer are left.")
	r.add(&f.KeepTokens, "compaction.keepRecentTokens", "1..1e12", "Tokens of the latest messages that a compaction leaves unchanged.")
	r.add(&f.Enabled, "compaction.memoryFlush.enabled", toggleType, "Store what is worth keeping before history is compacted.")
	r.add(&f.Groups, "compaction.memoryFlush.groups", flush.GroupsOn+" | "+flush.GroupsOff+" | "+flush.GroupsSeparate,
		"Conversations of several people: on stores notes of them with the channel and the authors, separate does so in memory/groups/CHANNEL, off stores none.")
	r.add(&f.SoftThresholdTokens, "compaction.memoryFlush.softThresholdTokens", tokensMost, "Tokens before that point at which memories are stored; fewer in a small window.")
	r.add(&f.SoftThresholdRatio, "compaction.memoryFlush.softThresholdRatio", "0..1",
		"Part of the window above which memories are stored too, if that comes earlier; 0 disables it. 0.75 stores them when three quarters of the window are used.")
	r.add(&f.OnEnd, "compaction.memoryFlush.onEnd", toggleType, "Store what is worth keeping of a session when it ends: at /new, at the end of kioku chat, by EndSession, in the session-end hook, and when it is idle.")
	r.add(&f.Idle, "compaction.memoryFlush.idleSeconds", "0..31536000", "Seconds without a message after which a session counts as ended; 0 means never.")
	r.add(&c.Prune.Mode, "contextPruning.mode", prune.ModeCacheTTL+" | "+prune.ModeOff, "Shorten old tool results in what is sent, once the provider's cache has expired after five minutes.")
	r.add(&c.Prune.Tools.Deny, "contextPruning.tools.deny", listType, "Tools whose results are never shortened; * matches any characters.")
	r.add(&c.Turns.Keep, "turns.keep", toggleType, "Record what went into the prompts of an agent, for the page and GET /v1/turns, without text of notes; at most 8 MiB an agent, in the state folder.")
}

// languageModel registers the settings of the language model.
func (r *registry) languageModel(c *Config) {
	m := &c.LLM
	r.group = "Language model"
	r.add(&m.Provider, "llm.provider", "none | anthropic | openai | gemini | ollama | echo", "Language model of kioku chat, flush and compaction: openai is any compatible server, echo a scripted model that needs none.")
	r.add(&m.Model, "llm.model", textType, "Name of the model at the provider.")
	r.add(&m.BaseURL, "llm.baseUrl", textType, "Base URL of the server; unset means the provider's own, for ollama this computer.")
	r.add(&m.APIKey, "llm.apiKey", secretType, "Key of the provider, env:NAME or file:PATH; unset means ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY for these providers' own servers.")
	r.add(&m.AllowHTTP, "llm.allowHttp", toggleType, "Let conversations go unencrypted to a server that is not on this computer.")
	r.add(&m.Window, "llm.window", "0..1e9", "Tokens of the model's window; 0 means what the server tells, or else what is known of the model.")
	r.add(&m.MaxTokens, "llm.maxTokens", "0..1e8", "Maximum number of tokens of an answer; 0 means the provider's default.")
	r.add(&m.Timeout, "llm.timeoutSeconds", "0.001..86400", "Seconds to wait for an answer to begin, and for each next part of it.")
	r.add(&m.Limits.TokensPerDay, "llm.limits.tokensPerDay", tokensMost, "Tokens, of prompts and answers, that one process may use in a day; 0 means no limit.")
}

// derivation registers the settings of derivation.
func (r *registry) derivation(c *Config) {
	d := &c.Derive
	r.group = "Derived memory"
	r.add(&d.Enabled, "derive.enabled", toggleType, "Derive names, facts with evidence, open loops and summaries from the notes; see derive.md. By rules only, unless derive.llm.model is set.")
	r.add(&d.Model, "derive.llm.model", textType, "Language model that derives: none for rules only, default for that of llm.model, else the name of another model of llm.provider. What is sent to it are texts of notes up to derive.llm.maxSensitivity.")
	r.add(&d.MaxSensitivity, "derive.llm.maxSensitivity", "auto | normal | private", "Ceiling of what the model is sent: auto is private for a server on this machine and normal for any other. Secrets are never sent.")
	r.add(&d.MaxTokensPerDay, "derive.maxTokensPerDay", "0..1e9", "Tokens, of prompts and answers, that all processes of an agent may use in a day to derive; the rest waits for the next day. 0 asks no model.")
	r.add(&d.Reflect, "derive.reflect", toggleType, "Ask the model also what it thinks about each section, which counts for the order of what is recalled.")
	r.add(&d.Recall, "derive.recall.llmMs", "0..600000", "Milliseconds that the model may take to phrase further queries for a message of a conversation, and as many to choose among what was found, as far as the caller has them; 0 does not ask it. Models need 500 to 5,000; recall.deadlineMs is the time of an agent's turn.")
	r.add(&d.ExportDir, "derive.export.dir", textType, "Folder of the workspace that Markdown views of what is derived are written to; \"\" writes none. The decisions of people are in derived/decisions.md in any case.", viewFolder)
	r.add(&d.Private, "derive.private", globsType, "Globs of paths of notes from which everything is private: not shown in groups, not sent to models on other machines.", excluded)
	r.add(d.Predicates, "derive.predicates", pairsType, "Further predicates of facts, each with its class: set (all values hold), exclusive (the latest holds) or event (the first holds), such as drinks=set.", predicateClass)
}
