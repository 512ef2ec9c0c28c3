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
	// LLM is the model to ask. Its Provider is "none" for no model.
	LLM llm.Config

	// Bootstrap and Skills hold the limits and the common folders; what belongs to one agent is in its Place.
	Bootstrap bootstrap.Options
	Skills    skills.Options
	// AgentDir is a folder whose files replace those of the workspace, for agents without one of their own.
	AgentDir      string
	CacheFriendly bool

	// RecallEnabled says that memories are recalled before a turn, and SharedAgents whose are searched beside the own ones.
	RecallEnabled bool
	Recall        recall.Options
	SharedAgents  []string

	Flush            flush.Settings
	KeepRecentTokens int
	Prune            prune.Settings

	Sidecar Sidecar
}

// Sidecar is where kioku agent listens, and which memory service it uses.
type Sidecar struct {
	Listen, Socket string
	// Memory is a target as the client takes it, empty for the daemon of the state folder; Token is sent to it.
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
