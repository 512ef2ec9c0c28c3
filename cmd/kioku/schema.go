package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"kioku/bench"
	"kioku/cmd/kioku/internal/modelstore"
	"kioku/cmd/kioku/internal/render"
	"kioku/council"
	"kioku/council/engine"
	"kioku/memory"
	"kioku/server"
	"kioku/server/op"
)

// outputs are values like those that commands write with --json. A name is that of the command, and what makes it write another value.
var outputs = map[string]any{
	"append":                  operation(server.Notes.Append),
	"backup":                  backupReport{},
	"backup verify":           backupReport{},
	"bench golden":            bench.GoldenReport{},
	"bench retrieval":         bench.Runs{},
	"config get":              shownSetting{},
	"config list":             []shownSetting{},
	"council action approve":  operation(server.Council.ApproveAction),
	"council action list":     operation(server.Council.ListActions),
	"council action request":  operation(server.Council.RequestAction),
	"council approve":         oneOf{engine.Detail{}, council.Suggestion{}},
	"council archive":         operation(server.Council.Archive),
	"council ask":             engine.Detail{},
	"council cancel":          operation(server.Council.Cancel),
	"council command":         operation(server.Council.Commands),
	"council comment":         operation(server.Council.Comment),
	"council decide":          engine.Detail{},
	"council doctor":          operation(server.Council.Doctor),
	"council evaluate":        council.EvaluationState{},
	"council evaluations":     operation(server.Council.Evaluations),
	"council import":          engine.ImportReport{},
	"council init":            councilMade{},
	"council list":            operation(server.Council.List),
	"council logs":            council.LogLine{},
	"council members":         operation(server.Council.Status),
	"council outcome":         operation(server.Council.Outcome),
	"council params get":      operation(server.Council.Params),
	"council params rollback": operation(server.Council.Params),
	"council params set":      operation(server.Council.Params),
	"council report":          engine.Detail{},
	"council round":           engine.Detail{},
	"council show":            operation(server.Council.Show),
	"council submit":          operation(server.Council.Submit),
	"council suggest":         operation(server.Council.Suggest),
	"council suggestions":     operation(server.Council.Suggestions),
	"council workers":         operation(server.Council.Workers),
	"council workers add":     workerAdded{},
	"derive close":            operation(server.Derive.Decide),
	"derive correct":          operation(server.Derive.Decide),
	"derive entities":         operation(server.Derive.Entities),
	"derive estimate":         operation(server.Derive.Estimate),
	"derive export":           operation(server.Derive.Show),
	"derive forget":           operation(server.Derive.Decide),
	"derive history":          operation(server.Derive.History),
	"derive list":             operation(server.Derive.List),
	"derive merge":            operation(server.Derive.Decide),
	"derive pin":              operation(server.Derive.Decide),
	"derive reopen":           operation(server.Derive.Decide),
	"derive retry":            operation(server.Derive.Retry),
	"derive run":              operation(server.Derive.Status),
	"derive show":             operation(server.Derive.Show),
	"derive split":            operation(server.Derive.Decide),
	"derive status":           operation(server.Derive.Status),
	"derive undo":             operation(server.Derive.Decide),
	"derive unpin":            operation(server.Derive.Decide),
	"doctor":                  diagnosis{},
	"config openclaw":         takeoverReport{},
	"explain":                 operation(server.Notes.Explain),
	"get":                     operation(server.Notes.Get),
	"get several":             []memory.Excerpt{},
	"index":                   indexReport{},
	"history diff":            operation(server.NotesThen.Diff),
	"history purge":           operation(server.NotesThen.Purge),
	"history log":             operation(server.NotesThen.Log),
	"history show":            operation(server.NotesThen.Show),
	"undo writes":             operation(server.NotesThen.Undo),
	"index estimate":          operation(server.Notes.Estimate),
	"init":                    made{},
	"join":                    joinReport{},
	"links":                   operation(server.Notes.Links),
	"ls":                      operation(server.Notes.List),
	"model add":               addedModel{},
	"model check":             checkedModel{},
	"model list":              []shownModel{},
	"model list known":        []modelstore.Known{},
	"restore":                 restoreReport{},
	"search":                  operation(server.Notes.Search),
	"search the past":         operation(server.NotesThen.Search),
	"setup":                   clientList{},
	"setup a client":          shownSetup{},
	"status":                  operation(server.Notes.Status),
	"status events":           operation(server.Notes.Events),
	"token add":               tokenReport{},
	"token list":              []tokenReport{},
	"token revoke":            tokenReport{},
	"undo":                    operation(server.Notes.Undo),
	"undo list":               operation(server.Notes.Revisions),
	"update":                  operation(server.Notes.Update),
	"version":                 buildInfo{},
}

// operation returns a value of the answer of an operation.
func operation(o op.Any) any { return reflect.Zero(o.About().Out).Interface() }

// oneOf is one of several values.
type oneOf []any

// outputLines are the commands that write a value on each line.
var outputLines = []string{"council logs", "derive export", "status events"}

// schemaOf returns the JSON Schema of an output, which allows no member that it does not know.
func schemaOf(name string) (*jsonschema.Schema, error) {
	if values, ok := outputs[name].(oneOf); ok {
		s := &jsonschema.Schema{}
		for _, v := range values {
			one, err := op.SchemaOf(reflect.TypeOf(v))
			if err != nil {
				return nil, err
			}
			s.AnyOf = append(s.AnyOf, one)
		}
		return s, nil
	}
	return op.SchemaOf(reflect.TypeOf(outputs[name]))
}

func (a *app) schemaCmd() *cobra.Command {
	return &cobra.Command{
		Use: "schema [COMMAND]", Short: "Print the JSON Schema of what a command writes with --json",
		Long: "Print the JSON Schema (draft 2020-12) of what a command writes with --json; without one, list the commands that have a schema.\n" +
			"A later version may add members. It removes or renames none without a line in the changelog.",
		Example: "  kioku schema council show",
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
			for name := range outputs {
				if rest, ok := strings.CutPrefix(name, strings.Join(append(args, begun), " ")); ok {
					names = append(names, begun+rest)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			name := strings.Join(args, " ")
			names := slices.Sorted(maps.Keys(outputs))
			switch {
			case name == "":
				return a.Write(names, func(p *render.Page) {
					for _, n := range names {
						p.Linef("%s", n)
					}
				})
			case outputs[name] == nil:
				return fmt.Errorf("%s writes no JSON of its own; kioku schema lists the commands that do", name)
			}
			s, err := schemaOf(name)
			if err != nil {
				return err
			}
			s = op.Open(s)
			s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", "kioku "+name+" --json"
			text, err := json.MarshalIndent(s, "", "  ")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Stdout, "%s\n", text)
			return err
		},
	}
}
