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

// outputs are values like those that commands write with --json, but for those that write the answer of an operation with their name. A
// name is that of the command, and what makes it write another value.
var outputs = map[string]any{
	"backup":                  backupReport{},
	"backup verify":           backupReport{},
	"bench golden":            bench.GoldenReport{},
	"bench retrieval":         bench.Runs{},
	"cluster doctor":          []clusterFinding{},
	"cluster status":          clusterStatus{},
	"config get":              shownSetting{},
	"config list":             []shownSetting{},
	"correct":                 operation(server.Notes.Forget),
	"council action list":     operation(server.Council.ListActions),
	"council action request":  operation(server.Council.RequestAction),
	"council approve":         oneOf{engine.Detail{}, council.Suggestion{}},
	"council ask":             engine.Detail{},
	"council command":         operation(server.Council.Commands),
	"council decide":          engine.Detail{},
	"council evaluate":        council.EvaluationState{},
	"council import":          engine.ImportReport{},
	"council init":            councilMade{},
	"council logs":            council.LogLine{},
	"council members":         operation(server.Council.Status),
	"council params get":      operation(server.Council.Params),
	"council params rollback": operation(server.Council.Params),
	"council params set":      operation(server.Council.Params),
	"council report":          engine.Detail{},
	"council round":           engine.Detail{},
	"council submit":          operation(server.Council.Submit),
	"council workers add":     workerAdded{},
	"derive close":            operation(server.Derive.Decide),
	"derive correct":          operation(server.Derive.Decide),
	"derive export":           operation(server.Derive.Show),
	"derive forget":           operation(server.Derive.Decide),
	"derive merge":            operation(server.Derive.Decide),
	"derive pin":              operation(server.Derive.Decide),
	"derive reopen":           operation(server.Derive.Decide),
	"derive run":              operation(server.Derive.Status),
	"derive split":            operation(server.Derive.Decide),
	"derive undo":             operation(server.Derive.Decide),
	"derive unpin":            operation(server.Derive.Decide),
	"doctor":                  diagnosis{},
	"config openclaw":         takeoverReport{},
	"get several":             []memory.Excerpt{},
	"index":                   indexReport{},
	"init":                    made{},
	"join":                    joinReport{},
	"model add":               addedModel{},
	"model check":             checkedModel{},
	"model list":              []shownModel{},
	"model list known":        []modelstore.Known{},
	"prompt":                  server.AgentPrompt{},
	"restore":                 restoreReport{},
	"setup":                   clientList{},
	"setup a client":          shownSetup{},
	"token add":               tokenReport{},
	"token list":              []tokenReport{},
	"token revoke":            tokenReport{},
	"version":                 buildInfo{},
}

// operation returns a value of the answer of an operation.
func operation(o op.Any) any { return reflect.Zero(o.About().Out).Interface() }

// outputOf returns a value like those that a command, or an operation, writes; nil if there is none.
func outputOf(name string) any {
	if v := outputs[name]; v != nil {
		return v
	}
	for _, o := range server.Operations() {
		if o.About().Name == name {
			return operation(o)
		}
	}
	return nil
}

// outputNames returns the names that have a schema, sorted.
func outputNames() []string {
	names := slices.Collect(maps.Keys(outputs))
	for _, o := range server.Operations() {
		names = append(names, o.About().Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// oneOf is one of several values.
type oneOf []any

// outputLines are the commands that write a value on each line.
var outputLines = []string{"council logs", "derive export", "events"}

// schemaOf returns the JSON Schema of an output, which allows no member that it does not know.
func schemaOf(name string) (*jsonschema.Schema, error) {
	output := outputOf(name)
	if values, ok := output.(oneOf); ok {
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
	return op.SchemaOf(reflect.TypeOf(output))
}

func (a *app) schemaCmd() *cobra.Command {
	return &cobra.Command{
		Use: "schema [COMMAND]", Short: "Print the JSON Schema of what a command writes with --json",
		Long: "Print the JSON Schema (draft 2020-12) of what a command writes with --json; without one, list the commands that have a schema.\n" +
			"A later version may add members. It removes or renames none without a line in the changelog.",
		Example: "  kioku schema council show",
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
			for _, name := range outputNames() {
				if rest, ok := strings.CutPrefix(name, strings.Join(append(args, begun), " ")); ok {
					names = append(names, begun+rest)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			name := strings.Join(args, " ")
			switch {
			case name == "":
				names := outputNames()
				return a.Write(names, func(p *render.Page) {
					for _, n := range names {
						p.Linef("%s", n)
					}
				})
			case outputOf(name) == nil:
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
