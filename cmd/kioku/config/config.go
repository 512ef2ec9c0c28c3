package config

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"kioku"
	"kioku/agent/bootstrap"
	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/recall"
	"kioku/agent/sidecar"
	"kioku/agent/skills"
	"kioku/chunker"
	"kioku/embed"
	"kioku/history"
	"kioku/indexer"
	"kioku/internal/modelhttp"
	"kioku/internal/trace"
	"kioku/llm"
	"kioku/memory"
	"kioku/search"
	"kioku/server"
	"kioku/server/audit"
	"kioku/store/slab"
)

// Config contains the checked settings of one run.
type Config struct {
	// File is the config file that was read, empty if there was none.
	File string
	// FolderFile is the file with the workspace's own settings that was read, empty if there was none.
	FolderFile string
	// Notices are sentences for people about settings that have no effect.
	Notices []string

	// Agent that a command uses and that Workspace belongs to.
	Agent string
	// Workspace is the absolute path of the folder of Agent; empty if none is set.
	Workspace string
	// Agents that have a folder of their own, by id.
	Agents map[string]Agent
	// State is the folder of indexes, sockets and sessions; empty means the user's, see StateDir.
	State string
	// Socket is the path of the daemon's Unix socket; empty means one in the state folder.
	Socket string
	// Listen is the TCP address of the daemon; "none" disables TCP.
	Listen string
	// TokenFile is the path of the tokens that may connect over TCP; empty for none.
	TokenFile string
	// Tokens is the content of a token file, instead of TokenFile; empty for none.
	// Store has the addresses of the databases of a cluster, separated by commas; empty for none. NodeAddress is where other nodes reach this one.
	Store, NodeAddress string
	Tokens             string
	// TLS are the files of the daemon's certificate; empty for no TLS.
	TLS server.TLSFiles
	// InsecurePlaintext permits an address that other machines can reach without TLS.
	InsecurePlaintext bool
	// Hosts are names under which HTTP is answered, and Origins web sites whose pages may use it.
	Hosts, Origins []string
	// Audit says where calls are recorded; its File is empty if they are not.
	Audit audit.Options
	// Tracing says where traces go; its Endpoint is empty if there are none.
	Tracing trace.Options
	// Client says how to reach a daemon on another machine.
	Client Client
	// Location is the time zone that decides which day a note belongs to.
	Location *time.Location
	// LogLevel is the minimum log level.
	LogLevel slog.Level
	// Offline keeps every request from leaving this machine.
	Offline bool
	// Network is the way to other machines of everything that runs with these settings, offline if Offline is set.
	Network *modelhttp.Network

	// Sources to index in addition to the extra paths; see Has.
	Sources []string
	// Projects are the folders of whose conversations with other agents the transcripts are indexed; see ProjectsOf.
	Projects []string
	// ClaudeCodeDir and CodexDir are the folders in which these programs keep transcripts; empty if the user has no home.
	ClaudeCodeDir, CodexDir string
	// Chunking says how files are split.
	Chunking chunker.Options
	// Provider is the setting of the embedding provider, which may be "auto".
	Provider string
	// LocalModel is the name of an added model, or the path of one; empty means the one that was added first.
	LocalModel string
	// Embed describes the embedding provider that the settings stand for. Its Provider is "none" if there is none, never "auto".
	Embed embed.Config
	// RerankProvider is the setting of the re-ranker, which may be "auto".
	RerankProvider string
	// Rerank describes the re-ranker that the settings stand for. Its Provider is "none" if there is none, never "auto".
	Rerank embed.RerankConfig
	// Index says what is indexed and when.
	Index kioku.IndexOptions
	// Search is the ranking.
	Search search.Options
	// MemoryBudget is the maximum number of bytes of vectors and words in memory, for all agents.
	MemoryBudget int64

	// The settings of what runs beside an agent.

	// LLM is the language model. Its Provider is "none" if there is none.
	LLM llm.Config
	// LLMErr says why LLM cannot be used; nil if it can, as far as the settings tell. Memory needs no language model, so a fault of
	// its settings in a file or a variable takes away only the model.
	LLMErr error

	// Settings of all sidecars. The folders of one agent are in its Place.
	sidecar.Settings
	// AgentDir is a folder whose files replace those of the workspace, for agents that do not set one.
	AgentDir string
	// RecallEnabled is true if memories are recalled before a turn.
	RecallEnabled bool
	// Derive says what is derived from notes.
	Derive Derive
	// History says what is kept of the versions of notes.
	History kioku.HistoryOptions
	// Council says which council a daemon serves.
	Council Council
	// AgentListen is the TCP address of kioku agent; "none" disables TCP.
	AgentListen string

	// headers are as written; their values may be references to secrets. Embed contains the secrets.
	headers map[string]string
	// traceHeaders are those of Tracing, likewise.
	traceHeaders map[string]string
	registry     *registry
	// origins contains where each setting came from that is not a default.
	origins map[string]origin
	// fileAgent is the agent that the file's own workspace belongs to.
	fileAgent string
	// src is where the settings come from, home the user's home, and temporary the folder that TMPDIR names.
	src             Sources
	home, temporary string
}

// Client says how to reach a daemon on another machine.
type Client struct {
	// Target is the host:port of the daemon or unix:///path, empty for the one of the state folder. Token is sent to it.
	Target, Token string
	// CA, Cert and Key are PEM files: the authorities that the daemon's certificate must be of, and the certificate and key
	// that are shown to it. An empty CA means the authorities of the system.
	CA, Cert, Key string
}

// Agent is the folder of one agent.
type Agent struct {
	// Workspace is the absolute path of the folder.
	Workspace string
	// ExtraPaths replace the common ones if they are not nil.
	ExtraPaths []string
	// AgentDir replaces the common one if it is not empty.
	AgentDir string
	// Projects replace the common ones if they are not nil.
	Projects []string
}

// layer is a source of settings; a later one wins.
type layer int

const (
	byDefault layer = iota
	byFile
	byFolder
	byEnv
	byFlag
)

// origin is where one value came from.
type origin struct {
	layer layer
	// where is "config.yaml:3:5", "KIOKU_MODEL" or "--model".
	where string
}

// Default returns the settings of a run that nobody configured.
func Default() *Config {
	c := &Config{
		Agent: "main", Agents: map[string]Agent{}, Listen: "127.0.0.1:7600",
		Location: time.Local, LogLevel: slog.LevelInfo, Sources: []string{memory.SourceMemory},
		Chunking: chunker.Options{Tokens: 400, Overlap: 80, Encoding: "cl100k_base"},
		Provider: "auto", Embed: embed.Config{Provider: "none"},
		RerankProvider: "auto", Rerank: embed.RerankConfig{Provider: "none"},
		Index: kioku.IndexOptions{
			MaxFileBytes: indexer.DefaultMaxFileBytes, Debounce: 1500 * time.Millisecond, MaxWait: 10 * time.Second, Interval: 5 * time.Minute,
			Sessions: indexer.Sessions{DeltaBytes: indexer.DefaultDeltaBytes, DeltaMessages: indexer.DefaultDeltaMessages},
		},
		Search: search.DefaultOptions(), MemoryBudget: slab.DefaultBudget,
		LLM: llm.Config{Provider: "none", Timeout: 2 * time.Minute},
		Settings: sidecar.Settings{
			Turns:     sidecar.TurnSettings{Keep: true},
			Bootstrap: bootstrap.Options{MaxChars: 20_000, TotalMaxChars: 150_000},
			Skills:    skills.Options{MaxSkills: 150, MaxChars: 30_000},
			Recall:    recall.Options{TopK: 3, Deadline: 1500 * time.Millisecond, MaxTokens: 1200},
			Flush:     flush.Defaults(), Prune: prune.Defaults(),
		},
		RecallEnabled: true,
		Derive:        defaultDerive(), History: kioku.HistoryOptions{MaxBytes: history.DefaultJournalBytes, MaxAge: 400 * 24 * time.Hour},
		AgentListen: "127.0.0.1:7601",
		Audit:       audit.Options{MaxBytes: 100 << 20},
		Tracing:     trace.Options{Sample: 1},
		headers:     map[string]string{}, traceHeaders: map[string]string{}, origins: map[string]origin{},
	}
	c.registry = newRegistry(c)
	return c
}

// Error is a setting that cannot be used.
type Error struct {
	// Where it stands: "config.yaml:3:5", "KIOKU_MODEL", "--model".
	Where string
	// Key of the setting; empty if the error is not about a setting.
	Key string
	// Problem says what is wrong.
	Problem string
}

// Error returns "where: key: problem" without what is empty.
func (e *Error) Error() string {
	text := e.Problem
	if e.Key != "" {
		text = e.Key + ": " + text
	}
	if e.Where != "" {
		text = e.Where + ": " + text
	}
	return text
}

// Sources says where the settings of a run come from.
type Sources struct {
	// File to read. Empty means KIOKU_CONFIG, else kioku/config.yaml in $XDG_CONFIG_HOME or ~/.config, which
	// need not exist.
	File string
	// Env is the environment as os.Environ gives it.
	Env []string
	// Flags of the command line, in order.
	Flags []Flag
	// Dir is the working directory.
	Dir string
	// Folder is the workspace whose own settings, [FolderFile], are read too; empty reads those of none.
	Folder string
	// Network is the one that the process uses, which Load makes offline or not as the settings say; nil means a new one.
	Network *modelhttp.Network
}

// Flag is a setting on the command line.
type Flag struct {
	// Name as it was written: "--model", "--set".
	Name       string
	Key, Value string // the setting and its value as text
}

// Load reads and checks all settings. Its error joins an *[Error] for each problem, also for a file that cannot be read.
func Load(src Sources) (*Config, error) {
	l := newLoader(src)
	l.readFile(src)
	l.conf.fileAgent = l.conf.Agent
	l.readFolder(src.Folder)
	l.readEnv()
	for _, f := range src.Flags {
		l.setText(byFlag, f.Name, f.Key, f.Value)
	}
	l.finish()
	if fatal := slices.DeleteFunc(slices.Clone(l.errs), l.spares); len(fatal) > 0 {
		return nil, errors.Join(l.errs...)
	}
	l.conf.LLMErr = errors.Join(l.errs...)
	l.conf.connect()
	return l.conf, nil
}

// connect makes the network of the settings the way of everything that sends requests.
func (c *Config) connect() {
	if c.src.Network == nil {
		c.src.Network = modelhttp.NewNetwork(modelhttp.NetworkOptions{})
	}
	c.Network = c.src.Network
	c.Network.SetOffline(c.Offline)
	c.Embed.Transport = c.Network.Transport("embeddings")
	c.Rerank.Transport = c.Network.Transport("re-ranking")
	c.LLM.Transport = c.Network.Transport("language model")
}

// ForFolder returns the settings of a run in a workspace: those of the same sources, and the workspace's own.
func (c *Config) ForFolder(dir string) (*Config, error) {
	src := c.src
	if src.Folder == dir {
		return c, nil
	}
	src.Folder = dir
	return Load(src)
}

// Reload reads the settings again from where they came from.
func (c *Config) Reload() (*Config, error) { return Load(c.src) }

// Dir returns the working directory.
func (c *Config) Dir() string { return c.src.Dir }

// Wrong returns an error about a setting, at the place where it was set.
func (c *Config) Wrong(key, problem string) *Error {
	return &Error{Where: c.origins[key].where, Key: key, Problem: problem}
}

// Explicit reports whether a setting was set anywhere.
func (c *Config) Explicit(key string) bool { return c.origins[key].layer != byDefault }

// ByFlagOrEnv reports whether a setting was set by a flag or an environment variable.
func (c *Config) ByFlagOrEnv(key string) bool { return c.origins[key].layer >= byEnv }

// ByFlag reports whether any setting of a block, such as "llm", was set by a flag.
func (c *Config) ByFlag(block string) bool {
	for key, o := range c.origins {
		if o.layer == byFlag && strings.HasPrefix(key, block+".") {
			return true
		}
	}
	return false
}

// Has reports whether a source is to be indexed.
func (c *Config) Has(source string) bool { return slices.Contains(c.Sources, source) }

// Value is a setting as people read it.
type Value struct {
	Field
	// Text is the value; secrets are hidden unless they are references.
	Text string
	// Origin is where it came from: "default", "config.yaml:3:5", "KIOKU_MODEL", "--model".
	Origin string
	// Meaning is what the value stands for now, if that depends on more than the value; empty for most.
	Meaning string
}

// Values returns all settings in the order of [Fields], with the settings of each agent in the place of "agents".
func (c *Config) Values() []Value {
	var all []Value
	for _, f := range c.registry.fields {
		if f.Key != "agents" || len(c.Agents) == 0 {
			all = append(all, c.value(f))
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(c.Agents)) {
			for _, name := range agentSettings() {
				own, _ := c.agentField(id, name)
				all = append(all, c.value(own))
			}
		}
	}
	return all
}

// Value returns one setting, or an *[Error] that names the nearest key.
func (c *Config) Value(key string) (Value, error) {
	f, ok := c.lookup(key)
	if !ok {
		return Value{}, c.registry.unknown("", key)
	}
	return c.value(f), nil
}

func (c *Config) value(f Field) Value {
	v := Value{Field: f, Text: f.value.get(), Origin: "default"}
	if o, ok := c.origins[f.Key]; ok {
		v.Origin = o.where
	}
	if f.Key == "provider" && v.Text == "auto" {
		v.Meaning = c.Embed.Provider + ": " + c.Embed.Reason
	}
	return v
}

// Changed returns the keys whose values differ between two configurations, sorted.
func Changed(old, new *Config) []string {
	changed, after := old.secretTexts(), new.secretTexts()
	for key, text := range after {
		if before, ok := changed[key]; ok && before == text {
			delete(changed, key)
		} else {
			changed[key] = text
		}
	}
	return slices.Sorted(maps.Keys(changed))
}

// secretTexts returns all values by key, with secrets in the clear. They may be compared but never shown.
func (c *Config) secretTexts() map[string]string {
	texts := map[string]string{}
	for _, v := range c.Values() {
		texts[v.Key] = v.Text
	}
	delete(texts, "agents")
	for _, s := range c.registry.secrets {
		texts[s.key] = *s.at
	}
	texts["remote.headers"] = fmt.Sprint(c.Embed.Headers)
	texts["tracing.headers"] = fmt.Sprint(c.Tracing.Headers)
	return texts
}
