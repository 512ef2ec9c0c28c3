package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/cmd/kioku/internal/setup"
	"kioku/internal/files"
	"kioku/internal/text"
)

// setupFlags are the flags of kioku setup.
type setupFlags struct {
	scope, name       string
	dryRun, undo, yes bool
	noHooks, noAllow  bool
	noModel           bool
}

func (a *app) setupCmd() *cobra.Command {
	var f setupFlags
	cmd := &cobra.Command{
		Use: "setup [CLIENT]", Short: "Connect Claude Code, Codex, Cursor and other MCP clients to the memory",
		Long: "Write the memory into the configuration of an MCP client, after showing the change: " + clientNames() + ".\n" +
			"Everything else in the file stays as it is, and a copy of it is kept beside it. Flags of settings, such as --workspace\n" +
			"and --agent, are passed on to the server; without them it is the memory that this command finds here. Claude Code and Codex\n" +
			"get hooks too, so that conversations begin with what is known and are stored; Claude Code may use the tools without asking.\n" +
			"Without a client, setup lists those that are found on this machine and whether they are set up.",
		Example: "  kioku setup\n  kioku setup claude-code --workspace ~/memory\n  kioku setup codex --dry-run\n  kioku setup claude-code --undo",
		Args:    cobra.MaximumNArgs(1), ValidArgs: clientIDs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listClients()
			}
			return a.setUp(cmd.Context(), args[0], f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.scope, "scope", string(setup.User), "`whose` configuration: user, or project for the one in the current folder")
	fl.StringVar(&f.name, "name", "", "`name` of the entry (default: kioku, and kioku-FOLDER for a second memory)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "show the change, and write nothing")
	fl.BoolVar(&f.undo, "undo", false, "take out what setup added")
	fl.BoolVar(&f.noHooks, "no-hooks", false, "leave the hooks of the client alone (Claude Code and Codex have some)")
	fl.BoolVar(&f.noAllow, "no-allow", false, "have Claude Code ask before it uses a tool of the memory")
	fl.BoolVar(&f.noModel, "no-model", false, "do not offer a model")
	fl.BoolVarP(&f.yes, "yes", "y", false, "write without asking")
	completeFlag(cmd, "scope", string(setup.User), string(setup.Project))
	return cmd
}

func clientIDs() []string {
	var ids []string
	for _, c := range setup.Clients() {
		ids = append(ids, c.ID)
	}
	return ids
}

func clientNames() string { return strings.Join(clientIDs(), ", ") }

// machine returns where clients keep their configurations.
func (a *app) machine() *setup.Machine {
	return &setup.Machine{OS: runtime.GOOS, Env: a.Env, Dir: a.dir}
}

// shownSetup is the output of kioku setup CLIENT --json.
type shownSetup struct {
	// Client by its name on the command line.
	Client string `json:"client"`
	// Scope of the configuration: user or project.
	Scope string `json:"scope"`
	// Name of the entry.
	Name string `json:"name"`
	shownChange
	// Hooks is the change of the file of hooks; null if the client has none, or if they are left alone.
	Hooks *shownChange `json:"hooks"`
	// DryRun is true if nothing is written whatever the change is.
	DryRun bool `json:"dry_run"`
}

// shownChange is the change of a file.
type shownChange struct {
	// Path of the configuration.
	Path string `json:"path"`
	// Copy is the path of the copy from before the first setup.
	Copy string `json:"copy"`
	// Diff is empty if there is nothing to change.
	Diff []string `json:"diff"`
	// Removes is true if the file is removed, because setup created it.
	Removes bool `json:"removes"`
}

func showChange(p *setup.Plan) shownChange {
	return shownChange{Path: p.Path, Copy: p.Copy, Diff: render.Diff(p.Before, p.After), Removes: p.Removes()}
}

// setUp plans the change of a configuration, shows it, and writes it if that is wanted.
func (a *app) setUp(ctx context.Context, id string, f setupFlags) error {
	client, ok := setup.Find(id)
	if !ok {
		near := text.Nearest(id, clientIDs())
		if near != "" {
			return render.Misuse("unknown client %q; did you mean %s? There are %s", id, near, clientNames())
		}
		return render.Misuse("unknown client %q; there are %s", id, clientNames())
	}
	plan, hooks, err := a.planSetup(client, f)
	if err != nil {
		return err
	}
	shown := shownSetup{Client: id, Scope: f.scope, Name: plan.Name, shownChange: showChange(plan), DryRun: f.dryRun || a.readOnly}
	if hooks != nil {
		change := showChange(hooks)
		shown.Hooks = &change
	}
	changed := plan.Changed() || hooks != nil && hooks.Changed()
	if err := a.Write(shown, shown.tell); err != nil || !changed || shown.DryRun {
		return err
	}
	if ok, err := a.confirmed(f.yes); !ok {
		return err
	}
	if err := plan.Write(); err != nil {
		return err
	}
	if hooks != nil {
		if err := hooks.Write(); err != nil {
			return fmt.Errorf("%s was written, but not the hooks: %w", plan.Path, err)
		}
	}
	a.tellWritten(client, f, plan, hooks)
	conf, err := a.config()
	if err == nil && f.undo && conf.Has(config.SourceHosts) {
		a.Notice("the memories of other programs are still searched; kioku config set sources memory leaves them out")
	}
	if err != nil || f.undo || f.noModel {
		return err
	}
	place, err := conf.Here()
	if err != nil {
		return nil // a server elsewhere has its own model
	}
	return errors.Join(a.offerModel(ctx, conf, place.Workspace, false, f.yes), a.offerHosts(ctx, conf, f.yes))
}

// tellWritten says what was written and what comes next.
func (a *app) tellWritten(client setup.Client, f setupFlags, plan, hooks *setup.Plan) {
	files := plan.Path
	if hooks != nil && hooks.Changed() {
		files += " and " + hooks.Path
	}
	if f.undo {
		a.Notice("%s is no longer set up in %s", plan.Name, files)
		return
	}
	back := "kioku setup " + client.ID
	if f.scope != string(setup.User) {
		back += " --scope " + f.scope
	}
	if f.name != "" || plan.Name != setup.DefaultName {
		back += " --name " + plan.Name
	}
	a.Notice("written to %s. %s %s --undo takes it back", files, client.Next, back)
}

// planSetup returns the change that the flags describe, and that of the hooks, nil if there is none.
func (a *app) planSetup(client setup.Client, f setupFlags) (plan, hooks *setup.Plan, err error) {
	scope := setup.Scope(f.scope)
	if _, err := client.Path(a.machine(), scope); err != nil {
		return nil, nil, render.Misuse("--scope: %w", err)
	}
	server, err := a.mcpServer(scope)
	server.Name = f.name
	if f.undo {
		return a.planUndo(client, scope, server, !f.noHooks) // which needs no workspace if there is one entry
	}
	if err != nil {
		return nil, nil, err
	}
	if plan, err = client.Install(a.machine(), scope, server); err != nil {
		return nil, nil, err
	}
	allowed := plan.Name
	if f.noAllow {
		allowed = ""
	}
	if own, ok := client.Hooks(allowed); ok && !f.noHooks {
		hooks, err = own.Install(a.machine(), scope, server)
	}
	return plan, hooks, err
}

// planUndo returns the change that takes out an entry, and that of the hooks of its memory, nil if it has none.
func (a *app) planUndo(client setup.Client, scope setup.Scope, server setup.Server, withHooks bool) (plan, hooks *setup.Plan, err error) {
	m := a.machine()
	entries, _ := client.Entries(m, scope) // Undo says what is wrong
	plan, err = client.Undo(m, scope, server)
	if err != nil {
		if errors.Is(err, setup.ErrNotSetUp) {
			err = fmt.Errorf("%w; kioku setup lists what is", err)
		}
		return nil, nil, err
	}
	own, ok := client.Hooks(plan.Name)
	if !ok || !withHooks {
		return plan, nil, nil
	}
	known, err := own.Entries(m, scope)
	if err != nil {
		return nil, nil, err
	}
	at := slices.IndexFunc(entries, func(e setup.Entry) bool { return e.Name == plan.Name })
	if at < 0 || !slices.ContainsFunc(known, func(e setup.Entry) bool { return slices.Equal(e.Command[1:], entries[at].Command[1:]) }) {
		return plan, nil, nil
	}
	hooks, err = own.Undo(m, scope, setup.Server{Args: entries[at].Command[1:]})
	if errors.Is(err, setup.ErrNotSetUp) {
		return plan, nil, nil // somebody else wrote them
	}
	return plan, hooks, err
}

// mcpServer returns the command that a client starts: kioku mcp with the flags of settings of this command. For the user it names
// the workspace, because the client may start it in any folder. In a project, which others may have elsewhere, it names neither
// the workspace, unless a flag does, nor the folder of the program. With an error it has arguments only if nothing but the folder of
// the workspace is missing.
func (a *app) mcpServer(scope setup.Scope) (setup.Server, error) {
	server := setup.Server{Command: "kioku", Args: []string{"mcp"}}
	if scope == setup.User {
		server.Command = a.programPath()
	}
	conf, err := a.config()
	if err != nil {
		return setup.Server{}, err
	}
	if a.configFile != "" {
		server.Args = append(server.Args, "--config", a.inDir([]string{a.configFile})[0])
	}
	place, err := conf.Here()
	remote := conf.Client.Target != ""
	if err == nil && (conf.WorkspaceNamed() || scope == setup.User && !conf.Named() && !remote) {
		server.Args = append(server.Args, "--workspace", place.Workspace)
	} else if err != nil && (!errors.Is(err, config.ErrNoWorkspace) || scope == setup.User && !remote) {
		return setup.Server{}, err
	} // else the server looks in the folder in which it is started, or asks a daemon elsewhere
	server.Memory = filepath.Base(place.Workspace)
	if conf.Named() {
		server.Memory = conf.Agent
	}
	for _, f := range a.flags {
		if v, err := conf.Value(f.Key); err == nil && v.HidesSecret() {
			return setup.Server{}, render.Misuse("%s would be written in the clear into the file of the client; name it as env:NAME or file:PATH", f.Key)
		}
		server.Args = append(server.Args, a.passedOn(conf, f)...)
	}
	if place.Workspace != "" && !remote {
		if info, err := os.Stat(place.Workspace); err != nil || !info.IsDir() {
			return server, render.Misuse("there is no folder %s; kioku init %s creates it", place.Workspace, render.ShellQuote(place.Workspace))
		}
	}
	return server, nil
}

// passedOn returns the arguments of a flag for the server, with absolute paths.
func (a *app) passedOn(conf *config.Config, f config.Flag) []string {
	switch {
	case f.Name == "--workspace":
		return nil // it is there already
	case f.Name == "--set":
		return []string{f.Name, f.Key + "=" + f.Value}
	case f.Name == "--token-file":
		return []string{f.Name, a.inDir([]string{strings.TrimPrefix(f.Value, "file:")})[0]}
	case f.Name == "--offline":
		return []string{f.Name + "=" + f.Value}
	}
	if v, err := conf.Value(f.Key); err == nil && v.Type == "path" {
		return []string{f.Name, v.Text}
	}
	return []string{f.Name, f.Value}
}

// programPath returns the absolute path of this program: that in the PATH if it is the same file, because it stays when a package
// manager replaces the file behind it.
func (a *app) programPath() string {
	own, err := os.Executable()
	if err != nil {
		own = os.Args[0]
	}
	if found := a.machine().LookPath(filepath.Base(own)); found != "" && files.SameFolder(found, own) {
		return found
	}
	return own
}

// confirmed asks whether to write. Without a terminal nobody can answer, so that --yes is needed.
func (a *app) confirmed(yes bool) (bool, error) {
	if yes {
		return true, nil
	}
	if in, ok := a.stdin.(*os.File); !ok || !render.IsTerminal(in) || a.JSON {
		return false, render.Misuse("nothing was written; --yes writes it without a question")
	}
	fmt.Fprint(a.Stderr, "Write this? [y/N] ")
	answer, _ := bufio.NewReader(a.stdin).ReadString('\n') // the end of input means no
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	a.Notice("nothing was written")
	return false, nil
}

// maxDiffLine is the maximum length of a line of a shown change, in characters: some clients keep everything on one line.
const maxDiffLine = 200

// tell adds the changes.
func (s shownSetup) tell(p *render.Page) {
	s.shownChange.tell(p, "the entry is "+s.Name)
	if s.Hooks != nil {
		s.Hooks.tell(p, "the hooks are there")
	}
}

// tell adds the change of a file, or what is there if there is none.
func (s shownChange) tell(p *render.Page, there string) {
	if len(s.Diff) == 0 && !s.Removes {
		p.Linef("%s: nothing to change; %s.", s.Path, there)
		return
	}
	p.Linef("%s", render.Bold(s.Path))
	for _, line := range s.Diff {
		line = strings.TrimSuffix(line, "\r")
		if cut := []rune(line); len(cut) > maxDiffLine {
			line = string(cut[:maxDiffLine]) + "…"
		}
		p.Linef("%s", line)
	}
	if s.Removes {
		p.Linef("The file is removed: setup created it.")
	}
}
