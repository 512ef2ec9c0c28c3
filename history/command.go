package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	// maxOutput is the maximum number of bytes of an answer that is kept in memory.
	maxOutput = 256 << 20
	// commandTime bounds one command: what a repository makes git read may never end.
	commandTime = 2 * time.Minute
)

// settings take the places of those of a repository that would run a program, write, or read other files.
var settings = []string{
	"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.attributesFile=/dev/null", "core.excludesFile=/dev/null", "core.pager=cat",
	"core.askPass=", "core.sshCommand=false", "credential.helper=", "protocol.allow=never", "safe.bareRepository=explicit",
	"diff.orderFile=/dev/null", "diff.renames=true", "diff.renameLimit=1000", "diff.ignoreSubmodules=all",
	"log.showSignature=false", "log.showRoot=true", "log.follow=false", "log.mailmap=false", "gpg.program=false", "maintenance.auto=false", "gc.auto=0",
}

// environment is all that git gets of the environment. Without a home and a system it has no settings but those of the repository
// and of the command line.
func environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ALLOW_PROTOCOL=none", "GIT_PAGER=cat", "GIT_FLUSH=0",
	}
}

// command returns a command of git in the folder.
func (g *Git) command(ctx context.Context, args ...string) *exec.Cmd {
	all := []string{"-C", g.dir, "--no-pager"}
	if g.isJournal {
		all = append(all, "--git-dir=.")
	} else {
		all = append(all, "--literal-pathspecs")
	}
	for _, s := range slices.Concat(settings, g.safe) {
		all = append(all, "-c", s)
	}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Env, cmd.WaitDelay = environment(), time.Second
	return cmd
}

// run returns what a command of git writes. The command gets input on its standard input.
func (g *Git) run(ctx context.Context, input string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd := g.command(ctx, args...)
	out, said := &limited{most: maxOutput}, &limited{most: 4 << 10, cut: true}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), out, said
	err := cmd.Run()
	if out.over {
		err = errTooMuch
	}
	return out.Bytes(), failure(ctx, args[0], err, said.String())
}

// failure returns the error of a command of git with what git has said about it.
func failure(ctx context.Context, name string, err error, said string) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("git %s: %w", name, context.Cause(ctx))
	case errors.Is(err, exec.ErrNotFound):
		return ErrNoGit
	}
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return fmt.Errorf("git %s: %w: %s", name, err, strings.TrimPrefix(line, "fatal: "))
}

// limited is a buffer that takes so many bytes. More are dropped if cut is set, and otherwise end the command.
type limited struct {
	bytes.Buffer
	most int
	cut  bool
	over bool
}

// Write takes bytes up to the limit.
func (l *limited) Write(p []byte) (int, error) {
	if room := l.most - l.Len(); len(p) > room {
		l.over = !l.cut
		l.Buffer.Write(p[:max(room, 0)])
		if !l.cut {
			return 0, errTooMuch
		}
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

var _ io.Writer = (*limited)(nil)
