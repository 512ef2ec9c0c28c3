package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"kioku"
	"kioku/agent/bootstrap"
	"kioku/agent/chat"
	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/embed"
	"kioku/llm"
	"kioku/memory"
)

// freshenTime is for how long at most Open brings the index in step with the folder.
const freshenTime = 5 * time.Second

// lockWait is for how long at most it waits for a process that has the index.
const lockWait = 5 * time.Second

// endTime is how long Close stores memories of the conversation.
const endTime = time.Minute

// Options of an Agent. Workspace and Model are required.
type Options struct {
	// Workspace is the folder of notes, skills and the files of the prompt.
	Workspace string
	// Model answers, and writes flushes and summaries.
	Model llm.Model
	// ID of the agent; empty means "main".
	ID string
	// Memory of the agent, such as a *client.Client of kioku serve or that of another Agent of the folder; it is not closed. nil opens the
	// folder's own, which fails while somebody else has its index.
	Memory memory.Service
	// Embedder turns text into vectors for the folder's own memory; nil means keywords only. It is not closed.
	Embedder *embed.Client
	// State is the folder of indexes and transcripts; empty means kioku.DefaultState, that of the command kioku.
	State string
	// Session is the id of the conversation. One that exists is continued; empty begins a new one.
	Session string
	// Channel is the place of the conversation, such as "telegram"; see sidecar.IsGroup. Empty means "terminal".
	Channel string
	// Tools are offered beside those of the memory; nil means none.
	Tools chat.Tools
	// Log receives what no caller can be told; nil discards it.
	Log *slog.Logger
}

// Agent is a conversation with a model that has a memory. Its methods must not be called concurrently.
type Agent struct {
	memory memory.Service
	own    *kioku.Memory // nil if it was given
	// watched is closed when the watch of the folder has ended; nil if this agent does not watch it.
	watched chan struct{}
	script  *session.Session
	talk    *chat.Conversation
	// endLeft ends the flush of the sessions that earlier agents have left; nil if it has not begun.
	endLeft context.CancelFunc
	// left is closed when that flush has ended.
	left chan struct{}
}

// New returns the default agent of a workspace: it remembers in the folder and answers with the model. Close it.
func New(workspace string, model llm.Model) (*Agent, error) {
	return Open(context.Background(), Options{Workspace: workspace, Model: model})
}

// Open returns an agent. Unless a memory is given, the agent first brings the index in step with the folder,
// for at most five seconds, and keeps it so until Close. ctx bounds the opening only. Sessions of the workspace that were left open,
// because their processes were killed, are flushed beside the conversation until Close.
func Open(ctx context.Context, opt Options) (_ *Agent, err error) {
	if opt.Workspace == "" || opt.Model == nil {
		return nil, errors.New("an agent needs a workspace and a model")
	}
	opt.ID, opt.Channel = cmp.Or(opt.ID, "main"), cmp.Or(opt.Channel, "terminal")
	opt.Session = cmp.Or(opt.Session, session.NewID(time.Now()))
	if opt.State == "" {
		if opt.State, err = kioku.DefaultState(); err != nil {
			return nil, err
		}
	}
	if opt.Workspace, err = filepath.Abs(opt.Workspace); err != nil {
		return nil, err
	}
	opt.State = kioku.StateOf(ctx, opt.State, opt.ID, opt.Workspace)
	a := &Agent{memory: opt.Memory}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.release())
		}
	}()
	if a.memory == nil {
		if err := a.openMemory(ctx, opt); err != nil {
			return nil, err
		}
		a.memory = a.own
	}
	return a, a.converse(opt)
}

// openMemory opens the memory of the folder, and keeps its index in step with the folder.
func (a *Agent) openMemory(ctx context.Context, opt Options) error {
	log := opt.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	m, err := kioku.Open(ctx, kioku.Options{Agent: opt.ID, Workspace: opt.Workspace, StateDir: opt.State, Embedder: opt.Embedder, LockWait: lockWait, Log: opt.Log})
	if errors.Is(err, memory.ErrLocked) {
		err = fmt.Errorf("%w; give the agent the memory of the one that has it, or a client of kioku serve, as Options.Memory", err)
	}
	if err != nil {
		return fmt.Errorf("open the memory of %s: %w", opt.Workspace, err)
	}
	a.own = m
	freshen(ctx, m, log)
	a.watched = make(chan struct{})
	go func() {
		defer close(a.watched)
		if err := m.Watch(context.Background()); err != nil && !errors.Is(err, context.Canceled) {
			log.Warn("watch the folder", "err", err)
		}
	}()
	return nil
}

// freshen indexes what has changed since the index was last open, so that the first turn recalls it. The watch indexes what takes
// longer.
func freshen(ctx context.Context, m *kioku.Memory, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, freshenTime)
	defer cancel()
	if _, err := m.Sync(ctx, kioku.SyncOptions{NoRebuild: true}, nil); err != nil && ctx.Err() == nil {
		log.Warn("the index is not up to date", "err", err)
	}
}

// converse begins the conversation.
func (a *Agent) converse(opt Options) error {
	side, err := sidecar.New(sidecar.Options{
		Agent: opt.ID, State: opt.State, Model: opt.Model, Log: opt.Log, Memories: func(string) memory.Service { return a.memory },
		Settings: sidecar.Settings{
			Bootstrap: bootstrap.Options{Workspace: opt.Workspace}, Prune: prune.Defaults(), Flush: flush.Defaults(),
		},
	})
	if err != nil {
		return err
	}
	folder, err := session.Folder(opt.State, opt.ID)
	if err != nil {
		return err
	}
	if a.script, _, err = session.Open(folder, opt.Session, session.Options{Count: side.Count}); err != nil {
		return err
	}
	var tools chat.Tools = chat.MemoryTools{Memory: a.memory}
	if opt.Tools != nil {
		tools = chat.Join(tools, opt.Tools)
	}
	talk := chat.Options{Sidecar: side, Session: a.script, Tools: tools, Turn: sidecar.Turn{Channel: opt.Channel}}
	if a.talk, err = chat.New(talk); err != nil {
		return err
	}
	a.flushLeft(talk, folder, opt.Log)
	return nil
}

// flushLeft begins to flush the sessions that earlier agents have left open.
func (a *Agent) flushLeft(talk chat.Options, folder string, log *slog.Logger) {
	ctx, cancel := context.WithCancel(context.Background())
	a.endLeft, a.left = cancel, make(chan struct{})
	talk.Session = nil
	go func() {
		defer close(a.left)
		_, err := chat.FlushLeft(ctx, talk, folder, session.Options{Count: talk.Sidecar.Count}, func(string, chat.Event) {})
		if err != nil && ctx.Err() == nil && log != nil {
			log.Warn("sessions that were left open could not be flushed; the next agent of the workspace tries again", "err", err)
		}
	}()
}

// Turn answers a message of the user; see [chat.Conversation.Turn].
func (a *Agent) Turn(ctx context.Context, message string, each func(chat.Event)) (chat.Reply, error) {
	return a.talk.Turn(ctx, message, each)
}

// Before returns the next request of a program that asks the model itself; see [chat.Conversation.Before].
func (a *Agent) Before(ctx context.Context, messages []llm.Message) (llm.Request, error) {
	return a.talk.Before(ctx, messages, nil)
}

// After keeps the model's answer to the request of Before.
func (a *Agent) After(reply llm.Response) error { return a.talk.After(reply) }

// Call runs a tool that the model called, and returns its result as a message.
func (a *Agent) Call(ctx context.Context, call llm.ToolCall) llm.Message {
	return a.talk.Call(ctx, call)
}

// Memory returns the memory of the agent.
func (a *Agent) Memory() memory.Service { return a.memory }

// Close ends the session: it stores what is worth keeping of the conversation, for at most a minute, and closes the memory unless it
// was given. What could not be stored stays in the transcript, and is stored by the next agent of the workspace, or when the session
// is continued; the error says why.
func (a *Agent) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	out := a.talk.End(ctx, func(chat.Event) {})
	var err error
	if out.Outcome == session.FlushKept || out.Outcome == session.FlushFailed {
		err = fmt.Errorf("store what is worth keeping of the session %s: %s", a.script.ID(), out.Reason)
	}
	select {
	case <-a.left:
	case <-ctx.Done():
	}
	return errors.Join(err, a.release())
}

// release closes what the agent has opened.
func (a *Agent) release() error {
	if a.endLeft != nil {
		a.endLeft()
		<-a.left
	}
	var errs []error
	if a.script != nil {
		errs = append(errs, a.script.Close())
	}
	if a.own != nil {
		errs = append(errs, a.own.Close())
	}
	if a.watched != nil {
		<-a.watched
	}
	return errors.Join(errs...)
}
