package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"golang.org/x/sync/errgroup"

	"kioku/cmd/kioku/config"
	"kioku/memory"
	"kioku/server"
	"kioku/server/front"
)

// door is a server with the listeners that it answers on.
type door struct {
	*server.Server
	listeners []server.Listener
	observed  observation
	sidecars  map[string]server.Sidecar
	// scheme of the addresses in a browser.
	scheme string
}

// page returns the address of the page that a listener on TCP serves.
func (d *door) page(at net.Addr) string {
	host, port, _ := net.SplitHostPort(at.String())
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	return d.scheme + "://" + net.JoinHostPort(host, port) + "/"
}

// openDoor listens on a unix socket and, unless address is "none", on TCP, for memories and the sidecars of agents. The door tells
// what it does to observed.
func (a *app) openDoor(ctx context.Context, conf *config.Config, observed observation, opt server.Options, places []config.Place, memories func(id string) memory.Service, socket, address string) (*door, error) {
	guard, err := openGuard(conf, opt.Log)
	if err != nil {
		return nil, err
	}
	opt.Tokens, opt.Version = guard.Tokens, buildVersion()
	opt.Hosts, opt.Origins = conf.Hosts, conf.Origins
	observed.observe(&opt)
	srv, err := server.New(opt)
	if err != nil {
		return nil, err
	}
	var orders councilOrders
	switch {
	case opt.Council != nil:
		orders = ordersFrom(srv.LocalOperations())
	case opt.Memory != nil: // another service has the memories, and may have a council
		orders = ordersFrom(opt.Memory)
	}
	sidecars, err := a.sidecars(ctx, conf, places, memories, observed.metrics.Model, orders)
	if err != nil {
		return nil, err
	}
	if err := srv.AddSidecars(sidecars); err != nil {
		return nil, err
	}
	srv.HandleHTTP(front.New(front.Options{Operations: srv.HandleOperations, Version: buildVersion(), Metrics: observed.metrics.Handler}))
	listeners, err := listenOn(socket, address, guard)
	if errors.Is(err, syscall.EADDRINUSE) && !conf.Explicit("listen") && opt.Memory == nil {
		listeners, err = listenOn(socket, anyPort, guard) // a daemon of other folders has the usual one
	}
	scheme := "http"
	if guard.TLS != nil {
		scheme = "https"
	}
	return &door{srv, listeners, observed, sidecars, scheme}, err
}

// anyPort is the address of a daemon beside one that has the default address.
const anyPort = "127.0.0.1:0"

// openGuard opens what protects the TCP address: tokens and certificates.
func openGuard(conf *config.Config, log *slog.Logger) (guard server.TCPOptions, err error) {
	guard.InsecurePlaintext = conf.InsecurePlaintext
	switch {
	case conf.TokenFile != "":
		guard.Tokens, err = server.OpenTokens(conf.TokenFile, log)
	case conf.Tokens != "":
		guard.Tokens, err = server.ParseTokens(conf.Tokens)
	}
	if err != nil {
		return guard, err
	}
	if conf.TLS.Cert != "" {
		guard.TLS, err = server.OpenCertificates(conf.TLS, log)
	}
	return guard, err
}

// listenOn listens on a unix socket and, unless address is "none", on TCP, and on the sockets that a service manager has opened. Of these, a unix
// socket takes the place of one with the same path, and any TCP socket that of address.
func listenOn(socket, address string, guard server.TCPOptions) (all []server.Listener, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(all))
		}
	}()
	inherited, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("the sockets of the service manager: %w", err)
	}
	for _, lis := range inherited {
		if lis == nil {
			return all, errors.New("a socket of the service manager is no stream socket; use ListenStream=")
		}
		l, err := server.ListenOn(lis, guard)
		if err != nil {
			return all, errors.Join(err, lis.Close())
		}
		all = append(all, l)
	}
	if !slices.ContainsFunc(all, func(l server.Listener) bool { return l.Addr().String() == socket }) {
		local, err := server.ListenUnix(socket)
		if err != nil {
			return all, err
		}
		all = append(all, local)
	}
	if address == "" || address == "none" || slices.ContainsFunc(all, func(l server.Listener) bool { return l.Addr().Network() == "tcp" }) {
		return all, nil
	}
	remote, err := server.ListenTCP(address, guard)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w; choose another address with --listen, or none", err)
	}
	if err != nil {
		return all, err
	}
	return append(all, remote), nil
}

// closeAll closes listeners.
func closeAll(all []server.Listener) error {
	var errs []error
	for _, l := range all {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// serveDoor reports where the door listens, answers calls, and runs the tasks beside it until ctx ends.
func (a *app) serveDoor(ctx context.Context, d *door, tasks ...func(context.Context) error) error {
	for _, l := range d.listeners {
		a.Notice("listening on %s:%s", l.Addr().Network(), l.Addr())
		if l.Addr().Network() == "tcp" {
			a.Notice("the page: %s", d.page(l.Addr()))
		}
		if l.Plaintext() {
			a.Notice("warning: other machines can reach %s, and tokens and memories can be read on the network; set tls.cert and tls.key", l.Addr())
		}
	}
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return d.Serve(running, d.listeners...) })
	for _, side := range d.sidecars {
		group.Go(func() error { return side.Tend(running) })
	}
	group.Go(func() error { a.manager.run(running, d.answers); return nil })
	for _, task := range tasks {
		group.Go(func() error { return task(running) })
	}
	err := group.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// errIdle is the cause of the end of a daemon that nobody uses.
var errIdle = errors.New("no client was connected any more")

// errReplaced is the cause of the end of a background daemon whose place kioku serve takes.
var errReplaced = errors.New("kioku serve takes its place")

// errNoInput is the cause of the end of a command whose standard input has ended.
var errNoInput = errors.New("standard input ended")

// tellEnd reports that a command which served has ended, and why.
func (a *app) tellEnd(ctx context.Context, since time.Time, err error) {
	if err != nil {
		return // which is reported
	}
	why := "it was canceled"
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) || errors.As(cause, new(signalled)) {
		why = cause.Error()
	}
	a.Notice("ended after %s: %s", time.Since(since).Round(time.Second), why)
}
