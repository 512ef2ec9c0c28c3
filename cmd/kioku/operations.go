package main

import (
	"strings"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/internal/connect"
	"kioku/server"
	"kioku/server/op"
)

// elsewhere are operations on notes that commands of other names call.
var elsewhere = map[string]string{"estimate": "index --estimate", "sync": "index", "rebuild": "index --force", "events": "status --follow", "undo list": "undo --list"}

// plainCmds returns commands for the operations on notes that have none in root.
func (a *app) plainCmds(root *cobra.Command) (list []*cobra.Command) {
	for _, o := range server.NoteOperations() {
		name := o.About().Name
		if cmd, _, err := root.Find(strings.Fields(name)); elsewhere[name] == "" && (err != nil || cmd == root) {
			list = append(list, a.plainCmd(o))
		}
	}
	return list
}

// plainCmd returns the command of an operation that has no other: its arguments are the members in the path of the request, its flags the
// others, and it writes the answer as JSON.
func (a *app) plainCmd(o op.Any) *cobra.Command {
	about := o.About()
	summary, _, _ := strings.Cut(about.Doc, ". ")
	cmd := &cobra.Command{
		Use: strings.ReplaceAll(about.Name, " ", "-"), Short: strings.TrimSuffix(summary, ".") + ", as JSON", Long: about.Doc,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	var arguments []string
	values := map[string]*[]string{}
	for _, f := range about.Fields() {
		switch {
		case f.Name == "agent":
		case f.InPath:
			arguments = append(arguments, f.Name)
			cmd.Use += " " + strings.ToUpper(f.Name)
			cmd.ValidArgsFunction = a.completePath
		default:
			flag := strings.ReplaceAll(f.Name, "_", "-")
			values[f.Name] = cmd.Flags().StringArray(flag, nil, strings.TrimSpace(f.Doc+" ("+f.Kind+")"))
			if f.Flag {
				cmd.Flags().Lookup(flag).NoOptDefVal = "true"
			}
		}
	}
	cmd.Args = cobra.ExactArgs(len(arguments))
	with := a.fresh
	if about.Right == server.RightWrite {
		with = a.to(connect.ToAppend)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return with(cmd.Context(), func(c *connect.Client) error {
			members := map[string][]string{}
			for name, given := range values {
				if len(*given) > 0 {
					members[name] = *given
				}
			}
			for i, name := range arguments {
				members[name] = args[i : i+1]
			}
			for _, f := range about.Fields() {
				if f.Name == "agent" {
					members["agent"] = []string{c.Agent}
				}
			}
			for part, err := range op.Ask(cmd.Context(), c.Conn, o, members) {
				if err == nil {
					err = a.WriteJSON(part, "  ")
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return cmd
}
