package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/host"
	"kioku/internal/files"
	"kioku/memory"
	"kioku/server"
)

const (
	// startWait is how long a client waits for a daemon that it or another client starts.
	startWait = 30 * time.Second
	// maxLog is the size from which the log of a background daemon is begun anew; the one before is kept.
	maxLog = 1 << 20
)

// errOnlyDaemon reports flags that leave no daemon to ask.
var errOnlyDaemon = errors.New("it works through a daemon, which it starts if none runs; omit --no-daemon and --read-only")

// Background is where the background daemon of one memory is: one that a client starts if no other daemon serves the memory.
type Background struct {
	// Socket is the unix socket.
	Socket string
	// Log is the file of its notices and log lines.
	Log string
	// start is locked by a client while it starts the daemon, and yield by whoever wants its place.
	start, yield string
}

// BackgroundOf returns where the background daemon of a memory is, beside the index.
func BackgroundOf(ctx context.Context, conf *config.Config, place config.Place) (Background, error) {
	state, err := conf.StateOf(ctx, place.Agent, place.Workspace)
	if err != nil {
		return Background{}, err
	}
	base := filepath.Join(state, "memory", place.Agent)
	return Background{Socket: server.MemorySocketPath(state, place.Agent), Log: base + ".log", start: base + ".start", yield: base + ".yield"}, nil
}

// joinOrStart returns a client of the daemon that serves the memory. If there is none, it starts one in the background; of many
// clients that find none, one does, and the others wait for it.
func (k *Connector) joinOrStart(ctx context.Context, w wanted) (*Client, error) {
	if k.NoDaemon || k.ReadOnly {
		return nil, errOnlyDaemon
	}
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	c, err := k.daemon(ctx, w, ToSearch)
	if c != nil || err != nil && !isGone(err) {
		return c, err
	}
	if w.place.Workspace == "" {
		return nil, config.ErrNoWorkspace
	}
	if err := CheckFolder(ctx, k.Conf, w.place, ToSearch); err != nil {
		return nil, err
	}
	b, err := BackgroundOf(ctx, k.Conf, w.place)
	if err != nil {
		return nil, err
	}
	lock, err := b.lockStart(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = files.Unlock(lock) }()
	return k.startUntilAnswer(ctx, w, b)
}

// lockStart waits until no other client starts the daemon.
func (b Background) lockStart(ctx context.Context) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(b.start), 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the index: %w", err)
	}
	lock, err := os.OpenFile(b.start, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start a daemon: %w", err)
	}
	if err := files.Lock(ctx, lock); err != nil {
		lock.Close()
		return nil, fmt.Errorf("start a daemon: %w", err)
	}
	return lock, nil
}

// startUntilAnswer starts the daemon until one answers. One that finds the index in use is started again for a while: a daemon that
// is ending may have it.
func (k *Connector) startUntilAnswer(ctx context.Context, w wanted, b Background) (*Client, error) {
	var ended <-chan error
	begun := time.Now()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		c, err := k.daemon(ctx, w, ToSearch)
		if c != nil || err != nil && !isGone(err) && ctx.Err() == nil {
			return c, err
		}
		if ended == nil {
			if ended, err = k.spawn(w.place, b); err != nil {
				return nil, fmt.Errorf("start a daemon: %w", err)
			}
		}
		select {
		case err := <-ended:
			failed := b.why(err)
			if !strings.Contains(failed.Error(), memory.ErrLocked.Error()) || time.Since(begun) > DaemonLockWait {
				return nil, failed
			}
			ended = nil
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, fmt.Errorf("the daemon that was started does not answer within %s; see %s", startWait, b.Log)
		}
	}
}

// spawn starts a daemon for one memory that outlives this process. The channel gets the error with which it ends.
func (k *Connector) spawn(place config.Place, b Background) (<-chan error, error) {
	program, err := host.Program()
	if err != nil {
		return nil, err
	}
	log, err := b.openLog()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(program, k.daemonArgs(place)...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = k.Out.Env, k.Conf.Dir(), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // signals of the client's terminal are not meant for it
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return ended, nil
}

// daemonArgs returns the command line of a background daemon with the settings of this run.
func (k *Connector) daemonArgs(place config.Place) []string {
	args := []string{"serve", "--background", "--idle", cmp.Or(k.Idle, DaemonIdle).String()}
	if k.ConfigFile != "" {
		args = append(args, "--config", k.ConfigFile)
	}
	for _, f := range k.Flags {
		if f.Key != "workspace" && f.Key != "agent" && f.Key != "agents" && f.Key != "socket" && f.Key != "listen" && !strings.HasPrefix(f.Key, "client.") {
			args = append(args, "--set", f.Key+"="+f.Value)
		}
	}
	return append(args, "--set", "agent="+place.Agent, "--set", "workspace="+place.Workspace)
}

// openLog opens the log to append to it. A long one is put aside first.
func (b Background) openLog() (*os.File, error) {
	if info, err := os.Stat(b.Log); err == nil && info.Size() > maxLog {
		if err := os.Rename(b.Log, b.Log+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(b.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// why returns the error of a daemon that ended: the last line of its log, which says why.
func (b Background) why(ended error) error {
	const tail = 4 << 10
	said := fmt.Sprint(ended)
	if f, err := os.Open(b.Log); err == nil {
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			text, _ := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-tail), tail))
			lines := strings.Split(strings.TrimSpace(string(text)), "\n")
			said = cmp.Or(lines[len(lines)-1], said)
		}
	}
	return fmt.Errorf("the daemon that was started has ended: %s (see %s)", said, b.Log)
}
