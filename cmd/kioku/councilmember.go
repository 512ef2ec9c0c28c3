package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	agentprogram "kioku/agent/program"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/council"
	"kioku/council/member"
	"kioku/llm"
	"kioku/server"
)

func (a *app) councilMemberCmd() *cobra.Command {
	var m council.Member
	command := ""
	cmd := &cobra.Command{
		Use: "member NAME", Short: "Be a member of a council elsewhere: take its turns and answer them by a program or model",
		Long: "Take the turns of a member whose model in council.yaml is remote, and answer each by a program or a language model of this machine,\n" +
			"until it is ended. The council is that of --target, with a token that has the right member:NAME; it may start later. --preset and --command\n" +
			"are written as in council.yaml; a command is a list, or words with spaces between.",
		Example: "  kioku council member panda --target council:7600 --token-file panda.token --preset claude-think\n" +
			"  kioku council member gorilla --llm ollama:qwen3",
		Args: cobra.ExactArgs(1), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			m.Name = args[0]
			if m.Command, err = programOf(command); err != nil {
				return err
			}
			if m.Reads != "" {
				if m.Reads, err = filepath.Abs(m.Reads); err != nil {
					return err
				}
			}
			if err := canAnswer(m); err != nil {
				return err
			}
			return a.attend(cmd.Context(), m)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&m.Preset, "preset", "", "`program` that answers: "+strings.Join(presets(), ", "))
	fl.StringVar(&m.Reads, "reads", "", "`folder` that the program of a preset that looks may read")
	fl.StringVar(&command, "command", "", "`program` that answers, with its arguments: \"[claude, -p]\" or \"claude -p\"")
	fl.StringVar(&m.Output, "output", "", "`field` of the JSON that the program prints which contains the reply")
	fl.StringSliceVar(&m.Env, "env", nil, "`names` of further environment variables that the program gets")
	fl.StringVar(&m.Model, "llm", "", "`model` that answers, as in council.yaml; with --preset one of the program")
	_ = cmd.RegisterFlagCompletionFunc("preset", cobra.FixedCompletions(presets(), cobra.ShellCompDirectiveNoFileComp)) // of a flag that is there
	_ = cmd.MarkFlagDirname("reads")
	return cmd
}

// presets returns the names of the presets.
func presets() (names []string) {
	for _, p := range agentprogram.Presets {
		names = append(names, p.Name)
	}
	return names
}

// canAnswer returns an error if nothing answers for a member.
func canAnswer(m council.Member) error {
	if !m.External() && (m.Model == "" || m.Remote()) {
		return render.Misuse("name the program that answers with --preset or --command, or a model with --llm; %s tries it without either", "--llm echo")
	}
	if m.Preset != "" && (len(m.Command) > 0 || m.Output != "") {
		return render.Misuse("--preset is the command and knows its output; leave out --command and --output")
	}
	_, err := member.Program(m)
	return err
}

// programOf returns a command of the settings: a list of YAML, or words.
func programOf(text string) (argv []string, err error) {
	if !strings.HasPrefix(strings.TrimSpace(text), "[") {
		return strings.Fields(text), nil
	}
	if err := yaml.Unmarshal([]byte(text), &argv); err != nil {
		return nil, render.Misuse("--command is no list: %w", err)
	}
	return argv, nil
}

// attend plays a member of the council that the settings name, until ctx ends.
func (a *app) attend(ctx context.Context, m council.Member) (err error) {
	conf, err := a.commonConfig()
	if err != nil {
		return err
	}
	target, err := memoryTarget(conf)
	if err != nil {
		return err
	}
	conn, err := connect.Dial(conf, target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	away := host.Away{
		Member: m, Model: host.CouncilOptions{Conf: conf, Now: time.Now}.ModelNamed, Tell: a.Notice,
		Next: func(ctx context.Context) (*member.RemoteTurn, error) {
			ctx, cancel := context.WithTimeout(ctx, connect.DaemonWait)
			defer cancel()
			got, err := ops.NextTurn.Call(ctx, conn.Conn, server.MemberName{Member: m.Name})
			return got.Turn, err
		},
		Renew: func(ctx context.Context, lease string) (time.Time, error) {
			ctx, cancel := context.WithTimeout(ctx, connect.DaemonWait)
			defer cancel()
			got, err := ops.RenewTurn.Call(ctx, conn.Conn, leaseOf(m, lease))
			return got.Until, err
		},
		Submit: func(ctx context.Context, lease string, r member.RemoteReply) error {
			reply := server.TurnReply{TurnLease: leaseOf(m, lease), Reply: string(r.Text), Failed: r.Failed,
				TokensIn: r.Usage.Input, TokensOut: r.Usage.Output, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite, Cost: r.Usage.Dollars}
			_, err := ops.SubmitTurn.Call(ctx, conn.Conn, reply)
			return err
		},
		Call: func(ctx context.Context, lease string, call llm.ToolCall) (string, bool) {
			ctx, cancel := context.WithTimeout(ctx, connect.DaemonWait)
			defer cancel()
			found, err := ops.CallTurn.Call(ctx, conn.Conn, server.TurnCall{TurnLease: leaseOf(m, lease), Name: call.Name, Input: call.Input})
			if err != nil {
				return "The memory does not answer: " + err.Error(), true
			}
			return found.Text, found.Failed
		},
	}
	a.Notice("%s takes its turns at %s", m.Name, target)
	if err = away.Attend(ctx); ctx.Err() != nil {
		return nil
	}
	return err
}

// leaseOf names a turn of a member.
func leaseOf(m council.Member, lease string) server.TurnLease {
	return server.TurnLease{MemberName: server.MemberName{Member: m.Name}, Lease: lease}
}
