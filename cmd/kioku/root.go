package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/config"
)

func (a *app) rootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "kioku",
		Short: "Memory for AI agents: search over a folder of Markdown",
		Long: "Kioku keeps an index of a folder of Markdown notes and answers searches over it.\n" +
			"Settings come from flags, else from KIOKU_... variables, else from the config file; kioku config list shows all.",
		SilenceUsage: true, SilenceErrors: true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			a.started = true
			if cmd.Name() != "serve" { // which reads its settings again
				a.endOnHangup()
			}
		},
	}
	root.SetFlagErrorFunc(flagError)
	a.addGlobals(root)
	root.AddCommand(
		a.initCmd(), a.serveCmd(), a.agentCmd(), a.indexCmd(), a.searchCmd(), a.getCmd(), a.appendCmd(), a.statusCmd(),
		a.explainCmd(), a.promptCmd(), a.chatCmd(), a.watchCmd(), a.benchCmd(), a.configCmd(), a.versionCmd(), a.demoCmd(),
	)
	return root
}

// parserError matches an error of strconv inside an error of the flag parser.
var parserError = regexp.MustCompile(`strconv\.Parse(\w+): parsing ".*": (.+)$`)

// flagError rewrites an error of the flag parser for people.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	takesText := slices.Contains([]string{"search", "explain", "append", "prompt"}, cmd.Name())
	if takesText && strings.HasPrefix(text, "unknown ") {
		return fmt.Errorf("%w; write a text that begins with - after --, as in kioku %s -- -x", err, cmd.Name())
	}
	m := parserError.FindStringSubmatchIndex(text)
	if m == nil {
		return err
	}
	problem := "not a whole number"
	switch kind, reason := text[m[2]:m[3]], text[m[4]:m[5]]; {
	case strings.Contains(reason, "range"):
		problem = "too large a number"
	case kind == "Bool":
		problem = "neither true nor false"
	case kind == "Float":
		problem = "not a number"
	}
	return errors.New(text[:m[0]] + problem)
}

// addGlobals adds the flags of all commands.
func (a *app) addGlobals(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&a.configFile, "config", "", "config file `path`")
	flags.BoolVar(&a.JSON, "json", false, "write JSON to stdout")
	flags.BoolVar(&a.noDaemon, "no-daemon", false, "do not use a daemon, open the index")
	flags.BoolVar(&a.readOnly, "read-only", false, "open the index as it is, without bringing it up to date")
	for _, s := range []struct{ name, key, usage string }{
		{"workspace", "workspace", "`folder` with MEMORY.md and memory/"},
		{"state", "state", "`folder` of the index"},
		{"agent", "agent", "`id` of the agent (default main)"},
		{"provider", "provider", "embedding `provider`: none, hash or openai"},
		{"model", "model", "embedding `model`"},
		{"base-url", "remote.baseUrl", "`URL` of an OpenAI-compatible server"},
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

// fileFlag sets a secret setting to the content of a file.
type fileFlag struct{ setting }

// Set remembers the file until the settings are read.
func (f *fileFlag) Set(path string) error { return f.setting.Set("file:" + path) }
