package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/internal/files"
	"kioku/internal/records"
	"kioku/memory"
	"kioku/server"
)

func (a *app) councilCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "council", Short: "Let several agents decide, over a shared memory",
		Long: "A council is a folder with a council.yaml: three to nine members discuss a task in rounds and vote, code counts the votes, and the\n" +
			"decision becomes a note of the council's agent, which all members can search. A daemon runs it (kioku council serve, or kioku serve with\n" +
			"the setting council.folder); without one, ask, round and evaluate run it until they are done. docs/council.md tells all.",
		Example: "  kioku council init --template soul\n  kioku council ask --echo \"Shall we move the backups to the new disk?\"\n" +
			"  kioku council list\n  kioku council show task_1764000000_1234 --follow",
	}
	group(cmd,
		a.councilInitCmd(), a.councilServeCmd(), a.councilAskCmd(), a.councilSubmitCmd(), a.councilListCmd(), a.councilShowCmd(),
		a.councilCommentCmd(), a.councilRoundCmd(), a.councilDecideCmd(), a.councilCancelCmd(), a.councilReportCmd(), a.councilOutcomeCmd(),
		a.councilEvaluateCmd(), a.councilEvaluationsCmd(), a.councilParamsCmd(), a.councilMembersCmd(), a.councilLogCmd(),
		a.councilWorkersCmd(), a.councilCommandCmd(), a.councilSuggestCmd(), a.councilSuggestionsCmd(), a.councilApproveCmd(), a.councilActionCmd(),
		a.councilArchiveCmd(), a.councilImportCmd(), a.councilDoctorCmd(), a.councilMemberCmd(),
	)
	cmd.PersistentFlags().StringVar(&a.councilFolder, "folder", "", "`folder` of the council (default: council.folder, else the one around the current folder)")
	return cmd
}

// councilNeed says what a command does with a council.
type councilNeed int

const (
	// councilReads reads it, or puts a task or suggestion into its folders.
	councilReads councilNeed = iota
	// councilWrites changes it, and asks no member.
	councilWrites
	// councilRuns has its members asked, with their memories.
	councilRuns
)

// ops are the operations of a council.
var ops = server.Council

// councilClient asks a council, in a daemon or in this process.
type councilClient struct {
	conn http.RoundTripper
	// host is the council that this process runs or reads; nil if a daemon answers.
	host *host.Council
	// clock is that of a scripted council, whose members need no time; nil for the real one.
	clock *skippingClock
}

// skippingClock is a clock that can be set forward. It is used by one goroutine at a time while it is set.
type skippingClock struct{ ahead time.Duration }

// now returns the time of the clock.
func (c *skippingClock) now() time.Time { return time.Now().Add(c.ahead) }

// withCouncil connects to the council of the command and runs f: by the daemon that serves it, else in this process, once no other runs it.
func (a *app) withCouncil(ctx context.Context, need councilNeed, f func(context.Context, *councilClient) error) error {
	conf, err := a.config()
	if err != nil {
		return err
	}
	k, err := a.connector()
	if err != nil {
		return err
	}
	folder := ""
	if conf.Client.Target == "" {
		if folder, err = a.findCouncil(conf); err != nil {
			return err
		}
	}
	for told := false; ; told = true {
		served, err := a.servedCouncil(ctx, k, folder, f)
		if served || err != nil {
			return a.councilError(err)
		}
		set, err := host.LoadCouncil(folder)
		if err != nil {
			return err
		}
		opt := host.CouncilOptions{
			Folder: folder, Settings: set, Conf: conf, Echo: a.councilEcho, Now: time.Now,
			Log: slog.New(&render.Lines{Out: &a.Output, Level: connect.QuietLevel(conf)}),
		}
		err = a.ownCouncil(ctx, opt, need, f)
		by, held := errors.AsType[*records.HeldError](err)
		if !held {
			return a.councilError(err)
		}
		if !told {
			a.Notice("%s runs this council; waiting for it", by.Holder)
		}
		select { // it may be a daemon that has only just begun to listen
		case <-time.After(councilHeldPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// councilHeldPause is the time between two attempts at a council that another process runs.
const councilHeldPause = 200 * time.Millisecond

// aboutCouncil returns the council of the settings as it is now; nil if they name none.
func (a *app) aboutCouncil(ctx context.Context, conf *config.Config) (about *server.CouncilNow, err error) {
	if conf.Council.Folder == "" {
		return nil, nil
	}
	err = a.withCouncil(ctx, councilReads, func(ctx context.Context, c *councilClient) (err error) {
		now, err := ops.Status.Call(ctx, c.conn, server.None{})
		about = &now
		return err
	})
	return about, err
}

// findCouncil returns the folder of the council of the command.
func (a *app) findCouncil(conf *config.Config) (string, error) {
	named := a.councilFolder
	if named == "" {
		named = conf.Council.Folder
	}
	folder, err := host.FindCouncil(named, a.dir)
	if err != nil {
		return "", render.Misuse("%w", err)
	}
	return filepath.Clean(folder), nil
}

// servedCouncil runs f with the daemon that serves the council of a folder, and reports whether there is one. Without a folder, it is
// the council of the daemon that the settings name.
func (a *app) servedCouncil(ctx context.Context, k *connect.Connector, folder string, f func(context.Context, *councilClient) error) (served bool, err error) {
	conn, err := k.DialDaemon()
	if conn == nil || err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	asking, cancel := context.WithTimeout(ctx, connect.DaemonWait)
	about, err := ops.Status.Call(asking, conn.Conn, server.None{})
	cancel()
	switch {
	case folder != "" && (err != nil || !files.SameFolder(about.Folder, folder)):
		return false, nil // a daemon that serves another council, or none
	case host.IsWithoutCouncil(err):
		return true, errors.New("the daemon serves no council; set council.folder there and start it again")
	case err != nil:
		return true, err
	}
	if a.councilEcho {
		a.Notice("a daemon runs this council, with the members of its council.yaml; --echo has no effect")
	}
	return true, f(ctx, &councilClient{conn: conn.Conn})
}

// ownCouncil runs f with a council that this process opens.
func (a *app) ownCouncil(ctx context.Context, opt host.CouncilOptions, need councilNeed, f func(context.Context, *councilClient) error) error {
	c := &councilClient{}
	if opt.Echo {
		c.clock = &skippingClock{}
		opt.Now = c.clock.now
	}
	open := func(ctx context.Context, of func(string) memory.Service) (err error) {
		opt.Memory = of
		if need == councilReads {
			c.host, err = host.ReadCouncil(opt)
		} else {
			c.host, err = host.OpenCouncil(opt)
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.host.Close()) }()
		srv, err := server.New(server.Options{
			Council:       &server.CouncilOptions{Council: c.host.Engine, Folder: opt.Folder, Idle: need == councilReads},
			SearchTimeout: time.Hour, Location: opt.Conf.Location, Log: opt.Log,
		})
		if err != nil {
			return err
		}
		c.conn = srv.LocalOperations()
		return f(ctx, c)
	}
	if need != councilRuns {
		return open(ctx, nil)
	}
	if err := host.ProbeCouncil(opt.Folder); err != nil { // before its memories are opened
		return err
	}
	conf, err := host.CouncilState(opt.Conf, opt.Folder)
	if err != nil {
		return err
	}
	k := &connect.Connector{Conf: conf, Out: &a.Output, NoDaemon: a.noDaemon, Version: buildVersion()}
	return k.WithPlaces(ctx, host.CouncilPlaces(opt.Conf, opt.Folder, opt.Settings), open)
}

// councilError returns an error of a council in the words of the commands.
func (a *app) councilError(err error) error {
	if host.IsWithoutCouncil(err) {
		return fmt.Errorf("the daemon is of another version, or serves no council: %w", err)
	}
	return err
}

// councilPause is the time between two looks at a task, beside those after events.
const councilPause = 2 * time.Second

// wait looks at a council again and again until look returns true: after each event, and after a pause. A council of this process is
// run meanwhile; the clock of a scripted one is set forward whenever nothing is left to do.
func (c *councilClient) wait(ctx context.Context, look func(context.Context) (done bool, err error)) error {
	if c.host == nil {
		return c.watch(ctx, look)
	}
	if c.clock != nil {
		return c.settle(ctx, look)
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.host.Run(ctx) }()
	err := c.watch(ctx, look)
	stop()
	if failed := <-ended; failed != nil && !errors.Is(failed, context.Canceled) {
		err = errors.Join(err, failed)
	}
	return err
}

// settle runs a scripted council until look returns true.
func (c *councilClient) settle(ctx context.Context, look func(context.Context) (bool, error)) error {
	for range 24 * 60 {
		if err := c.host.Settle(ctx); err != nil {
			return err
		}
		if done, err := look(ctx); done || err != nil {
			return err
		}
		c.clock.ahead += time.Minute
	}
	return errors.New("the scripted council has come to no end within a day of its clock")
}

// watch calls look after each event of the council, and after a pause without one.
func (c *councilClient) watch(ctx context.Context, look func(context.Context) (bool, error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	events := make(chan struct{}, 1)
	go func() {
		for range ops.Watch.Call(ctx, c.conn, server.After{}) {
			select {
			case events <- struct{}{}:
			default:
			}
		}
	}()
	tick := time.NewTicker(councilPause)
	defer tick.Stop()
	for {
		if done, err := look(ctx); done || err != nil {
			return err
		}
		select {
		case <-events:
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// orders returns what the council says that council.folder names, by its files, else the council of the daemon; nil if there is neither.
// end releases it.
func (a *app) orders(conf *config.Config, k *connect.Connector) (orders host.Orders, end func() error, err error) {
	if folder := conf.Council.Folder; folder != "" && conf.Client.Target == "" {
		return host.OrdersOf(conf, folder, slog.New(&render.Lines{Out: &a.Output, Level: connect.QuietLevel(conf)}))
	}
	conn, err := k.DialDaemon()
	if conn == nil || err != nil {
		return nil, func() error { return nil }, err
	}
	return host.OrdersFrom(conn.Conn), conn.Close, nil
}

// outcomeError is a council's decision as an exit code. What it says has been written.
type outcomeError struct {
	code int
	text string
}

// Error says what was decided.
func (e outcomeError) Error() string { return e.text }
