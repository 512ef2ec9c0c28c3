package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
	"golang.org/x/sync/errgroup"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/server"
	"kioku/server/front"
)

// Listen opens what runs beside the agents, and listens on a unix socket and, unless address is "none", on TCP.
func (h *Host) Listen(ctx context.Context, socket, address string) error {
	if len(h.places) > 0 { // a node of a cluster may have no folder
		if err := h.addSidecars(ctx); err != nil {
			return err
		}
	}
	h.Server.HandleHTTP(front.New(front.Options{Operations: h.Server.HandleOperations, Version: h.opt.Version, Metrics: h.observed.handler()}))
	if !h.opt.Daemon {
		own, err := server.ListenUnix(socket)
		h.listeners = []server.Listener{own}
		return err
	}
	var err error
	h.listeners, err = listenOn(socket, address, h.guard)
	if errors.Is(err, syscall.EADDRINUSE) && !h.opt.Conf.Explicit("listen") && h.opt.Elsewhere == nil {
		h.listeners, err = listenOn(socket, anyPort, h.guard) // a daemon of other folders has the usual one
	}
	if at := h.Addr(); h.cluster != nil && at != nil {
		h.cluster.listensAt(at)
	}
	return err
}

// addSidecars opens the sidecars of all agents. A model that cannot be used is told; if a flag has named it, that is an error.
func (h *Host) addSidecars(ctx context.Context) error {
	model, why := NewModel(h.opt.Conf)
	if why != nil && h.opt.Conf.ByFlag("llm") {
		return why
	}
	if why != nil && h.opt.Daemon {
		h.opt.Out.Notice("%s", NoModel(why))
	}
	b := Beside{
		Conf: h.opt.Conf, Out: h.opt.Out, Log: h.opt.Log, Dir: h.opt.Dir, ReadOnly: h.opt.Mode == kioku.ReadOnly, Memories: h.MemoryOf, Model: model, Why: why,
	}
	if m := h.observed.metrics; m != nil {
		b.Counted = m.Model
	}
	switch {
	case h.Council != nil:
		b.Orders = OrdersFrom(h.Server.LocalOperations())
	case h.opt.Elsewhere != nil: // another service has the memories, and may have a council
		b.Orders = OrdersFrom(h.opt.Elsewhere.Conn)
	}
	sidecars, err := b.Sidecars(ctx, h.places...)
	if err != nil {
		return err
	}
	all := map[string]server.Sidecar{}
	for id, side := range sidecars {
		all[id] = side
		h.sidecars = append(h.sidecars, side)
	}
	return h.Server.AddSidecars(all)
}

// page returns the address of the page that a listener on TCP serves.
func (h *Host) page(at net.Addr) string {
	host, port, _ := net.SplitHostPort(at.String())
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http"
	if h.guard.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/"
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

// tellAddresses reports where the host listens.
func (h *Host) tellAddresses() {
	for _, l := range h.listeners {
		h.opt.Out.Notice("listening on %s:%s", l.Addr().Network(), l.Addr())
		if l.Addr().Network() == "tcp" {
			h.opt.Out.Notice("the page: %s", h.page(l.Addr()))
		}
		if l.Plaintext() {
			h.opt.Out.Notice("warning: other machines can reach %s, and tokens and memories can be read on the network; set tls.cert and tls.key", l.Addr())
		}
	}
}

// Serve answers calls, and runs the tasks beside that, until ctx ends. A daemon reports where it listens.
func (h *Host) Serve(ctx context.Context, tasks ...func(context.Context) error) error {
	if h.opt.Daemon {
		h.tellAddresses()
	}
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return h.Server.Serve(running, h.listeners...) })
	if h.opt.Daemon {
		for _, side := range h.sidecars { // a command asks no model for sessions that others have left
			group.Go(func() error { return side.Tend(running) })
		}
		group.Go(func() error { h.manager.run(running, h.answers); return nil })
	}
	for _, task := range tasks {
		group.Go(func() error { return task(running) })
	}
	err := group.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
