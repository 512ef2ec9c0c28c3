package main

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/embed"
	"kioku/memory"
	"kioku/server"
)

// completeWait is how long a completion may ask a daemon.
const completeWait = time.Second

// quietly reads the settings for a completion. A shell has no place for an error or a notice.
func (a *app) quietly() (*config.Config, bool) {
	a.Stderr = discard{}
	conf, err := a.config()
	return conf, err == nil
}

// discard takes notices that nobody reads.
type discard struct{}

// Write discards p.
func (discard) Write(p []byte) (int, error) { return len(p), nil }

// completePath completes the paths of the index as it is now. It changes nothing, and completes nothing if there is no index.
func (a *app) completePath(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return a.indexedPaths(cmd.Context(), begun), cobra.ShellCompDirectiveNoFileComp
}

// indexedPaths returns the paths of the index that begin with a text.
func (a *app) indexedPaths(ctx context.Context, begun string) []string {
	a.readOnly, a.Stderr = true, discard{}
	var paths []string
	_ = a.with(ctx, connect.ToGet, func(c *connect.Client) error {
		list, err := c.AllFiles(ctx, memory.FileQuery{})
		for _, f := range list.Files {
			if strings.HasPrefix(f.Path, begun) {
				paths = append(paths, f.Path)
			}
		}
		return err
	}) // a shell has no place for an error
	return paths
}

// completeAgents completes the ids of agents, also the last one of a list with commas: those of the settings, and those that the
// daemon serves.
func (a *app) completeAgents(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	conf, ok := a.quietly()
	if !ok {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	before := begun[:strings.LastIndex(begun, ",")+1]
	var list []string
	for _, id := range knownAgents(cmd.Context(), conf) {
		list = append(list, before+id)
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// knownAgents returns the ids of the agents of the settings and of those that the daemon serves, sorted.
func knownAgents(ctx context.Context, conf *config.Config) []string {
	ids := append(slices.Collect(maps.Keys(conf.Agents)), served(ctx, conf)...)
	ids = append(ids, conf.Agent)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// served returns the ids of the agents of the daemon on the unix socket; none if no daemon answers at once.
func served(ctx context.Context, conf *config.Config) (ids []string) {
	socket, err := connect.SocketPath(conf)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completeWait)
	defer cancel()
	conn, err := client.Dial("unix:"+socket, client.Options{})
	if err != nil {
		return nil
	}
	defer conn.Close()
	agents, _ := server.Notes.Agents.Call(ctx, conn.Conn, server.None{}) // a shell has no place for an error
	for _, a := range agents {
		ids = append(ids, a.ID)
	}
	return ids
}

// completeSetting completes KEY=VALUE.
func (a *app) completeSetting(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	key, _, valued := strings.Cut(begun, "=")
	if !valued {
		var keys []string
		for _, f := range config.Fields() {
			keys = append(keys, f.Key+"=\t"+f.Doc)
		}
		return keys, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	values, directive := a.valuesOf(cmd, key)
	for i := range values {
		values[i] = key + "=" + values[i]
	}
	return values, directive
}

// completeKey completes the keys of settings.
func completeKey(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var keys []string
	for _, f := range config.Fields() {
		keys = append(keys, f.Key+"\t"+f.Doc)
	}
	return keys, cobra.ShellCompDirectiveNoFileComp
}

// completeKeyAndValue completes the key of a setting, and then its value.
func (a *app) completeKeyAndValue(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return a.valuesOf(cmd, args[0])
	}
	return completeKey(cmd, args, begun)
}

// valuesOf completes the value of a setting.
func (a *app) valuesOf(cmd *cobra.Command, key string) ([]string, cobra.ShellCompDirective) {
	f, known := config.FieldOf(key)
	switch {
	case !known:
		return nil, cobra.ShellCompDirectiveNoFileComp
	case key == "agent":
		return a.completeAgents(cmd, nil, "")
	case key == "local.model":
		return a.completeModel(cmd, nil, "")
	case key == "model":
		return slices.Sorted(maps.Values(embed.DefaultModels())), cobra.ShellCompDirectiveNoFileComp
	case strings.HasPrefix(f.Type, "path"):
		return nil, cobra.ShellCompDirectiveDefault
	}
	return f.Choices(), cobra.ShellCompDirectiveNoFileComp
}

// completeGlobals completes the values of the flags of all commands.
func (a *app) completeGlobals(root *cobra.Command) {
	for flag, key := range map[string]string{"agent": "agent", "provider": "provider", "model": "model", "log-level": "logLevel", "offline": "offline"} {
		_ = root.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return a.valuesOf(cmd, key)
		}) // the flag exists
	}
	_ = root.RegisterFlagCompletionFunc("set", a.completeSetting)
	completeFlag(root, "color", colorChoices...)
	for _, folder := range []string{"workspace", "state"} {
		_ = root.MarkPersistentFlagDirname(folder)
	}
}

// completeFlag completes the value of a flag that a command has with one of values.
func completeFlag(cmd *cobra.Command, name string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
}

// bashWords takes the command line apart where the package bash-completion, which the script of cobra needs, is not installed.
const bashWords = `
# Without the package bash-completion: the words before the cursor, not broken at = and :.
if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
    _get_comp_words_by_ref() {
        local line="${COMP_LINE:0:COMP_POINT}"
        read -ra words <<<"$line"
        [[ $line == *[[:space:]] ]] && words+=("")
        cword=$((${#words[@]} - 1))
        cur="${words[cword]}"
        prev="${words[cword - 1]}"
    }
fi
`

// completeInBash makes the completion script of bash work without the package bash-completion.
func (a *app) completeInBash(cmd *cobra.Command) {
	write := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := write(cmd, args); err != nil {
			return err
		}
		_, err := io.WriteString(a.Stdout, bashWords)
		return err
	}
}
