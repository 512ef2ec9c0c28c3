package member_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kioku/council"
	"kioku/council/member"
)

// cliFlag makes the test binary behave as a command that answers for a member.
const cliFlag = "-council-cli="

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], cliFlag) {
		mode := strings.TrimPrefix(os.Args[1], cliFlag)
		os.Exit(cli(mode, os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// cli is the command. Its arguments depend on the mode.
func cli(mode string, args []string) int {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 9
	}
	switch mode {
	case "ballot":
		fmt.Println(ballot)
	case "fence":
		fmt.Printf("Here it is:\n```json\n%s\n```\n", ballot)
	case "envelope":
		fmt.Printf(`{"type":"result","usage":{"tokens":12},"message":{"text":%q}}`, ballot)
	case "prose":
		fmt.Println("I reject it")
	case "second":
		if bytes.Contains(prompt, []byte("Your reply cannot be used")) {
			fmt.Println(ballot)
		} else {
			fmt.Println("I approve it")
		}
	case "foreign":
		fmt.Println(strings.Replace(ballot, "panda", "gorilla", 1))
	case "nested":
		fmt.Printf(`{"reply":%s}`, ballot)
	case "nothing":
	case "exit":
		fmt.Println(ballot)
		fmt.Fprintln(os.Stderr, "not logged in, token ghp_R7xQ2mVb9Kd4LzT1wYc8Nf5HsJ3pGu6AeXo0\x1b[2J")
		return 1
	case "flood":
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for range 1024 {
			if _, err := os.Stdout.Write(chunk); err != nil {
				return 1
			}
		}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		_ = os.WriteFile(args[0], []byte(strconv.Itoa(os.Getpid())), 0o600)
		time.Sleep(time.Minute)
	case "grandchild":
		child := exec.Command("sleep", "60")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			return 8
		}
		_ = os.WriteFile(args[0], []byte(strconv.Itoa(child.Process.Pid)), 0o600)
		fmt.Println(ballot)
	case "report":
		dir, _ := os.Getwd()
		entries, _ := os.ReadDir(".")
		_ = os.WriteFile(args[0], fmt.Appendf(nil, "%d files in %s\n%s\nSTDIN %s", len(entries), dir, strings.Join(os.Environ(), "\n"), prompt), 0o600)
		fmt.Println(ballot)
	}
	return 0
}

// command returns the members of a council whose panda is the command in a mode.
func command(t *testing.T, c council.Member, mode string, args ...string) *member.Members {
	t.Helper()
	c.Name, c.Command = "panda", append([]string{os.Args[0], cliFlag + mode}, args...)
	m, err := member.New(member.Options{Settings: council.Settings{Members: []council.Member{c}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCommandAnswers(t *testing.T) {
	t.Parallel()
	for mode, c := range map[string]struct {
		member council.Member
		calls  int
	}{"ballot": {calls: 1}, "fence": {calls: 1}, "second": {calls: 2}, "envelope": {council.Member{Output: "message.text"}, 1}} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			got, err := command(t, c.member, mode).Ask(t.Context(), question())
			if err != nil || got.Ballot.Vote != council.VoteApprove || got.Calls != c.calls || got.Usage.TokensIn == 0 || got.Usage.TokensOut == 0 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestCommandFailsClosed is check 5 for an external program: none of these is a vote.
func TestCommandFailsClosed(t *testing.T) {
	t.Parallel()
	for mode, c := range map[string]struct {
		member council.Member
		kind   string
	}{
		"exit":    {kind: council.AbstainError},
		"nothing": {kind: council.AbstainMalformed},
		"prose":   {kind: council.AbstainMalformed},
		"foreign": {kind: council.AbstainMalformed},
		"nested":  {kind: council.AbstainMalformed},
		"flood":   {kind: council.AbstainMalformed},
		"ballot":  {council.Member{Output: "result"}, council.AbstainMalformed},
		"fence":   {council.Member{Output: "result"}, council.AbstainMalformed},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			got, err := command(t, c.member, mode).Ask(t.Context(), question())
			if member.KindOf(err) != c.kind || got.Ballot != nil {
				t.Errorf("%+v, %v", got.Ballot, err)
			}
			if mode == "exit" && (!strings.Contains(err.Error(), "not logged in") || strings.ContainsAny(err.Error(), "\x1b") || strings.Contains(err.Error(), "R7xQ2mVb9Kd4")) {
				t.Errorf("%q", err)
			}
		})
	}
	missing, err := member.New(member.Options{Settings: council.Settings{Members: []council.Member{{Name: "panda", Command: []string{"no-such-agent-cli"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := missing.Ask(t.Context(), question()); member.KindOf(err) != council.AbstainError || !strings.Contains(err.Error(), "correct the command") {
		t.Errorf("%v", err)
	}
}

// pidIn waits for the id of a process in a file.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(raw))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// gone reports whether a process ends ; one that nobody has waited for has ended too.
func gone(pid int) bool {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(5 * time.Millisecond) {
		stat, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		if err != nil || strings.HasPrefix(string(stat), "Z") {
			return true
		}
	}
	return false
}

// late is a context whose deadline is when over is closed.
type late struct {
	context.Context
	over chan struct{}
}

// Done implements context.Context.
func (l late) Done() <-chan struct{} { return l.over }

// Err implements context.Context.
func (l late) Err() error {
	select {
	case <-l.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestCommandIsKilledAfterTheDeadline(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	ctx := late{t.Context(), make(chan struct{})}
	go func() { // its time is over when the process has begun
		for pid := ""; pid == "" && t.Context().Err() == nil; time.Sleep(5 * time.Millisecond) {
			raw, _ := os.ReadFile(file)
			pid = string(raw)
		}
		close(ctx.over)
	}()
	_, err := command(t, council.Member{}, "stubborn", file).Ask(ctx, question())
	if member.KindOf(err) != council.AbstainTimeout {
		t.Errorf("%v", err)
	}
	if pid := pidIn(t, file); !gone(pid) {
		t.Errorf("the process %d has ignored SIGTERM and goes on", pid)
	}
}

func TestCommandIsNotHeldUpByAGrandchild(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	got, err := command(t, council.Member{}, "grandchild", file).Ask(t.Context(), question())
	if err != nil || got.Ballot == nil {
		t.Errorf("%+v, %v", got, err)
	}
	if pid := pidIn(t, file); !gone(pid) {
		t.Errorf("the grandchild %d goes on", pid)
	}
}

// The prompt is on the standard input, and a secret of the environment stays here.
func TestCommandGetsThePromptAndLittleElse(t *testing.T) {
	t.Setenv("KIOKU_TEST_SECRET", "hunter2")
	t.Setenv("KIOKU_TEST_PASSED", "yes")
	file := filepath.Join(t.TempDir(), "report")
	q := question()
	q.Task.Description = strings.Repeat("長い説明。", 20_000) // 300,000 bytes, more than one argument may have
	if _, err := command(t, council.Member{Env: []string{"KIOKU_TEST_PASSED"}}, "report", file).Ask(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	report, stdin, _ := strings.Cut(string(raw), "STDIN ")
	if !strings.HasPrefix(report, "0 files in ") || strings.Contains(report, "hunter2") || !strings.Contains(report, "KIOKU_TEST_PASSED=yes") || !strings.Contains(report, "\nPATH=") {
		t.Errorf("%s", report)
	}
	if !strings.Contains(stdin, q.Task.Description) || !strings.Contains(stdin, `"enum":["panda"]`) {
		t.Errorf("the prompt has %d bytes", len(stdin))
	}
	folder, _, _ := strings.Cut(strings.TrimPrefix(report, "0 files in "), "\n")
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder %s is left: %v", folder, err)
	}
}
