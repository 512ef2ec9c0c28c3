package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
)

// clusterStatus is the output of kioku cluster status --json.
type clusterStatus struct {
	// Nodes that were seen within the last minutes.
	Nodes []clusterNode `json:"nodes"`
	// Agents of all databases.
	Agents []clusterAgent `json:"agents"`
}

// clusterNode is a process of the cluster.
type clusterNode struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Version string `json:"version"`
	// SeenMs is how long ago it was seen.
	SeenMs int64 `json:"seen_ms"`
	// Open is the number of agents whose memory it has open, and SlabBytes what their vectors take of its memory.
	Open      int   `json:"open"`
	SlabBytes int64 `json:"slab_bytes"`
}

// clusterAgent is an agent of the cluster.
type clusterAgent struct {
	Agent string `json:"agent"`
	// Shard is its database, and Generation the number of its commits.
	Shard      string `json:"shard"`
	Generation int64  `json:"generation"`
	// Owner is the node with the folder, "" for none, and Away whether it was not heard of for the time of a lease.
	Owner string `json:"owner"`
	Away  bool   `json:"away"`
	// Waiting is the number of notes that wait for the owner.
	Waiting int `json:"waiting"`
}

// clusterFinding is a line of kioku cluster doctor --json.
type clusterFinding struct {
	Shard string `json:"shard"`
	OK    bool   `json:"ok"`
	Text  string `json:"text"`
	Do    string `json:"do"`
}

func (a *app) clusterCmd() *cobra.Command {
	return group(&cobra.Command{
		Use: "cluster", Short: "Look after memories that several machines share by PostgreSQL",
		Long: "With the setting store, kioku serve on any number of machines answers for every agent of the cluster. docs/cluster.md has the whole.",
	}, a.clusterStatusCmd(), a.clusterDoctorCmd(), a.clusterAdoptCmd(), a.clusterImportCmd(), a.clusterExportCmd(), a.clusterMoveCmd(), a.clusterDrainCmd())
}

// withStore calls f with the databases of the settings.
func (a *app) withStore(ctx context.Context, f func(s *host.Store) error) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	if conf.Store == "" {
		return render.Misuse("no cluster is configured; kioku config set store env:KIOKU_STORE names the variable with the addresses of its databases")
	}
	s, err := host.OpenStore(ctx, conf, a.log(slog.LevelWarn))
	if err != nil {
		return err
	}
	defer s.Close()
	err = s.Reach(ctx)
	if _, refused := errors.AsType[*memory.InputError](err); refused {
		return err
	}
	return f(s) // which may need other databases than the one that is away
}

func (a *app) clusterStatusCmd() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show nodes, agents (--agent: one), their owners and what waits for these", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd.Context(), func(s *host.Store) error {
				st := clusterStatus{Nodes: []clusterNode{}, Agents: []clusterAgent{}}
				nodes, err := s.Nodes(cmd.Context(), 5*time.Minute)
				if err != nil {
					return err
				}
				for _, n := range nodes {
					st.Nodes = append(st.Nodes, clusterNode{n.Name, n.Address, n.Version, n.Seen.Milliseconds(), n.Open, n.Slabs})
				}
				agents, err := s.Agents(cmd.Context())
				if err != nil {
					return err
				}
				conf, err := a.config()
				if err != nil {
					return err
				}
				for _, g := range agents {
					if cmd.Flags().Changed("agent") && g.Name != conf.Agent {
						continue
					}
					st.Agents = append(st.Agents, clusterAgent{g.Name, g.Shard, g.Generation, g.Owner, g.Owner != "" && !g.Leased, g.Waiting})
				}
				if cmd.Flags().Changed("agent") && len(st.Agents) == 0 {
					return fmt.Errorf("%s: %w", conf.Agent, memory.ErrNoAgent)
				}
				return a.Write(st, st.tell)
			})
		},
	}
}

func (st clusterStatus) tell(p *render.Page) {
	for _, n := range st.Nodes {
		p.Linef("node   %-28s %-22s %s, seen %s ago, %s open, %s of vectors in memory", n.Name, n.Address, n.Version,
			(time.Duration(n.SeenMs) * time.Millisecond).Round(time.Second), render.Count(n.Open, "agent"), render.Size(n.SlabBytes))
	}
	turn := func(g clusterAgent) int {
		if g.Away || g.Waiting > 0 {
			return 0
		}
		return 1
	}
	shown := slices.SortedStableFunc(slices.Values(st.Agents), func(a, b clusterAgent) int { return turn(a) - turn(b) })
	shown = shown[:min(len(shown), shownAgents)]
	for _, g := range shown {
		owner := cmp.Or(g.Owner, "nobody")
		if g.Away {
			owner += " (away)"
		}
		p.Linef("agent  %-28s %s, generation %d, owned by %s, %s", g.Agent, g.Shard, g.Generation, owner, render.Count(g.Waiting, "waiting note"))
	}
	if more := len(st.Agents) - len(shown); more > 0 {
		p.Linef("and %s; --json has all, and --agent shows one", render.Count(more, "further agent"))
	}
	p.Linef("%s, %s", render.Count(len(st.Nodes), "node"), render.Count(len(st.Agents), "agent"))
}

// shownAgents is how many agents a page shows: first those whose owner is away, or for which notes wait.
const shownAgents = 100

func (a *app) clusterDoctorCmd() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check what the databases promise: durability, standbys, roles, clocks, versions", Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd.Context(), func(s *host.Store) error {
				checks, err := s.Checks(cmd.Context())
				if err != nil {
					return err
				}
				nodes, err := s.Nodes(cmd.Context(), 5*time.Minute)
				if err != nil {
					return err
				}
				versions := map[string]bool{}
				for _, n := range nodes {
					versions[n.Version] = true
				}
				found := []clusterFinding{}
				for i, c := range checks {
					add := func(ok bool, do, format string, args ...any) {
						if ok {
							do = ""
						}
						found = append(found, clusterFinding{c.Shard, ok, fmt.Sprintf(format, args...), do})
					}
					add(c.SynchronousCommit == "on" || c.SynchronousCommit == "remote_apply", "set synchronous_commit to on or remote_apply", "PostgreSQL %s, synchronous_commit %s", c.Version, c.SynchronousCommit)
					add(c.StandbyNames != "", "set synchronous_standby_names (or synchronous_mode of Patroni), or a note may be lost with the primary", "synchronous standbys %q, connected %q", c.StandbyNames, c.Replicas)
					add(!c.Superuser, "connect with a role that is no superuser and has no BYPASSRLS", "row-level security holds for the role: %v", !c.Superuser)
					if i == 0 { // which has the nodes
						add(len(versions) <= 1, "use one version of Kioku on all nodes", "%s, of version %q", render.Count(len(nodes), "node"), slices.Sorted(maps.Keys(versions)))
					}
					add(c.Skew.Abs() < 5*time.Second, "synchronise the clocks of the machines", "the clock of the database is %s from ours", c.Skew.Round(time.Millisecond))
				}
				return a.Write(found, func(p *render.Page) {
					for _, f := range found {
						mark := map[bool]string{true: "ok  ", false: "warn"}[f.OK]
						p.Linef("%s %s  %s", mark, f.Shard, f.Text)
						if f.Do != "" {
							p.Linef("     -> %s", f.Do)
						}
					}
				})
			})
		},
	}
}

func (a *app) clusterAdoptCmd() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "adopt AGENT FOLDER", Short: "Take the folder of an agent whose machine is lost", Args: cobra.ExactArgs(2),
		Long: "Write the notes of an agent as the cluster has them into a new folder, and make this machine its owner. The former owner, if it comes\n" +
			"back, writes nothing to the cluster any more. kioku serve --agent AGENT=FOLDER goes on, and writes the notes that waited for the owner.",
		Example: "  kioku cluster adopt nova ~/nova",
	}
	cmd.RunE = a.intoFolder("and this machine its owner; kioku serve with this folder and the same --state goes on", func(ctx context.Context, s *host.Store, conf *config.Config, agent, dir string) error {
		return host.Adopt(ctx, s, conf, agent, dir, force)
	})
	cmd.Flags().BoolVar(&force, "force", false, "take it from an owner that is still there, too")
	return cmd
}

func (a *app) clusterImportCmd() *cobra.Command {
	return &cobra.Command{
		Use: "import AGENT FOLDER", Short: "Bring the notes of a folder into the cluster, with its vectors", Args: cobra.ExactArgs(2),
		Long: "Bring the notes of a folder into the cluster, with the vectors that were paid for, so that nothing is embedded again. kioku serve does so by\n" +
			"itself for the folders that it serves; nobody serves this one until kioku serve does, or another machine adopts the agent.",
		RunE: a.intoFolder("and the cluster has its notes and vectors", func(ctx context.Context, s *host.Store, conf *config.Config, agent, dir string) error {
			return host.Import(ctx, s, conf, agent, dir, a.log(slog.LevelWarn))
		}),
	}
}

func (a *app) clusterExportCmd() *cobra.Command {
	return &cobra.Command{
		Use: "export AGENT FOLDER", Short: "Write the notes of an agent, with those that wait, into a new folder", Args: cobra.ExactArgs(2),
		Long: "Write the notes of an agent as the cluster has them, with those that wait for its owner, into a new folder, and its vectors into the state\n" +
			"folder, so that nothing is embedded again. The cluster stays as it is.",
		RunE: a.intoFolder("with its notes and vectors", func(ctx context.Context, s *host.Store, conf *config.Config, agent, dir string) error {
			return host.Export(ctx, s, conf, agent, dir, a.log(slog.LevelWarn))
		}),
	}
}

// doing has f do something to the cluster, and tells what it has done.
func (a *app) doing(f func(ctx context.Context, s *host.Store, args []string) (told string, err error)) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return a.withStore(cmd.Context(), func(s *host.Store) error {
			told, err := f(cmd.Context(), s, args)
			if err == nil {
				a.Notice("%s", told)
			}
			return err
		})
	}
}

// intoFolder has f write the agent of the first argument into the folder of the second.
func (a *app) intoFolder(told string, f func(ctx context.Context, s *host.Store, conf *config.Config, agent, dir string) error) func(*cobra.Command, []string) error {
	return a.doing(func(ctx context.Context, s *host.Store, args []string) (string, error) {
		conf, err := a.config()
		if err != nil {
			return "", err
		}
		dir, err := filepath.Abs(args[1])
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s is in %s, %s", args[0], dir, told), f(ctx, s, conf, args[0], dir)
	})
}

func (a *app) clusterMoveCmd() *cobra.Command {
	return &cobra.Command{
		Use: "move AGENT DATABASE", Short: "Move an agent to another database of the cluster", Args: cobra.ExactArgs(2),
		Long: "Copy the rows of an agent to another database of the setting store, as kioku cluster status names it, and switch to it. Nobody writes\n" +
			"meanwhile; the owner goes on at the new place by itself.",
		RunE: a.doing(func(ctx context.Context, s *host.Store, args []string) (string, error) {
			return fmt.Sprintf("%s is at %s", args[0], args[1]), s.Move(ctx, args[0], args[1])
		}),
	}
}

func (a *app) clusterDrainCmd() *cobra.Command {
	return &cobra.Command{
		Use: "drain NODE", Short: "End the leases of a lost node, so that others may adopt its agents at once", Args: cobra.ExactArgs(1),
		RunE: a.doing(func(ctx context.Context, s *host.Store, args []string) (string, error) {
			agents, err := s.Drain(ctx, args[0])
			return fmt.Sprintf("%s of %s can be adopted", render.Count(agents, "agent"), args[0]), err
		}),
	}
}
