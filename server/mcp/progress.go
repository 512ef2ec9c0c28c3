package mcp

import (
	"context"
	"errors"
	"fmt"
	"kioku/indexer"
	"kioku/server"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressPause is the shortest time between two notifications of progress.
const progressPause = 100 * time.Millisecond

// syncIndex brings the index up to date and tells the client how far that is, if it wants to know. It ends with ctx. It neither
// rebuilds an index that was made with other settings nor waits for an embedding provider.
func syncIndex(ctx context.Context, c *call) error {
	p := &progress{call: c}
	for step, err := range server.Notes.Sync.Call(ctx, c.memory.Conn, server.SyncIndex{OfAgent: c.memory.of(), SyncOptions: indexer.SyncOptions{NoRebuild: true}}) {
		switch {
		case err != nil:
			return err
		case step.Report != nil:
			return nil
		}
		p.tell(ctx, step.Progress)
	}
	return errors.New("the service ended")
}

// progress tells the client of a call how far it is.
type progress struct {
	call *call
	// phase is the phase of the last step, and before what was done when it began.
	phase  string
	before float64
	// value is the last one that was told, when it was told at.
	value float64
	at    time.Time
}

// tell tells one step, unless the last one has just been told or the client did not ask. The value never falls.
func (p *progress) tell(ctx context.Context, step *indexer.Progress) {
	token := p.call.Params.GetProgressToken()
	if token == nil {
		return
	}
	if step.Phase != p.phase {
		p.phase, p.before = step.Phase, p.value
	}
	done, total := step.FilesDone, step.FilesTotal
	if step.EmbedTotal > 0 {
		done, total = step.Embedded, step.EmbedTotal
	}
	value := p.before + float64(done)
	if value <= p.value || time.Since(p.at) < progressPause && done < total {
		return
	}
	p.value, p.at = value, time.Now()
	said := sdk.ProgressNotificationParams{ProgressToken: token, Progress: value, Message: p.phase}
	if total > 0 {
		said.Total = p.before + float64(total)
		said.Message = fmt.Sprintf("%s: %d of %d", p.phase, done, total)
	}
	_ = p.call.Session.NotifyProgress(ctx, &said) // a client that is gone needs none
}
