package config

import (
	"time"

	"kioku/agent/flush"
	"kioku/agent/prune"
)

// agentSide registers the settings of what runs beside an agent, in the order in which a turn meets them.
func (r *registry) agentSide(c *Config) {
	r.prompt(c)
	r.recall(c)
	r.compaction(c)
	r.pruning(c)
	r.turns(c)
	r.languageModel(c)
	r.group = "kioku agent"
	r.text(&c.Sidecar.Listen, "sidecar.listen", "TCP address of kioku agent; none disables TCP. An address beyond loopback needs tokenFile.")
	r.path(&c.Sidecar.Socket, "sidecar.socket", "Unix socket of kioku agent; unset means one in the state folder.")
	r.text(&c.Sidecar.Memory, "sidecar.memory", "Memory service that kioku agent uses, unix:///path or host:port; unset means the daemon's socket.")
	r.secret(&c.Sidecar.Token, "sidecar.token", "Token that kioku agent sends to the memory service, env:NAME or file:PATH.")
}

func (r *registry) prompt(c *Config) {
	r.group = "Prompt"
	number(r, &c.Bootstrap.MaxChars, 100, 10_000_000, "bootstrapMaxChars",
		"Maximum number of characters of one file of the workspace (SOUL.md, AGENTS.md, ...) in the prompt; the middle is cut first.")
	number(r, &c.Bootstrap.TotalMaxChars, 100, 100_000_000, "bootstrapTotalMaxChars", "Maximum number of characters of these files together.")
	r.path(&c.AgentDir, "agentDir", "Folder whose SOUL.md, TOOLS.md and so on replace those of the workspace; agents.ID.agentDir sets it for one agent.")
	r.folders(&c.Skills.Extra, "skills.extraDirs", "Additional folders with skills; a skill of the workspace wins over one with the same name.")
	number(r, &c.Skills.MaxSkills, 1, 100_000, "skills.maxSkills", "Maximum number of skills.")
	number(r, &c.Skills.MaxChars, 100, 10_000_000, "skills.maxChars", "Maximum number of characters of all skills in the prompt.")
	r.oppositeToggle(&c.OldOrder, "cacheFriendly", "Send what changes from turn to turn (the time, recalled memories, changing blocks) with the message of the user, so that the "+
		"system prompt is constant over a session and a provider's cache has it. false: all of it is in the prompt, in the order of the eight layers.")
}

func (r *registry) recall(c *Config) {
	r.group = "Recall"
	r.toggle(&c.RecallEnabled, "recall.enabled", "Search memory for each message of the user and put what is found into the prompt.")
	number(r, &c.Recall.TopK, 1, 100, "recall.topK", "Maximum number of memories recalled for a message.")
	number(r, &c.Recall.MaxTokens, 100, 100_000, "recall.maxTokens", "Maximum size in tokens of the facts, summaries, open loops and passages recalled for a message, if derivation is on.")
	r.duration(&c.Recall.Deadline, time.Millisecond, 1, 600_000, "recall.deadlineMs", "Milliseconds to wait for memories; then a turn continues with those that were found.")
	r.optional(&c.Recall.MinScore, "recall.minScore", "Minimum score of a recalled memory; unset means the threshold of searches.")
	r.agentIDs(&c.Shared, "recall.shared", "Agents whose memory is searched in addition to an agent's own; groups are shown it too.")
}

func (r *registry) compaction(c *Config) {
	const most = 100_000_000
	f := &c.Flush
	r.group = "Flush and compaction"
	number(r, &f.ReserveTokens, 0, most, "compaction.reserveTokensFloor",
		"Tokens of the model's window that stay free for the answer; history is compacted if fewer are left.")
	number(r, &f.KeepTokens, 1, most, "compaction.keepRecentTokens", "Tokens of the latest messages that a compaction leaves unchanged.")
	r.toggle(&f.Enabled, "compaction.memoryFlush.enabled", "Store what is worth keeping before history is compacted.")
	r.choice(&f.Groups, []string{flush.GroupsOn, flush.GroupsOff, flush.GroupsSeparate}, "compaction.memoryFlush.groups",
		"Conversations of several people: on stores notes of them with the channel and the authors, separate does so in memory/groups/CHANNEL, off stores none.")
	number(r, &f.SoftThresholdTokens, 0, most, "compaction.memoryFlush.softThresholdTokens", "Tokens before that point at which memories are stored; fewer in a small window.")
	r.decimal(&f.SoftThresholdRatio, 1, "compaction.memoryFlush.softThresholdRatio",
		"Part of the window above which memories are stored too, if that comes earlier; 0 disables it. 0.75 stores them when three quarters of the window are used.")
	number(r, &f.TranscriptBytes, 0, 1<<40, "compaction.memoryFlush.forceFlushTranscriptBytes",
		"Bytes of the transcript since the last compaction above which both happen; 0 disables it.")
	r.toggle(&f.OnEnd, "compaction.memoryFlush.onEnd", "Store what is worth keeping of a session when it ends: at /new, at the end of kioku chat, by EndSession, in the session-end hook, and when it is idle.")
	r.duration(&f.Idle, time.Second, 0, 31_536_000, "compaction.memoryFlush.idleSeconds", "Seconds without a message after which a session counts as ended; 0 means never.")
}

func (r *registry) turns(c *Config) {
	r.group = "Turns"
	r.toggle(&c.Turns.Keep, "turns.keep", "Record what went into the prompts of an agent, for the page and ListTurns: layers with their tokens, places and scores of "+
		"recalled passages, flushes, compactions; no text of notes. At most 8 MiB an agent, in the state folder.")
	r.toggle(&c.Turns.Messages, "turns.messages", "Record the messages of users too. Those of kioku chat, whose transcripts contain them, are recorded anyway.")
}

func (r *registry) pruning(c *Config) {
	const most = 100_000_000
	p := &c.Prune
	r.group = "Pruning"
	r.choice(&p.Mode, []string{prune.ModeCacheTTL, prune.ModeOff}, "contextPruning.mode",
		"Shorten old tool results in what is sent, once the provider's cache has expired.")
	r.duration(&p.TTL, time.Second, 0, 31_536_000, "contextPruning.ttlSeconds", "Seconds after which that cache expires; 0 disables pruning.")
	number(r, &p.KeepLastAssistants, 0, 100_000, "contextPruning.keepLastAssistants", "Latest answers of the assistant that are not pruned, with everything after them.")
	r.decimal(&p.SoftTrimRatio, 1, "contextPruning.softTrimRatio", "Part of the window above which long results are trimmed.")
	r.decimal(&p.HardClearRatio, 1, "contextPruning.hardClearRatio", "Part of the window above which old results are cleared.")
	number(r, &p.MinPrunableToolChars, 0, most, "contextPruning.minPrunableToolChars", "Characters that clearing must save at least.")
	number(r, &p.SoftTrim.MaxChars, 0, most, "contextPruning.softTrim.maxChars", "Characters above which a result is trimmed.")
	number(r, &p.SoftTrim.Head, 0, most, "contextPruning.softTrim.headChars", "Characters kept at the beginning of a trimmed result.")
	number(r, &p.SoftTrim.Tail, 0, most, "contextPruning.softTrim.tailChars", "Characters kept at the end of a trimmed result.")
	r.toggle(&p.HardClear.Enabled, "contextPruning.hardClear.enabled", "Clear old results.")
	r.text(&p.HardClear.Placeholder, "contextPruning.hardClear.placeholder", "Text that replaces a cleared result.")
	r.list(&p.Tools.Allow, "contextPruning.tools.allow", "Tools whose results may be shortened; * matches any characters, and none means all tools.")
	r.list(&p.Tools.Deny, "contextPruning.tools.deny", "Tools whose results are never shortened, even if they are allowed.")
}

func (r *registry) languageModel(c *Config) {
	const most = 1_000_000_000_000
	m := &c.LLM
	r.group = "Language model"
	r.choice(&m.Provider, []string{"none", "anthropic", "openai", "gemini", "ollama", "echo"}, "llm.provider",
		"Language model of kioku chat, flush and compaction: openai is any compatible server, echo a scripted model that needs none.")
	r.text(&m.Model, "llm.model", "Name of the model at the provider.")
	r.text(&m.BaseURL, "llm.baseUrl", "Base URL of the server; unset means the provider's own, for ollama this computer.")
	r.secret(&m.APIKey, "llm.apiKey", "Key of the provider, env:NAME or file:PATH; unset means ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY for these providers' own servers.")
	r.toggle(&m.AllowHTTP, "llm.allowHttp", "Let conversations go unencrypted to a server that is not on this computer.")
	number(r, &m.Window, 0, 1_000_000_000, "llm.window", "Tokens of the model's window; 0 means what the server tells, or else what is known of the model.")
	number(r, &m.MaxTokens, 0, 100_000_000, "llm.maxTokens", "Maximum number of tokens of an answer; 0 means the provider's default.")
	r.duration(&m.Timeout, time.Second, 0.001, 86_400, "llm.timeoutSeconds", "Seconds to wait for an answer to begin, and for each next part of it.")
	number(r, &m.Limits.Tokens, 0, most, "llm.limits.tokens", "Tokens, of prompts and answers, that one process may use; 0 means no limit.")
	number(r, &m.Limits.TokensPerDay, 0, most, "llm.limits.tokensPerDay", "Tokens that one process may use in a day; 0 means no limit.")
	r.decimal(&m.Limits.USDPerDay, 1_000_000, "llm.limits.usdPerDay", "US dollars that one process may spend in a day, which needs llm.prices; 0 means no limit.")
	prices := &m.Limits.Prices
	r.decimal(&prices.Input, 1_000_000, "llm.prices.input", "US dollars for a million tokens of a prompt.")
	r.decimal(&prices.Output, 1_000_000, "llm.prices.output", "US dollars for a million tokens of an answer.")
	r.decimal(&prices.CacheRead, 1_000_000, "llm.prices.cacheRead", "US dollars for a million tokens read from the provider's cache; 0 means llm.prices.input.")
	r.decimal(&prices.CacheWrite, 1_000_000, "llm.prices.cacheWrite", "US dollars for a million tokens written to the provider's cache; 0 means llm.prices.input.")
}
