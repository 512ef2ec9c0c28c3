package main

import (
	"cmp"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/openclaw"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/files"
)

// takeoverReport is the output of kioku config openclaw --json.
type takeoverReport struct {
	// From is the state folder of OpenClaw, and Config Kioku's config file.
	From   string `json:"from"`
	Config string `json:"config"`
	// DryRun is true if nothing was written.
	DryRun   bool            `json:"dryRun"`
	Settings []takenSetting  `json:"settings"`
	Agents   []takenAgent    `json:"agents"`
	Left     []openclaw.Left `json:"left"`
}

// takenSetting is a setting that is taken over.
type takenSetting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	// Was is the value that it replaces; empty if there was none.
	Was string `json:"was,omitempty"`
	// Unchanged is true if Kioku has the value already.
	Unchanged bool `json:"unchanged"`
}

// takenAgent is an agent whose workspace is taken over.
type takenAgent struct {
	ID        string `json:"id"`
	Workspace string `json:"workspace"`
}

func (a *app) importOpenClawCmd() *cobra.Command {
	var from string
	var dryRun bool
	cmd := &cobra.Command{
		Use: "openclaw", Short: "Take over workspaces and settings of OpenClaw", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		Long: "Take over OpenClaw's workspaces and its settings of memory search. Settings go into the config file. Nothing of OpenClaw's is\n" +
			"changed, notes stay where they are, and secrets are not copied. The same command again changes nothing.",
		Example: "  kioku config openclaw --dry-run\n  kioku config openclaw --from ~/.openclaw",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.takeOverOpenClaw(from, dryRun) },
	}
	cmd.Flags().StringVar(&from, "from", "", "state `folder` of OpenClaw (default $OPENCLAW_STATE_DIR, else ~/.openclaw)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only show what would be taken over")
	_ = cmd.MarkFlagDirname("from") // the flag exists
	return cmd
}

// takeOverOpenClaw takes over settings and reports them.
func (a *app) takeOverOpenClaw(from string, dryRun bool) error {
	home, err := openclaw.Open(from, a.Env)
	if err != nil {
		return err
	}
	conf, err := config.Load(a.sources())
	if err != nil {
		return err
	}
	changes, left := home.Settings()
	r := takeoverReport{From: home.Dir, DryRun: dryRun, Settings: []takenSetting{}, Agents: []takenAgent{}, Left: append([]openclaw.Left{}, left...)}
	changes = append(changes, r.places(conf, home.Agents())...)
	edit, err := config.Prepare(a.sources(), r.compare(conf, changes)...)
	if err != nil {
		return err
	}
	r.Config = edit.Path
	if !dryRun && string(edit.Before) != string(edit.After) {
		if err := edit.Write(); err != nil {
			return err
		}
	}
	return a.Write(r, r.tell)
}

// places returns the settings that give the agents their folders, and remembers those agents.
func (r *takeoverReport) places(conf *config.Config, agents []openclaw.Agent) []config.Change {
	var folders []string
	for _, agent := range agents {
		key := "agents." + agent.ID
		if info, err := os.Stat(agent.Workspace); err != nil || !info.IsDir() {
			r.Left = append(r.Left, openclaw.Left{Key: key, Why: "its workspace " + agent.Workspace + " does not exist"})
			continue
		}
		if config.CheckAgent(agent.ID) != nil {
			r.Left = append(r.Left, openclaw.Left{Key: key, Why: "agents of Kioku have ids of a-z, 0-9, - and _"})
			continue
		}
		r.Agents = append(r.Agents, takenAgent{ID: agent.ID, Workspace: agent.Workspace})
		if p, err := conf.Place(agent.ID); err == nil && files.SameFolder(p.Workspace, agent.Workspace) {
			continue // a folder that is there already, whichever setting says so
		}
		folders = append(folders, agent.ID+"="+agent.Workspace)
	}
	for id, own := range conf.Agents {
		if !strings.Contains(","+strings.Join(folders, ","), ","+id+"=") && len(folders) > 0 {
			folders = append(folders, id+"="+own.Workspace)
		}
	}
	switch {
	case len(folders) == 0:
		return nil
	case len(folders) == 1 && len(r.Agents) == 1 && conf.Workspace == "" && r.Agents[0].ID == conf.Agent:
		return []config.Change{{Key: "workspace", Value: r.Agents[0].Workspace}}
	}
	return []config.Change{{Key: "agents", Value: strings.Join(folders, ",")}}
}

// compare returns the changes that are none yet, and remembers all.
func (r *takeoverReport) compare(conf *config.Config, changes []config.Change) []config.Change {
	var needed []config.Change
	for _, c := range changes {
		s := takenSetting{Key: c.Key, Value: c.Value}
		if v, err := conf.Value(c.Key); err == nil && v.Origin != "default" {
			s.Was = v.Text
		}
		if s.Unchanged = s.Was == c.Value; s.Unchanged {
			s.Was = ""
		} else {
			needed = append(needed, c)
		}
		r.Settings = append(r.Settings, s)
	}
	return needed
}

// tell writes the report for people.
func (r takeoverReport) tell(p *render.Page) {
	if r.DryRun {
		p.Linef("Nothing was written; this would be taken over from %s:", r.From)
	}
	for _, s := range r.Settings {
		switch {
		case s.Unchanged:
			p.Linef("%s=%s (as it is)", s.Key, s.Value)
		case s.Was != "":
			p.Linef("%s=%s (was %s)", s.Key, s.Value, s.Was)
		default:
			p.Linef("%s=%s", s.Key, s.Value)
		}
	}
	for _, agent := range r.Agents {
		p.Linef("agent %s: %s", agent.ID, agent.Workspace)
	}
	for _, l := range r.Left {
		p.Linef("not taken: %s: %s", l.Key, l.Why)
	}
	p.Linef("%s", cmp.Or(map[bool]string{true: "Run it without --dry-run to take it over."}[r.DryRun], "Settings are in "+r.Config+"."))
}
