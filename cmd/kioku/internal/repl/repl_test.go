package repl

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	"kioku/agent/session"
	"kioku/internal/testkit"
)

func TestAttendExitsAtTheSecondInterrupt(t *testing.T) {
	t.Parallel()
	if folder := os.Getenv("KIOKU_TEST_STUBBORN"); folder != "" {
		beStubborn(t, folder)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "KIOKU_TEST_STUBBORN="+t.TempDir())
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	testkit.Must(t, cmd.Start())
	var all []string
	for lines := bufio.NewScanner(said); lines.Scan(); {
		all = append(all, lines.Text())
		if line := lines.Text(); line == "busy" || strings.HasPrefix(line, "· canceling") {
			testkit.Must(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("exit %v: %q", err, all)
	}
	if want := "· ended; kioku chat --continue continues session busy"; len(all) != 3 || all[2] != want {
		t.Errorf("said %q, want %q at the end", all, want)
	}
}

// beStubborn has a chat do something that no context ends.
func beStubborn(t *testing.T, folder string) {
	s, _, err := session.Open(folder, "busy", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt)
	r := &repl{view: &view{out: io.Discard, notes: os.Stderr}, session: s}
	r.TakeInterrupts = func() (<-chan os.Signal, func()) { return interrupts, func() {} }
	t.Error(r.attend(t.Context(), func(context.Context) error {
		fmt.Fprintln(os.Stderr, "busy")
		select {}
	}))
}
