package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/doctor"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/embed"
	"kioku/memory"
	"kioku/server"
)

// diagnosis is the output of kioku doctor --json.
type diagnosis struct {
	// Level is the worst of the findings.
	Level doctor.Level `json:"level"`
	// Findings are in a fixed order.
	Findings []doctor.Finding `json:"findings"`
}

// errUnhealthy ends kioku doctor after a failure.
var errUnhealthy = errors.New("something does not work; the lines with fail say what to do")

func (a *app) doctorCmd() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for what keeps the memory from working well, and say what to do",
		Long: "Look for what keeps the memory from working well: settings, folders and permissions, disk, token file, embedding provider, local\n" +
			"and language model, index, watches, clock and daemon. It changes nothing. A remote provider is asked for the vectors of three sentences\n" +
			"that are not yours; with offline, it is not. Exit code 0 means that nothing failed, 1 that something did, and with --strict 3\n" +
			"that there are warnings.",
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.examine(cmd.Context(), strict) },
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with 3 if there are warnings")
	return cmd
}

func (a *app) examine(ctx context.Context, strict bool) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	k, err := a.connector()
	if err != nil {
		return err
	}
	s := a.subject(ctx, conf)
	s.Council, s.CouncilErr = a.aboutCouncil(ctx, conf)
	var findings []doctor.Finding
	look := func(c *connect.Client) error {
		a.askMemory(ctx, s, c)
		findings = doctor.Examine(ctx, s)
		return ctx.Err()
	}
	var ofDaemon *connect.DaemonError
	switch err := k.Look(ctx, look); {
	case err == nil:
	case findings != nil || ctx.Err() != nil:
		return err
	case errors.As(err, &ofDaemon):
		s.DaemonErr = err
		findings = doctor.Examine(ctx, s)
	default:
		s.StatusErr = err
		findings = doctor.Examine(ctx, s)
	}
	d := diagnosis{doctor.Worst(findings), findings}
	if err := a.Write(d, d.tell); err != nil {
		return err
	}
	switch {
	case d.Level == doctor.Fail:
		return errUnhealthy
	case d.Level == doctor.Warn && strict:
		return render.ErrDegraded
	}
	return nil
}

// subject returns what is examined, as far as it is known without the memory.
func (a *app) subject(ctx context.Context, conf *config.Config) *doctor.Subject {
	s := &doctor.Subject{Conf: conf, Version: buildVersion(), Now: time.Now, System: "/"}
	s.Place, s.PlaceErr = conf.Here()
	if s.PlaceErr == nil {
		s.State, _ = conf.StateOf(ctx, s.Place.Agent, s.Place.Workspace) // without a state folder there is a finding
	}
	s.Socket, _ = connect.SocketPath(conf)
	s.Embedder, s.EmbedderErr = embed.New(conf.Embed)
	s.Model, s.ModelErr = host.NewModel(conf)
	return s
}

// askMemory adds what a memory says of itself. c is nil if there is no index.
func (a *app) askMemory(ctx context.Context, s *doctor.Subject, c *connect.Client) {
	if c == nil {
		return
	}
	if c.Memory != nil {
		s.Memory = c.Memory.Memory
		_ = s.Memory.Compare(ctx) // the status says that the index may lag behind
	}
	st, err := c.Status(ctx)
	if s.StatusErr = err; err != nil {
		return
	}
	s.Status = &st
	if c.Memory == nil {
		s.Daemon = s.Status.Version
	}
	if derived, err := server.Derive.Status.Call(ctx, c.Conn, c.Of()); err == nil { // a daemon of before has none
		s.Derived = &derived
	}
	list, err := c.AllFiles(ctx, memory.FileQuery{})
	for _, f := range list.Files {
		if err == nil && f.Source == memory.SourceMemory {
			s.Paths = append(s.Paths, f.Path)
		}
	}
}

// tell adds the findings, a line each, and what to do below it.
func (d diagnosis) tell(p *render.Page) {
	for _, f := range d.Findings {
		p.Linef("%-4s  %-18s  %s", string(f.Level), f.Check, f.Text)
		if f.Next != "" {
			p.Linef("%-4s  %-18s  -> %s", "", "", f.Next)
		}
	}
}
