package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"kioku/agent/chat"
	"kioku/agent/session"
	"kioku/cmd/kioku/internal/render"
)

// begin opens a session and closes the one before it.
func (r *repl) begin(id string) error {
	s, report, err := session.Open(r.folder, id, r.options)
	if err != nil {
		return err
	}
	talk, err := chat.New(chat.Options{Sidecar: r.Sidecar, Session: s, Tools: r.Tools, Turn: r.Turn, Now: r.options.Now})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	if err := r.leave(); err != nil {
		return errors.Join(err, s.Close())
	}
	r.session, r.talk, r.last = s, talk, ""
	r.tellReport(report)
	return nil
}

// change ends the session, begins another one and shows which.
func (r *repl) change(ctx context.Context, id string) error {
	if err := session.CheckID(id); err != nil {
		return err
	}
	r.endTalk(ctx, endPatience)
	err := r.begin(id)
	if err == nil {
		r.tellSession()
	}
	return err
}

// leave closes the session. It removes the file of a session without messages.
func (r *repl) leave() error {
	if r.session == nil {
		return nil
	}
	s := r.session
	r.session = nil
	var err error
	if s.Size() == 0 {
		// The lock of the session keeps other processes out until it is closed.
		err = os.Remove(filepath.Join(r.folder, s.ID()+".jsonl"))
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return fmt.Errorf("close session %s: %w", s.ID(), err)
	}
	return nil
}

// tellReport reports what was damaged in a transcript.
func (r *repl) tellReport(report session.Report) {
	if report.Torn > 0 {
		r.Out.Notice("the last line of the transcript was cut off (%s) and is moved to %s", render.Count(report.Torn, "byte"), report.TornFile)
	}
	for _, bad := range report.Bad {
		r.Out.Notice("the transcript continues without its %s", bad)
	}
}

// latest returns the id of the latest session with a message, "" if there is none.
func latest(folder string) (string, error) {
	sessions, err := session.List(folder)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(sessions, func(s session.Info) bool { return s.Bytes > 0 })
	if i < 0 {
		return "", nil
	}
	return sessions[i].ID, nil
}

// tellSession shows the id of the session and its number of messages.
func (r *repl) tellSession() {
	v := r.session.View()
	if len(v.Messages) == 0 {
		r.view.note("session %s, a new one", r.session.ID())
		return
	}
	text := fmt.Sprintf("session %s continues with %s", r.session.ID(), render.Count(len(v.Messages), "message"))
	if v.Compactions > 0 {
		text += ", the first of them a summary"
	}
	r.view.note("%s", text)
}
