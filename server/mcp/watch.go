package mcp

import (
	"context"
	"kioku"
	"kioku/indexer"
	"kioku/server"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// firstPause is the pause before a watch that ended begins again, and maxPause the longest one.
	firstPause = 100 * time.Millisecond
	maxPause   = 30 * time.Second
)

// watch follows the events of the memory until the client is gone, and tells the client what changes. No change after it has
// returned is missed. A second call does nothing.
func (s *session) watch(ctx context.Context, m *Memory, client *sdk.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopWatching != nil {
		return
	}
	// The watch outlives the request that begins it, and keeps its caller.
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stopWatching = stop
	go func() {
		_ = client.Wait() // however it ends
		stop()
	}()
	begun := make(chan struct{})
	go s.followForever(watching, m, sync.OnceFunc(func() { close(begun) }))
	select {
	case <-begun:
	case <-ctx.Done():
	}
}

// followForever follows events until ctx ends, or in a brief session the events, and calls begun when the first attempt has begun or
// failed. After a gap, every note may have changed.
func (s *session) followForever(ctx context.Context, m *Memory, begun func()) {
	pause := firstPause
	for first := true; ; first = false {
		began := time.Now()
		s.follow(ctx, m, begun, !first)
		begun()
		if s.opt.brief != nil {
			s.opt.brief()
			return
		}
		if time.Since(began) > maxPause {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

// follow follows events until the stream ends. It calls begun when no event will be missed.
func (s *session) follow(ctx context.Context, m *Memory, begun func(), afterGap bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := server.Notes.Events.Open(ctx, m.Conn, m.of())
	if err != nil {
		return
	}
	begun()
	if afterGap {
		s.changed(ctx, m, nil)
	}
	for e, err := range events {
		if err != nil {
			return
		}
		if e.Path != "" && (e.Kind == indexer.FileIndexed || e.Kind == indexer.FileRemoved) {
			s.changed(ctx, m, &e)
		}
	}
}

// changed tells the client what an event changes: the note, and the list if a curated note came or went. Without an event all
// notes of the list may have changed.
func (s *session) changed(ctx context.Context, m *Memory, e *kioku.Event) {
	uris := s.uris()
	comesOrGoes := e == nil
	if e != nil {
		uris = []string{uriOf(e.Path)}
		inList := e.Path == longTerm || isDailyPath(e.Path)
		comesOrGoes = inList && s.isListed(uris[0]) == (e.Kind == indexer.FileRemoved)
	}
	if comesOrGoes {
		_ = s.refresh(ctx, m) // if it fails, the next event or request does it
	}
	for _, uri := range uris {
		_ = s.server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}) // only to those who subscribed
	}
}

// isListed reports whether a resource is in the list.
func (s *session) isListed(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed[uri]
}

// uris returns the resources of the list.
func (s *session) uris() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var uris []string
	for uri := range s.listed {
		uris = append(uris, uri)
	}
	return uris
}
