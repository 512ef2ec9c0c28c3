package main

import (
	"errors"
	"fmt"
	"log/slog"
	"syscall"

	"kioku/cmd/kioku/config"
	"kioku/server"
)

// openTokens reads the token file of the settings, nil if there is none.
func openTokens(conf *config.Config, log *slog.Logger) (*server.Tokens, error) {
	if conf.TokenFile == "" {
		return nil, nil
	}
	return server.OpenTokens(conf.TokenFile, log)
}

// listenOn listens on a unix socket and, unless address is "none", on TCP.
func listenOn(socket, address string, tokens *server.Tokens) ([]server.Listener, error) {
	local, err := server.ListenUnix(socket)
	if err != nil {
		return nil, err
	}
	if address == "" || address == "none" {
		return []server.Listener{local}, nil
	}
	remote, err := server.ListenTCP(address, tokens)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%w; choose another address with --listen, or none", err)
	}
	if err != nil {
		return nil, errors.Join(err, local.Close())
	}
	return []server.Listener{local, remote}, nil
}

// tellListeners reports where a server listens.
func (a *app) tellListeners(listeners []server.Listener) {
	for _, l := range listeners {
		a.Notice("listening on %s:%s", l.Addr().Network(), l.Addr())
	}
}
