package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"kioku/agent/recall"
	"kioku/council"
	"kioku/council/folder"
	"kioku/council/member"
	"kioku/memory"
)

const (
	// maxOpen is how many tasks are discussed at the same time; the others wait in the inbox.
	maxOpen = 8
	// maxJobs is how many members are asked at the same time, in all tasks.
	maxJobs = 12
)

// Options of an Engine. Folder and Settings are required.
type Options struct {
	// Folder of the council.
	Folder string
	// Settings are council.yaml. Open and Read check them.
	Settings council.Settings
	// Workspace of the council agent, where decisions are written to memory/decisions; empty writes none.
	Workspace string
	// Ask asks the members; nil lets nobody answer, so that every turn abstains.
	Ask member.Asker
	// Memory returns the memory of an agent, nil if there is none; for recall, and for a line on each decision. nil means no memories.
	Memory func(agent string) memory.Service
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log receives what no caller can be told; nil discards it.
	Log *slog.Logger
	// Crash is called before and after each change of a file of the council, with its name. Tests end the process there.
	Crash func(point string)
	// inline performs slow actions where they are started, for tests that end an engine at a point.
	inline bool
}

// Engine runs a council. Its methods may be called concurrently.
type Engine struct {
	opt    Options
	set    council.Settings
	f      *folder.Folder
	recall *recall.Recaller
	stream *stream
	logs   *member.Logs
	// poke wakes Run; it has room for one.
	poke chan struct{}
	jobs sync.WaitGroup

	// mu is held while files are written, and protects what follows.
	mu      sync.Mutex
	running map[string]job

	// resting are tasks that need not be looked at before their files or the time change.
	resting map[string]rest
	// searched is when schedules have searched for notes.
	searched map[string]time.Time
	upkept   upkept
	// verified says that the memories of old decisions were compared with their records.
	verified bool

	// good are the last parameters of members that could be read; paramsMu protects them.
	good     map[string]council.Params
	paramsMu sync.Mutex
}

// job is a slow action that runs.
type job struct {
	task, member, phase string
	round               int
	cancel              context.CancelFunc
}

// Open returns the engine of a council, the only one: it returns a *records.HeldError if there is another, and a memory.InputError for
// settings that no council has.
func Open(o Options) (*Engine, error) {
	e, err := newEngine(o)
	if err != nil {
		return nil, err
	}
	if err := e.f.Lock(); err != nil {
		return nil, errors.Join(err, e.f.Close())
	}
	if err := e.f.Sweep(); err != nil {
		return nil, errors.Join(fmt.Errorf("clean up the council: %w", err), e.Close())
	}
	return e, nil
}

// Read returns an engine that only reads, beside the one that runs the council. Submit and Suggest leave their files for that one; other
// methods that write return ErrReadOnly.
func Read(o Options) (*Engine, error) { return newEngine(o) }

func newEngine(o Options) (*Engine, error) {
	if err := o.Settings.Validate(); err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	f, err := folder.Open(o.Folder)
	if err != nil {
		return nil, err
	}
	f.Step = o.Crash
	e := &Engine{
		opt: o, set: o.Settings.WithDefaults(), f: f, stream: newStream(o.Now()), poke: make(chan struct{}, 1),
		running: map[string]job{}, resting: map[string]rest{}, searched: map[string]time.Time{},
		logs: member.OpenLogs(f.Root(), o.Now), good: map[string]council.Params{},
	}
	if o.Memory != nil {
		e.recall = recall.New(recall.Options{TopK: maxRecalled}, o.Memory)
	}
	return e, nil
}

// Settings returns the settings with their defaults.
func (e *Engine) Settings() council.Settings { return e.set }

// Close ends what runs, waits for it, and releases the lock.
func (e *Engine) Close() error {
	e.mu.Lock()
	for _, j := range e.running {
		j.cancel()
	}
	e.mu.Unlock()
	e.jobs.Wait()
	return e.f.Close()
}

// now returns the time in UTC, without a monotonic reading, as it is written to records.
func (e *Engine) now() time.Time { return e.opt.Now().UTC().Round(0) }

// wake has Run look at the folder at once.
func (e *Engine) wake() {
	select {
	case e.poke <- struct{}{}:
	default:
	}
}

// writable returns ErrReadOnly if this engine only reads.
func (e *Engine) writable() error {
	if !e.f.Locked() {
		return ErrReadOnly
	}
	return nil
}

// publish writes a file once. A file that exists is not an error: its effect is there.
func (e *Engine) publish(rel string, v any) error {
	if err := e.f.Publish(rel, v); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// lockedWrite replaces a file that follows from others, for callers without the lock.
func (e *Engine) lockedWrite(rel string, v any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.f.Write(rel, v)
}

// log writes a line to the log of a member. A log that cannot be written is told to the engine's own.
func (e *Engine) log(name, level, task, phase, text string) {
	now := e.now()
	if err := e.logs.Write(name, council.LogLine{Time: now, Level: level, Task: task, Phase: phase, Text: text}); err != nil {
		e.opt.Log.Warn("log of a member", "member", name, "error", err)
	}
	e.stream.emit(EventLog, task, name, now)
}

// act sets what a member does now.
func (e *Engine) act(name, status, task string, round int) {
	a := council.Activity{Member: name, Status: status, TaskID: task, Round: round, UpdatedAt: e.now()}
	if err := e.f.WriteLoose(fmt.Sprintf("%s/%s/activity.json", folder.Nodes, name), a); err != nil {
		e.opt.Log.Warn("activity of a member", "member", name, "error", err)
	}
	e.stream.emit(EventActivity, task, name, a.UpdatedAt)
}

// mission returns MISSION.md, empty if there is none.
func (e *Engine) mission() string {
	data, err := e.f.ReadBytes("MISSION.md", 64<<10)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		e.opt.Log.Warn("mission", "error", err)
	}
	r := []rune(string(data))
	return string(r[:min(len(r), council.MaxMission)])
}

// family returns the model family of a member.
func (e *Engine) family(name string) string {
	if f, ok := e.opt.Ask.(interface{ Family(string) string }); ok {
		return f.Family(name)
	}
	m, err := e.set.Member(name)
	if err != nil {
		return council.UnknownFamily
	}
	return m.Family()
}
