package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	agentprogram "kioku/agent/program"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/server/mcp"
)

func (a *app) mcpCmd() *cobra.Command {
	var idle time.Duration
	var turn string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the memory to an MCP client over standard input and output",
		Long: "Serve the memory to a client of the Model Context Protocol, such as Claude Code, Codex or Cursor, over standard input and\n" +
			"output. All clients of a memory share one daemon: the one that serves the folder, else one that the first client starts in\n" +
			"the background and that ends some minutes after the last client.",
		Example: "  kioku mcp --workspace ~/notes",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if turn != "" {
				return agentprogram.Join(cmd.Context(), turn, a.stdin, a.Stdout)
			}
			return a.mcp(cmd.Context(), idle)
		},
	}
	cmd.Flags().DurationVar(&idle, "idle", connect.DaemonIdle, "`time` for which a daemon that this command starts stays after the last client")
	cmd.Flags().StringVar(&turn, "turn", "", "serve what a member of a council may look up in its turn, by the `socket` of the turn; presets use it")
	return cmd
}

// mcp serves one client until its input ends or ctx does.
func (a *app) mcp(ctx context.Context, idle time.Duration) error {
	if a.noDaemon || a.readOnly {
		return render.Misuse("kioku mcp works through a daemon, which it starts if none runs; omit --no-daemon and --read-only")
	}
	conf, err := a.config()
	if err != nil {
		return err
	}
	if _, err := host.NewModel(conf); err != nil {
		a.Notice("%s", host.NoModel(err))
	}
	m := &mcpMemories{app: a, idle: idle, joined: map[string]*connect.Joined{}}
	defer m.close()
	go m.warmUp(ctx)
	return mcp.Run(ctx, mcp.Options{Open: m.open, Version: buildVersion()}, a.stdin, a.Stdout)
}

// mcpMemories are the memories that a client of kioku mcp has used.
type mcpMemories struct {
	app *app
	// idle is how long a daemon that is started stays after the last client.
	idle time.Duration

	mu sync.Mutex
	// joined are connections by the folder that led to the memory. Guarded by mu.
	joined map[string]*connect.Joined
}

// warmUp joins or starts the daemon before the first call.
func (m *mcpMemories) warmUp(ctx context.Context) {
	if _, err := m.open(ctx, nil); err != nil && !errors.Is(err, mcp.ErrNeedsRoots) && ctx.Err() == nil {
		m.app.Notice("%s", render.Message(err))
	}
}

// open returns the memory of the working directory, or of the first root that is in a workspace or contains one.
func (m *mcpMemories) open(ctx context.Context, roots []string) (*mcp.Memory, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, dir := range append([]string{m.app.dir}, foldersToLookIn(roots)...) {
		j, err := m.join(ctx, dir)
		if errors.Is(err, config.ErrNoWorkspace) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &mcp.Memory{Conn: j, Agent: j.Agent}, nil
	}
	return nil, m.needsRoots()
}

// needsRoots returns mcp.ErrNeedsRoots, and says which agents the settings have if the named one is none of them.
func (m *mcpMemories) needsRoots() error {
	conf, err := m.app.config()
	if err != nil {
		return err
	}
	if _, known := conf.Agents[conf.Agent]; !conf.Named() || known || len(conf.Agents) == 0 {
		return mcp.ErrNeedsRoots
	}
	return fmt.Errorf("the settings have no agent %s, only %s, and %w", conf.Agent, strings.Join(slices.Sorted(maps.Keys(conf.Agents)), ", "), mcp.ErrNeedsRoots)
}

// join joins the daemon of the memory that is found from a folder.
func (m *mcpMemories) join(ctx context.Context, dir string) (*connect.Joined, error) {
	if j := m.joined[dir]; j != nil {
		return j, nil
	}
	there := *m.app
	if dir != there.dir {
		there.dir, there.conf = dir, nil
	}
	k, err := there.connector()
	if err != nil {
		return nil, err
	}
	k.Out, k.Idle = &m.app.Output, m.idle
	j, err := k.Join(ctx)
	if err == nil {
		m.joined[dir] = j
	}
	return j, err
}

// close leaves all daemons.
func (m *mcpMemories) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, j := range m.joined {
		_ = j.Close() // the process ends
	}
}

// foldersToLookIn returns the roots, each followed by the folders in it that may be workspaces.
func foldersToLookIn(roots []string) []string {
	var dirs []string
	for _, root := range roots {
		dirs = append(dirs, root)
		entries, _ := os.ReadDir(root) // a root that cannot be read contains nothing
		for _, e := range entries {
			if dir := filepath.Join(root, e.Name()); e.IsDir() && config.IsMarked(dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}
