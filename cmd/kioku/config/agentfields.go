package config

import (
	"errors"
	"slices"
	"strings"
	"time"

	"kioku/agent/prune"
)

// agentSideFields are the settings of what runs beside an agent, in the order in which a turn meets them.
func agentSideFields() []Field {
	return slices.Concat(promptFields(), recallFields(), compactionFields(), pruningFields(), llmFields(), sidecarFields())
}

func promptFields() []Field {
	return []Field{
		number("bootstrapMaxChars", "Characters of one file of the workspace (SOUL.md, AGENTS.md, ...) in the prompt; its middle goes first.",
			100, 10_000_000, func(c *Config) *int { return &c.Bootstrap.MaxChars }),
		number("bootstrapTotalMaxChars", "Characters of all these files together.", 100, 100_000_000,
			func(c *Config) *int { return &c.Bootstrap.TotalMaxChars }),
		path("agentDir", "Folder whose SOUL.md, TOOLS.md and so on replace those of the workspace; agents.ID.agentDir is one agent's own.",
			func(c *Config) *string { return &c.AgentDir }),
		folders("skills.extraDirs", "Further folders with skills; those of the workspace win over them.",
			func(c *Config) *[]string { return &c.Skills.Extra }),
		number("skills.maxSkills", "Most skills.", 1, 100_000, func(c *Config) *int { return &c.Skills.MaxSkills }),
		number("skills.maxChars", "Characters of all skills in the prompt.", 100, 10_000_000, func(c *Config) *int { return &c.Skills.MaxChars }),
		toggle("cacheFriendly", "Put what changes from turn to turn, recalled memories and the time, behind all else in the prompt, for the "+
			"provider's cache. Else the eight layers keep their order, and the cache ends in the fifth.",
			func(c *Config) *bool { return &c.CacheFriendly }),
	}
}

func recallFields() []Field {
	return []Field{
		toggle("recall.enabled", "Search memory for each message of the user and put what is found into the prompt.",
			func(c *Config) *bool { return &c.RecallEnabled }),
		number("recall.topK", "Most memories that are recalled for a message.", 1, 100, func(c *Config) *int { return &c.Recall.TopK }),
		span("recall.deadlineMs", "Longest wait for them; a turn goes on with what is there.", time.Millisecond, 1, 600_000,
			func(c *Config) *time.Duration { return &c.Recall.Deadline }),
		perhaps("recall.minScore", "Least score of a recalled memory; unset means the threshold of searches.",
			func(c *Config) **float64 { return &c.Recall.MinScore }),
		agentIDs("recall.shared", "Agents whose memory is searched beside an agent's own; groups are shown it too.",
			func(c *Config) *[]string { return &c.SharedAgents }),
	}
}

func compactionFields() []Field {
	const most = 100_000_000
	return []Field{
		number("compaction.reserveTokensFloor", "Tokens of the model's window that stay free for the answer; history is compacted where fewer are left.",
			0, most, func(c *Config) *int { return &c.Flush.ReserveTokens }),
		number("compaction.keepRecentTokens", "Tokens of the latest messages that a compaction leaves as they are.", 1, most,
			func(c *Config) *int { return &c.KeepRecentTokens }),
		toggle("compaction.memoryFlush.enabled", "Store what is worth keeping before history is compacted.",
			func(c *Config) *bool { return &c.Flush.Enabled }),
		number("compaction.memoryFlush.softThresholdTokens", "Tokens before that point at which memories are stored.", 0, most,
			func(c *Config) *int { return &c.Flush.SoftThresholdTokens }),
		fraction("compaction.memoryFlush.softThresholdRatio", "Part of the window from which on memories are stored as well; 0 for none.", 1,
			func(c *Config) *float64 { return &c.Flush.SoftThresholdRatio }),
		number("compaction.memoryFlush.forceFlushTranscriptBytes", "Bytes of the transcript since the last compaction from which on both happen; 0 for none.",
			0, 1<<40, func(c *Config) *int64 { return &c.Flush.TranscriptBytes }),
		number("compaction.memoryFlush.attempts", "Attempts at storing the same messages, one a turn, before they are given up. Memory or a model that is away costs none.", 1, 100,
			func(c *Config) *int { return &c.Flush.Attempts }),
		span("compaction.memoryFlush.leaseSeconds", "How long a flush belongs to who has begun it.", time.Second, 1, 86_400,
			func(c *Config) *time.Duration { return &c.Flush.Lease }),
		number("compaction.memoryFlush.maxNotes", "Most notes of one flush.", 1, 1000, func(c *Config) *int { return &c.Flush.MaxNotes }),
	}
}

func pruningFields() []Field {
	const most = 100_000_000
	return []Field{
		choice("contextPruning.mode", "Shorten old results of tools in what is sent, once the provider's cache has run out.",
			[]string{prune.ModeCacheTTL, prune.ModeOff}, func(c *Config) *string { return &c.Prune.Mode }),
		span("contextPruning.ttlSeconds", "How long that cache lives; 0 never prunes.", time.Second, 0, 31_536_000,
			func(c *Config) *time.Duration { return &c.Prune.TTL }),
		number("contextPruning.keepLastAssistants", "Answers of the assistant from the end that are out of reach, with all behind them.", 0, 100_000,
			func(c *Config) *int { return &c.Prune.KeepLastAssistants }),
		fraction("contextPruning.softTrimRatio", "Part of the window from which on long results are trimmed.", 1,
			func(c *Config) *float64 { return &c.Prune.SoftTrimRatio }),
		fraction("contextPruning.hardClearRatio", "Part of the window from which on old results are cleared.", 1,
			func(c *Config) *float64 { return &c.Prune.HardClearRatio }),
		number("contextPruning.minPrunableToolChars", "Characters that there must be to clear for any to be cleared.", 0, most,
			func(c *Config) *int { return &c.Prune.MinPrunableToolChars }),
		number("contextPruning.softTrim.maxChars", "Characters above which a result is trimmed.", 0, most,
			func(c *Config) *int { return &c.Prune.SoftTrim.MaxChars }),
		number("contextPruning.softTrim.headChars", "Characters kept of its beginning.", 0, most,
			func(c *Config) *int { return &c.Prune.SoftTrim.Head }),
		number("contextPruning.softTrim.tailChars", "Characters kept of its end.", 0, most,
			func(c *Config) *int { return &c.Prune.SoftTrim.Tail }),
		toggle("contextPruning.hardClear.enabled", "Clear old results at all.", func(c *Config) *bool { return &c.Prune.HardClear.Enabled }),
		text("contextPruning.hardClear.placeholder", "What stands in their place.", func(c *Config) *string { return &c.Prune.HardClear.Placeholder }),
		list("contextPruning.tools.allow", "Tools whose results may be shortened, with * for any characters; none means all.",
			func(c *Config) *[]string { return &c.Prune.Tools.Allow }),
		list("contextPruning.tools.deny", "Tools whose results are left alone, also where they are allowed.",
			func(c *Config) *[]string { return &c.Prune.Tools.Deny }),
	}
}

func sidecarFields() []Field {
	return []Field{
		text("sidecar.listen", "TCP address of kioku agent, none for no TCP. Beyond loopback it needs tokenFile.",
			func(c *Config) *string { return &c.Sidecar.Listen }),
		path("sidecar.socket", "Unix socket of kioku agent; unset means one in the state folder.",
			func(c *Config) *string { return &c.Sidecar.Socket }),
		text("sidecar.memory", "Memory service that kioku agent uses, unix:///path or host:port; unset means the daemon's socket.",
			func(c *Config) *string { return &c.Sidecar.Memory }),
		secret("sidecar.token", "Token that it sends to the memory service, env:NAME or file:PATH.",
			func(c *Config) *string { return &c.sidecarToken }),
	}
}

// agentIDs is a list of agents.
func agentIDs(key, doc string, at func(*Config) *[]string) Field {
	f := list(key, doc, at)
	set := f.set
	f.set = func(c *Config, in input) error {
		for _, id := range in.items {
			if err := CheckAgent(id); err != nil {
				return err
			}
		}
		return set(c, in)
	}
	return f
}

// folders is a list of paths, relative to where they are written.
func folders(key, doc string, at func(*Config) *[]string) Field {
	f := list(key, doc, at)
	f.Type = "paths"
	f.set = func(c *Config, in input) error {
		all := []string{}
		for _, item := range in.items {
			all = append(all, in.abs(item))
		}
		*at(c) = all
		return nil
	}
	return f
}

// perhaps is a number between 0 and 1 that may be unset, nil.
func perhaps(key, doc string, at func(*Config) **float64) Field {
	return Field{
		Key: key, Type: "number", Doc: doc, kind: aNumber,
		set: func(c *Config, in input) error {
			x, err := parseNumber(in.text(), 0, 1)
			if err == nil {
				*at(c) = &x
			}
			return err
		},
		get: func(c *Config) string {
			if x := *at(c); x != nil {
				return formatNumber(*x)
			}
			return ""
		},
	}
}

// agreeAgentSide checks the settings of the agent side that depend on each other.
func (l *loader) agreeAgentSide() {
	if err := l.conf.Prune.Check(); err != nil {
		name, problem, _ := strings.Cut(err.Error(), ": ")
		l.wrong("contextPruning."+name, problem)
	}
	if faults, ok := l.conf.Flush.Check().(interface{ Unwrap() []error }); ok {
		for _, fault := range faults.Unwrap() {
			key, problem, _ := strings.Cut(fault.Error(), " ")
			l.wrong(key, problem)
		}
	}
}

// wrong reports a fault in a setting, or in a block of settings, where somebody has set it.
func (l *loader) wrong(key, problem string) {
	where := l.conf.origins[key].where
	for _, f := range agentSideFields() {
		if where == "" && strings.HasPrefix(f.Key, key+".") {
			where = l.conf.origins[f.Key].where
		}
	}
	l.fail(where, key, errors.New(problem))
}
