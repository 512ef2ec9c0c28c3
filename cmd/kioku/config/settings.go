package config

import (
	"time"

	"kioku/memory"
	"kioku/server"
)

// service registers the settings of the command and the daemon.
func (r *registry) service(c *Config) {
	r.group = "Workspace and daemon"
	r.path(&c.Workspace, "workspace", "Folder of notes; unset means the one that is found from the current folder, see folders.md.")
	r.agentID(&c.Agent, "agent", "Agent that commands use and that the workspace belongs to. If it is unset, the folder says which one: the agent that has it, else main, whose index is one of its own for each folder.")
	r.agents(c, "agents", "Folders of further agents: blocks of workspace, extraPaths and agentDir by id; id=folder,... as text.")
	r.path(&c.State, "state", "Folder of the index; unset means kioku in $XDG_STATE_HOME or ~/.local/state.")
	r.path(&c.Socket, "socket", "Unix socket of the daemon; unset means one in the state folder.")
	r.text(&c.Listen, "listen", "TCP address of the daemon; none disables TCP. An address beyond loopback needs tokenFile, tls.cert and tls.key.")
	r.path(&c.TokenFile, "tokenFile", "File of the tokens, and of the names in certificates, that may connect over TCP.")
	r.secret(&c.Tokens, "tokens", "What a tokenFile contains, instead of one: for containers that get it in KIOKU_TOKENS, or by env:NAME.")
	r.inFolder = true
	r.timezone(&c.Location, "timezone", "Time zone that decides which day a note belongs to, such as Asia/Tokyo; Local is the system's.")
	r.inFolder = false
	r.logLevel(&c.LogLevel, "logLevel", "Minimum log level.")
	r.toggle(&c.Offline, "offline", "Send nothing to another machine: no texts, no questions, no downloads. Servers on this machine, at loopback addresses and Unix sockets, are still used.")
}

// serving registers the settings of the listeners of kioku serve and kioku agent, and of the clients of a daemon elsewhere.
func (r *registry) serving(c *Config) {
	r.group = "TLS and limits of the daemon"
	r.path(&c.TLS.Cert, "tls.cert", "PEM file of the certificate of the TCP address, with its chain. It is read again when it changes.")
	r.path(&c.TLS.Key, "tls.key", "PEM file of the private key of tls.cert.")
	r.path(&c.TLS.ClientCA, "tls.clientCA", "PEM file of authorities; clients over TCP must have a certificate of one of them.")
	r.toggle(&c.InsecurePlaintext, "insecurePlaintext", "Permit an address beyond loopback without TLS: tokens and memories can be read on the network.")
	l := &c.Limits
	number(r, &l.Searches, 0, 1024, "limits.searches", "Searches that run at the same time; 0 means one for each core.")
	number(r, &l.Waiting, 1, 1_000_000, "limits.waiting", "Calls and searches of one client that may wait; more are refused.")
	number(r, &l.Bytes, 16<<20, 1<<40, "limits.bytes", "Bytes of all requests in flight; one client may have a quarter.")
	number(r, &l.Connections, 1, 1_000_000, "limits.connections", "Open connections; one process or machine may have a quarter.")
	number(r, &l.RequestsPerSecond, 1, 1_000_000_000, "limits.requestsPerSecond", "Calls that one client may make in a second in the long run; more are refused.")
	number(r, &l.Burst, 1, 1_000_000_000, "limits.burst", "Calls that one client may make at once although they are more.")
	r.list(&c.Hosts, "http.hosts", "Names under which a proxy or other machines reach the daemon by HTTP; localhost, addresses and the names of the certificate need not be there.")
	r.items(&c.Origins, "list", "http.origins", "Web sites whose pages may send requests to the daemon by HTTP, such as https://example.org.",
		func(item string) (string, error) { return item, server.CheckOrigin(item) })
	r.group = "Daemon on another machine"
	r.text(&c.Client.Target, "client.target", "host:port of the daemon that commands use; unset means the daemon of the state folder.")
	r.secret(&c.Client.Token, "client.token", "Token that commands send to client.target, env:NAME or file:PATH.")
	r.path(&c.Client.CA, "client.ca", "PEM file of the authorities of client.target and sidecar.memory; unset means those of the system. TLS is used beyond loopback, and wherever client.ca or client.cert is set.")
	r.path(&c.Client.Cert, "client.cert", "PEM file of the certificate that is shown to them; unset shows none.")
	r.path(&c.Client.Key, "client.key", "PEM file of the private key of client.cert.")
}

// providers are the choices of the setting provider.
var providers = []string{"auto", "none", "local", "hash", "openai", "gemini", "voyage", "mistral", "ollama"}

// provider registers the settings of the embedding provider.
func (r *registry) provider(c *Config) {
	r.group = "Embedding provider"
	r.choice(&c.Provider, providers, "provider", "Where vectors come from: auto is a local model that was added (kioku model add), else the service of "+
		"remote.apiKey or remote.baseUrl, else none; none searches by keywords only; local is a model in this program; openai is any compatible server; see providers.md.")
	r.inFolder = true
	r.localModel(&c.LocalModel, "local.model", "Local model: its name in kioku model list, or, but not in the file of a workspace, the path of its folder; unset means the one that was added first.")
	r.inFolder = false
	r.text(&c.Embed.Model, "model", "Embedding model; unset means the provider's default.")
	number(r, &c.Embed.Dims, 0, 65_536, "dims", "Length of the vectors if the model can shorten them; 0 means its own.")
	r.decimal(&c.Price, 1_000_000, "remote.pricePerMillionTokens", "Price of a million tokens at the provider, in any currency, for kioku index --estimate; 0 means unknown.")
	number(r, &c.Embed.TokensPerDay, 0, 1_000_000_000, "maxTokensPerDay",
		"Tokens that one process may have embedded in a day, estimated; a tenth is kept for queries; 0 means no limit.")
	r.text(&c.Embed.BaseURL, "remote.baseUrl", "Base URL of the provider's server, such as http://localhost:1234/v1; unset means the provider's own.")
	pointer(r, &c.Embed.QueryPrefix, aText, "text", "remote.queryPrefix",
		"Written before each query that is embedded; unset means what the model is known to want, \"\" means nothing.", parseText, same)
	pointer(r, &c.Embed.DocumentPrefix, aText, "text", "remote.documentPrefix",
		"Written before each text that is embedded; unset means what the model is known to want. With another prefix everything is embedded again.", parseText, same)
	r.toggle(&c.RedactSecrets, "remote.redactSecrets", "Leave passwords and keys of known shapes out of the texts that are sent to embedding providers and re-rankers on other machines. What listens on this machine gets the texts whole, also a proxy or tunnel that sends them on.")
	r.secret(&c.Embed.APIKey, "remote.apiKey", "Key of the provider, env:NAME or file:PATH; unset means OPENAI_API_KEY, GEMINI_API_KEY, VOYAGE_API_KEY or MISTRAL_API_KEY for the own server of the provider that is set.")
	r.secretMap(c.headers, "remote.headers", "Headers sent with every request; values may be env:NAME or file:PATH.")
}

// index registers the settings of indexing.
func (r *registry) index(c *Config) {
	r.group, r.inFolder = "Index", true
	r.globs(&c.Index.Include, "include", "Globs of Markdown files of the workspace to index beside MEMORY.md, USER.md and memory/, such as docs/**/*.md. "+
		"Unset means none, or all if the workspace has neither MEMORY.md nor memory/.", checkInclude)
	r.globs(&c.Index.Exclude, "exclude", "Globs of paths that are not indexed, whatever else includes them.", checkExclude)
	r.paths(&c.Index.ExtraPaths, "extraPaths", "Additional files or folders to index, absolute or relative to the workspace; the end may be a glob, such as notes/**/*.md.")
	number(r, &c.Index.MaxFileBytes, 1, 1<<30, "maxFileBytes", "Size in bytes above which a file is skipped. A day whose notes need more goes on in a further file.")
	number(r, &c.Chunking.Tokens, 16, 8192, "chunking.tokens", "Maximum number of tokens of a chunk.")
	number(r, &c.Chunking.Overlap, 0, 8191, "chunking.overlap", "Tokens that a chunk repeats from the one before; less than chunking.tokens.")
	r.choice(&c.Chunking.Encoding, []string{"cl100k_base", "o200k_base"}, "chunking.encoding", "Vocabulary that counts tokens.")
	r.inFolder = false
	r.duration(&c.Index.Debounce, time.Millisecond, 1, 600_000, "sync.watchDebounceMs", "Milliseconds without a change after which a file is indexed.")
	r.duration(&c.Index.MaxWait, time.Millisecond, 1, 3_600_000, "sync.maxWaitMs", "Milliseconds after which a file is indexed although it still changes.")
	r.duration(&c.Index.Interval, time.Minute, 0.01, 10_080, "sync.intervalMinutes", "Minutes between full scans.")
	r.sources(&c.Sources, "sources", "What is indexed: memory, sessions for what users and assistants said in the agent's transcripts, claude-code and codex for what they said in those of Claude Code and Codex.")
	r.folders(&c.Projects, "transcripts.projects", "Folders whose conversations with Claude Code and Codex are indexed, with all below them; unset means the workspace. An agent may have its own: agents.ID.projects.")
	r.path(&c.ClaudeCodeDir, "transcripts.claudeCodeDir", "Folder of the transcripts of Claude Code; unset means projects in $CLAUDE_CONFIG_DIR, else ~/.claude/projects.")
	r.path(&c.CodexDir, "transcripts.codexDir", "Folder of the transcripts of Codex; unset means sessions in $CODEX_HOME, else ~/.codex/sessions.")
	number(r, &c.Index.Sessions.DeltaBytes, 1, 1<<26, "sync.sessions.deltaBytes", "Bytes by which a transcript grows before the daemon indexes it again.")
	number(r, &c.Index.Sessions.DeltaMessages, 1, 1_000_000, "sync.sessions.deltaMessages", "Messages by which a transcript grows before the daemon indexes it again.")
}

// query registers the settings of searches, which a running daemon reads again.
func (r *registry) query(c *Config) {
	s := &c.Search
	r.group, r.inFolder = "Search", true
	number(r, &s.MaxResults, 1, 100, "query.maxResults", "Maximum number of results of a search.")
	number(r, &s.MaxPerFile, 0, 100, "query.maxPerFile", "Maximum number of results of one file. 0 means any number.")
	r.optional(&s.MinScore, "query.minScore", "Score from which on a result is an answer if vectors took part. If unset, its words or its meaning decide.")
	r.optional(&s.MinKeywordScore, "query.minKeywordScore", "Score by keywords from which on a result is an answer. If unset, a score that grows with the folder, 0.16 for 60 chunks.")
	r.optionalToggle(&s.WeakResults, "query.weakResults", "Let at most three results that are no answers fill free places, marked as weak.")
	r.choice(&s.Granularity, []string{memory.GranularityPassage, memory.GranularityChunk}, "query.granularity",
		"What a result is: a passage returned whole, or a chunk of 400 tokens with its best window.")
	number(r, &s.SnippetChars, 40, 2000, "query.maxSnippetChars", "Maximum number of characters of a passage or snippet.")
	r.optionalToggle(&s.Typos, "query.typos", "Let a word that the index lacks match words that differ from it by one typo.")
	r.optionalToggle(&s.Hybrid, "query.hybrid.enabled", "Let vectors take part.")
	r.optional(&s.VectorWeight, "query.hybrid.vectorWeight", "Weight of vectors beside words; only the ratio to textWeight counts. If both are unset, it depends on the class of the model and on how well the words match.")
	r.optional(&s.TextWeight, "query.hybrid.textWeight", "Weight of words. If unset, it is what vectorWeight lacks to 1.")
	number(r, &s.CandidateMultiplier, 1, 100, "query.hybrid.candidateMultiplier", "Candidates taken from the vectors, as a multiple of maxResults; at least 24 are taken.")
	r.optionalToggle(&s.MMR, "query.hybrid.mmr.enabled", "Re-rank for diversity.")
	r.optional(&s.MMRLambda, "query.hybrid.mmr.lambda", "Weight of relevance against diversity.")
	r.optionalToggle(&s.Decay, "query.hybrid.temporalDecay.enabled", "Let older notes weigh less.")
	r.duration(&s.HalfLife, 24*time.Hour, 0.01, 100_000, "query.hybrid.temporalDecay.halfLifeDays", "Age in days at which half of the weight above the floor is gone.")
	r.optional(&s.DecayFloor, "query.hybrid.temporalDecay.floor", "Weight that the oldest notes keep.")
	r.list(&s.Evergreen, "query.hybrid.temporalDecay.evergreen", "Globs of paths that do not decay.")
	r.inFolder = false
}

// caches registers the settings of what is kept to be fast.
func (r *registry) caches(c *Config) {
	r.group = "Caches"
	number(r, &c.CacheEntries, 1, 100_000_000, "cache.maxEntries", "Maximum number of embeddings, of chunks and of their windows, in addition to those of the indexed texts.")
	number(r, &c.MemoryBudget, 0, 1<<40, "memoryBudgetBytes", "Maximum number of bytes of vectors and words in memory for all agents; the rest is searched on disk.")
}
