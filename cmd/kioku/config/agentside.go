package config

import (
	"time"

	"kioku/agent/bootstrap"
	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/recall"
	"kioku/agent/skills"
	"kioku/llm"
)

// AgentSide are the settings of what runs beside an agent: its model, prompts, recall, flush, compaction and pruning.
type AgentSide struct {
	// LLM is the language model. Its Provider is "none" if there is none.
	LLM llm.Config

	// Bootstrap and Skills contain the limits and the common folders. What belongs to one agent is in its Place.
	Bootstrap bootstrap.Options
	Skills    skills.Options
	// AgentDir is a folder whose files replace those of the workspace, for agents that do not set one.
	AgentDir      string
	CacheFriendly bool

	// RecallEnabled is true if memories are recalled before a turn. SharedAgents are agents whose memory is searched too.
	RecallEnabled bool
	Recall        recall.Options
	SharedAgents  []string

	Flush            flush.Settings
	KeepRecentTokens int
	Prune            prune.Settings

	Sidecar Sidecar
}

// Sidecar contains the addresses of kioku agent and of the memory service that it uses.
type Sidecar struct {
	Listen, Socket string
	// Memory is the target of the memory service, empty for the daemon of the state folder. Token is sent to it.
	Memory, Token string
}

func defaultAgentSide() AgentSide {
	return AgentSide{
		LLM:       llm.Config{Provider: "none", Timeout: 2 * time.Minute},
		Bootstrap: bootstrap.Options{MaxChars: 20_000, TotalMaxChars: 150_000},
		Skills:    skills.Options{MaxSkills: 150, MaxChars: 30_000},

		RecallEnabled: true,
		Recall:        recall.Options{TopK: 3, Deadline: 1500 * time.Millisecond},

		Flush: flush.Defaults(), KeepRecentTokens: 20_000, Prune: prune.Defaults(),
		Sidecar: Sidecar{Listen: "127.0.0.1:7601"},
	}
}
