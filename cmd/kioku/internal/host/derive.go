package host

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"kioku"
	"kioku/agent/session"
	"kioku/agent/transcripts"
	"kioku/cmd/kioku/config"
	"kioku/derive"
	"kioku/derive/rule"
	"kioku/derive/vocab"
	"kioku/internal/files"
	"kioku/llm"
	"kioku/memory"
)

// modelTurns is how many agents of a process may ask the model that derives at a time.
const modelTurns = 2

// derivers make the services that derive from the memories of one process. The zero value is ready for use by one goroutine.
type derivers struct {
	// counted returns a model whose tokens are counted for an agent; nil counts none.
	counted func(agent string, m llm.Model) llm.Model
	// tell takes what is wrong with the settings of the model, without which the rules derive; nil tells nobody.
	tell func(text string)

	turns chan struct{}
	told  bool
}

// deriveRules returns the rules by which the notes of a place are read, nil if nothing is derived.
func deriveRules(conf *config.Config, place config.Place) (*rule.Rules, error) {
	if !conf.Derive.Enabled {
		return nil, nil
	}
	words, err := vocab.New(conf.Derive.Predicates)
	if err != nil {
		return nil, err
	}
	return rule.New(rule.Options{
		Private: conf.Derive.Private, Transcript: spokenIn(conf, place), UserNames: ownerNames(place), Location: conf.Location, Vocabulary: words,
	})
}

// ownerNames returns the names of the owner by the USER.md of a place, none if it cannot be read. A name that is written there later
// counts from the next start on.
func ownerNames(place config.Place) []string {
	root, err := os.OpenRoot(place.Workspace)
	if err != nil {
		return nil
	}
	defer root.Close()
	data, _, err := files.Read(root, "USER.md", 1<<20)
	if err != nil {
		return nil
	}
	return rule.OwnerNames(data)
}

// spokenIn returns a function that begins to read a transcript of a source: what is said on each line, and when.
func spokenIn(conf *config.Config, place config.Place) func(source string) func(line []byte) (text string, at time.Time) {
	projects := withReal(conf.ProjectsOf(place))
	ours := func(dir string) bool {
		return slices.ContainsFunc(projects, func(project string) bool { return transcripts.Within(project, dir) })
	}
	return func(source string) func(line []byte) (string, time.Time) {
		if source == memory.SourceSessions {
			return session.Spoken
		}
		for _, program := range transcripts.Programs() {
			if program.ID == source {
				return program.NewReader(ours).Spoken
			}
		}
		return nil
	}
}

// of returns the service that derives from a memory, nil if nothing is derived from it. conf contains the settings of its workspace
// too.
func (d *derivers) of(conf *config.Config, place config.Place, m *kioku.Memory, log *slog.Logger) (*derive.Service, error) {
	rules, err := deriveRules(conf, place)
	if err != nil || rules == nil {
		return nil, err
	}
	words, err := vocab.New(conf.Derive.Predicates)
	if err != nil {
		return nil, err
	}
	s := conf.Derive
	return derive.New(derive.Options{
		Store: m.Derived(), Notes: m, Rules: rules, Vocabulary: words,
		Model: d.model(conf, place.Agent), ModelServer: conf.LLM.Server(), Ceiling: ceilingOf(conf), Turns: d.shared(),
		MaxTokensPerDay: orNone(s.MaxTokensPerDay), Reflect: s.Reflect,
		ViewDir: s.ExportDir, Now: ClockOf(conf), Log: log.With("agent", place.Agent),
	})
}

// orNone returns a setting for derive.Options, in which 0 means the default and a negative number none.
func orNone(v int) int {
	if v == 0 {
		return -1
	}
	return v
}

// shared returns the turns of all agents.
func (d *derivers) shared() chan struct{} {
	if d.turns == nil {
		d.turns = make(chan struct{}, modelTurns)
	}
	return d.turns
}

// model returns the model that derives, nil for rules only. What is wrong with its settings is told once.
func (d *derivers) model(conf *config.Config, agent string) llm.Model {
	m, err := deriveModel(conf)
	if err != nil && d.tell != nil && !d.told {
		d.told = true
		d.tell(fmt.Sprintf("derivation works by rules only, because its language model cannot be used: %v", err))
	}
	if m == nil || err != nil {
		return nil
	}
	if d.counted != nil {
		return d.counted(agent, m)
	}
	return m
}

// deriveModel returns the model of derive.llm.model, nil for none.
func deriveModel(conf *config.Config) (llm.Model, error) {
	cfg := conf.LLM
	switch {
	case conf.Derive.Model == config.DeriveNoModel:
		return nil, nil
	case conf.LLMErr != nil:
		return nil, conf.LLMErr
	case cfg.Provider == "none":
		return nil, fmt.Errorf("derive.llm.model is %s, but llm.provider is none", conf.Derive.Model)
	case cfg.Provider == "echo":
		return nil, fmt.Errorf("derive.llm.model is %s, but llm.provider is echo, which only chats", conf.Derive.Model)
	}
	if conf.Derive.Model != config.DeriveDefaultModel {
		cfg.Model, cfg.Window = conf.Derive.Model, 0
	}
	cfg.Now, cfg.Transport = ClockOf(conf), conf.Network.Transport("derivation")
	return llm.New(cfg)
}

// ceilingOf returns the ceiling of what the model that derives is sent.
func ceilingOf(conf *config.Config) memory.Sensitivity {
	if conf.Derive.MaxSensitivity != "auto" {
		return sensitivity(conf.Derive.MaxSensitivity)
	}
	if modelIsHere(conf.LLM) {
		return memory.Private
	}
	return memory.Normal
}

// modelIsHere reports whether the server of a model listens on this machine.
func modelIsHere(cfg llm.Config) bool {
	if cfg.BaseURL == "" {
		return cfg.Provider == "ollama"
	}
	base := cfg.BaseURL
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// sensitivity returns the sensitivity with a name of the settings.
func sensitivity(name string) memory.Sensitivity {
	if name == memory.Private.String() {
		return memory.Private
	}
	return memory.Normal
}

// deriving runs the worker of a service until ctx ends, and wakes it when the index of its memory changes.
func deriving(ctx context.Context, m *kioku.Memory, s *derive.Service) error {
	woken := make(chan struct{})
	go func() {
		defer close(woken)
		for ctx.Err() == nil {
			for range m.Subscribe(ctx) {
				s.Wake()
			}
			select { // a subscription that did not keep up has ended
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}()
	err := s.Work(ctx)
	<-woken
	return err
}
