package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/text"
)

func (a *app) rootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "kioku",
		Short: "Memory for AI agents: search over a folder of Markdown",
		Long: "Kioku keeps an index of a folder of Markdown notes and answers searches over it.\n" +
			"Settings come from flags, else from KIOKU_... variables, else from the config file; kioku config list shows all.",
		SilenceUsage: true, SilenceErrors: true, Args: knownCommand, RunE: showHelp,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			a.started = true
			if cmd.Name() != "serve" { // which reads its settings again
				a.endOnHangup()
			}
		},
	}
	root.SetFlagErrorFunc(flagError)
	a.addGlobals(root)
	a.completeGlobals(root)
	root.SetHelpCommand(helpCmd())
	a.addCommands(root)
	shortHelp(root)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		group(completion)
	}
	if bash, _, err := root.Find([]string{"completion", "bash"}); err == nil {
		a.completeInBash(bash)
	}
	return root
}

// groups are the commands of the program, as help lists them. Those without a title are started by other programs.
func (a *app) groups() []commandGroup {
	return []commandGroup{
		{"Everyday commands:", []*cobra.Command{a.initCmd(), a.setupCmd(), a.searchCmd(), a.appendCmd(), a.getCmd(), a.lsCmd(), a.statusCmd(), a.serveCmd(), a.doctorCmd(), a.modelCmd()}},
		{"Notes:", []*cobra.Command{a.updateCmd(), a.forgetCmd(), a.correctCmd(), a.tidyCmd(), a.undoCmd(), a.linksCmd(), a.explainCmd(), a.deriveCmd()}},
		{"History:", []*cobra.Command{a.historyCmd()}},
		{"Agents:", []*cobra.Command{a.chatCmd(), a.promptCmd(), a.agentCmd(), a.councilCmd()}},
		{"Administration:", []*cobra.Command{a.configCmd(), a.tokenCmd(), a.indexCmd(), a.stopCmd(), a.restartCmd(), a.backupCmd(), a.restoreCmd(), a.clusterCmd(), a.benchCmd(), a.schemaCmd(), a.versionCmd()}},
		{"", []*cobra.Command{a.demoCmd(), a.manCmd(), a.mcpCmd(), a.joinCmd(), a.hookCmd()}},
	}
}

// commandGroup is a group of commands in the help.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

// plainGroup is the group of the commands that operations have by themselves.
const plainGroup = "More operations:"

// addCommands adds the commands in their groups.
func (a *app) addCommands(root *cobra.Command) {
	for _, g := range a.groups() {
		if g.title != "" {
			root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		}
		for _, cmd := range g.commands {
			cmd.GroupID, cmd.Hidden = g.title, g.title == ""
			root.AddCommand(cmd)
		}
	}
	root.AddGroup(&cobra.Group{ID: plainGroup, Title: plainGroup})
	for _, cmd := range a.plainCmds(root) {
		cmd.GroupID = plainGroup
		root.AddCommand(cmd)
	}
	root.SetHelpCommandGroupID("Administration:")
	root.SetCompletionCommandGroupID("Administration:")
}

// usualFlags are the flags of all commands that help shows; --help --all shows all.
var usualFlags = []string{"workspace", "agent", "json", "config"}

// shortHelp makes help show of the flags of all commands only the usual ones, unless --all is given.
func shortHelp(root *cobra.Command) {
	flags, help := root.PersistentFlags(), root.HelpFunc()
	flags.Bool("all", false, "with --help, show all flags of all commands")
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		all := cmd.Flags().Lookup("all")
		if all != nil && all.Changed {
			help(cmd, args)
			return
		}
		flags.VisitAll(func(f *pflag.Flag) { f.Hidden = !slices.Contains(usualFlags, f.Name) })
		help(cmd, args)
		flags.VisitAll(func(f *pflag.Flag) { f.Hidden = false })
		fmt.Fprintf(cmd.OutOrStdout(), "\n%s --help --all shows the flags that all commands have.\n", cmd.CommandPath())
	})
}

// group makes a command that only contains others: it shows its help, and refuses what is none of them.
func group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = knownCommand, showHelp
	cmd.AddCommand(commands...)
	return cmd
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// knownCommand returns a misuse that names the nearest command if there are arguments: cobra would have found a command by its name.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	if now := moved[args[0]]; now != "" && cmd == cmd.Root() {
		return fmt.Errorf("%w; it is %s now", err, now)
	}
	if near := text.Nearest(args[0], names); near != "" {
		err = fmt.Errorf("%w; did you mean %s %s?", err, cmd.CommandPath(), near)
	}
	return err
}

// moved are commands of earlier versions, and what has taken the place of each.
var moved = map[string]string{
	"log": "kioku history log", "show": "kioku history show", "diff": "kioku history diff", "watch": "kioku status --follow", "top": "kioku status --follow",
	"import": "kioku config openclaw, or a copy of the file of embeddings,", "export": "a copy of the file of embeddings", "cache": "the file of embeddings, which may be deleted,",
}

// helpCmd replaces the help command of cobra, which succeeds for a command that does not exist.
func helpCmd() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about any command",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range about.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return render.Misuse("%w", knownCommand(about, rest))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// parserError matches an error of strconv inside an error of the flag parser.
var parserError = regexp.MustCompile(`strconv\.Parse(\w+): parsing ".*": (.+)$`)

// flagError rewrites an error of the flag parser for people.
func flagError(cmd *cobra.Command, err error) error {
	problem := err.Error()
	takesText := slices.Contains([]string{"search", "explain", "append", "update", "prompt"}, cmd.Name())
	if takesText && strings.HasPrefix(problem, "unknown ") {
		return fmt.Errorf("%w; write a text that begins with - after --, as in kioku %s -- -x", err, cmd.Name())
	}
	m := parserError.FindStringSubmatchIndex(problem)
	if m == nil {
		return err
	}
	instead := "not a whole number"
	switch kind, reason := problem[m[2]:m[3]], problem[m[4]:m[5]]; {
	case strings.Contains(reason, "range"):
		instead = "too large a number"
	case kind == "Bool":
		instead = "neither true nor false"
	case kind == "Float":
		instead = "not a number"
	}
	return errors.New(problem[:m[0]] + instead)
}

// addGlobals adds the flags of all commands.
func (a *app) addGlobals(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&a.configFile, "config", "", "config file `path`")
	flags.BoolVar(&a.JSON, "json", false, "write JSON to stdout")
	flags.Var(&colorFlag{&a.Color}, "color", "colours: `auto` for a terminal, always, or never")
	flags.BoolVar(&a.noDaemon, "no-daemon", false, "do not use a daemon, open the index")
	flags.BoolVar(&a.readOnly, "read-only", false, "open the index as it is, without bringing it up to date")
	for _, s := range []struct{ name, key, usage string }{
		{"workspace", "workspace", "`folder` of notes (default: the one around the current folder)"},
		{"state", "state", "`folder` of the index"},
		{"agent", "agent", "`id` of the agent (default: the one of the folder)"},
		{"provider", "provider", "embedding `provider`: auto, none, local, openai, gemini, voyage, mistral, ollama or hash"},
		{"model", "model", "embedding `model`"},
		{"base-url", "remote.baseUrl", "`URL` of the provider's server, such as an OpenAI-compatible one"},
		{"dims", "dims", "`length` of the vectors"},
		{"log-level", "logLevel", "debug, info, warn or error"},
		{"socket", "socket", "unix socket `path` of the daemon"},
		{"target", "client.target", "`host:port` of a daemon on another machine"},
		{"tls-ca", "client.ca", "PEM `file` of the authorities of that daemon"},
		{"tls-cert", "client.cert", "PEM `file` of the certificate that is shown to that daemon"},
		{"tls-key", "client.key", "PEM `file` of the private key of that certificate"},
	} {
		flags.Var(&setting{app: a, name: s.name, key: s.key}, s.name, s.usage)
	}
	offline := flags.VarPF(&boolFlag{setting{app: a, name: "offline", key: "offline"}}, "offline", "", "send nothing to another machine")
	offline.NoOptDefVal = "true"
	flags.Var(&fileFlag{setting{app: a, name: "token-file", key: "client.token"}}, "token-file", "`file` with the token for that daemon")
	flags.Var(&setting{app: a, name: "set"}, "set", "any setting, `key=value` (repeatable)")
}

// setting is a flag that sets a setting. If key is empty, its value is key=value.
type setting struct {
	app       *app
	name, key string
}

// Set remembers the value until the settings are read.
func (s *setting) Set(value string) error {
	key := s.key
	if key == "" {
		var ok bool
		if key, value, ok = strings.Cut(value, "="); !ok {
			return fmt.Errorf("write it as key=value")
		}
	}
	s.app.flags = append(s.app.flags, config.Flag{Name: "--" + s.name, Key: key, Value: value})
	return nil
}

// String is empty: the default is that of the setting.
func (s *setting) String() string { return "" }

// Type returns the name of the value in help texts.
func (s *setting) Type() string { return "value" }

// boolFlag sets a setting that is true or false.
type boolFlag struct{ setting }

// Type makes help texts show the flag without a value.
func (f *boolFlag) Type() string { return "bool" }

// fileFlag sets a secret setting to the content of a file.
type fileFlag struct{ setting }

// Set remembers the file until the settings are read.
func (f *fileFlag) Set(path string) error { return f.setting.Set("file:" + path) }

// colorFlag is --color.
type colorFlag struct{ color *string }

// Set accepts auto, always and never.
func (f *colorFlag) Set(value string) error {
	if !slices.Contains(colorChoices, value) {
		return fmt.Errorf("it must be %s", strings.Join(colorChoices, ", "))
	}
	*f.color = value
	return nil
}

// colorChoices are the values of --color.
var colorChoices = []string{render.ColorAuto, render.ColorAlways, render.ColorNever}

// String is empty: the default is auto.
func (f *colorFlag) String() string { return "" }

// Type returns the name of the value in help texts.
func (f *colorFlag) Type() string { return "when" }
