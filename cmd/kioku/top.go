package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/render"
	"kioku/cmd/kioku/internal/top"
)

const (
	// topWindow is the time over which kioku top takes rates and latencies.
	topWindow = 30 * time.Second
	// sizeCheck is the time between two looks at the size of the terminal.
	sizeCheck = 200 * time.Millisecond
)

func (a *app) topCmd() *cobra.Command {
	interval := 2 * time.Second
	cmd := &cobra.Command{
		Use: "top", Short: "Show what a running service does, live",
		Long: "Show what a running service does: searches and their latency, the lag of the index, the backlog, memory, slow calls and what\n" +
			"is sent to other machines, for each agent. On a terminal it is live until q is pressed; elsewhere it is written once.",
		Example: "  kioku top\n  kioku top --json",
		Args:    cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.top(cmd.Context(), max(interval, 100*time.Millisecond))
		},
	}
	cmd.Flags().DurationVar(&interval, "interval", interval, "how `long` between two looks")
	return cmd
}

func (a *app) top(ctx context.Context, interval time.Duration) (err error) {
	k, err := a.connector()
	if err != nil {
		return err
	}
	service, err := k.Service(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	if a.JSON || !render.IsTerminal(a.Stdout) {
		v, _, err := lookAt(ctx, service, top.Sample{})
		if err != nil {
			return err
		}
		return a.Write(v, func(p *render.Page) { v.Write(p, time.Now()) })
	}
	return a.liveTop(ctx, service, interval)
}

// lookAt returns what a service has done since an earlier sample, and the sample of now.
func lookAt(ctx context.Context, service *connect.Service, before top.Sample) (top.View, top.Sample, error) {
	text, err := service.Metrics(ctx)
	if err != nil {
		return top.View{}, top.Sample{}, err
	}
	now, err := top.Parse(text, time.Now())
	if err != nil {
		return top.View{}, top.Sample{}, err
	}
	statuses, err := service.Statuses(ctx)
	return top.NewView(before, now, statuses), now, err
}

// Sequences of a terminal: begin with an empty screen without a cursor and without wrapping lines, and end with the old one.
const (
	beginScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	endScreen   = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// liveTop shows views until a key or a signal ends it.
func (a *app) liveTop(ctx context.Context, service *connect.Service, interval time.Duration) error {
	keys, restore, err := readKeys(a.stdin)
	if err != nil {
		return err
	}
	defer restore()
	fmt.Fprint(a.Stdout, beginScreen)
	defer fmt.Fprint(a.Stdout, endScreen)
	var samples []top.Sample
	var text string
	var size [2]int
	look := func() error {
		var before top.Sample
		if len(samples) > 0 {
			before = samples[0]
		}
		v, now, err := lookAt(ctx, service, before)
		if err != nil {
			return err
		}
		samples = append(samples, now)
		for len(samples) > 1 && now.At.Sub(samples[1].At) >= topWindow {
			samples = samples[1:]
		}
		p := render.NewPage(a.Colors(a.Stdout))
		v.Write(p, time.Now())
		text, size = p.String(), [2]int{}
		return nil
	}
	ticks, sizes := time.NewTicker(interval), time.NewTicker(sizeCheck)
	defer ticks.Stop()
	defer sizes.Stop()
	for err := look(); ; {
		if err != nil {
			return topEnded(ctx, err)
		}
		if now := a.terminalSize(); now != size {
			size = now
			fmt.Fprint(a.Stdout, screenOf(text, size))
		}
		select {
		case <-ctx.Done():
			return nil
		case key := <-keys:
			if strings.ContainsRune("qQ\x03\x04\x1b", rune(key)) {
				return nil
			}
		case <-ticks.C:
			err = look()
		case <-sizes.C:
		}
	}
}

// topEnded returns the error of a look, nil if the look was canceled.
func topEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("the service does not answer any more: %w", err)
}

// terminalSize returns the columns and rows of the terminal.
func (a *app) terminalSize() [2]int {
	if f, ok := a.Stdout.(*os.File); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil {
			return [2]int{columns, rows}
		}
	}
	return [2]int{80, 24}
}

// screenOf returns what draws a text over the screen: as many lines as it has rows, the last with the keys.
func screenOf(text string, size [2]int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	rows := max(size[1]-1, 1)
	lines = lines[:min(len(lines), rows)]
	for len(lines) < rows {
		lines = append(lines, "")
	}
	if size[1] > 1 {
		lines = append(lines, "q ends")
	}
	return "\x1b[H" + strings.Join(lines, "\x1b[0m\x1b[K\r\n") + "\x1b[0m\x1b[K\x1b[J"
}

// readKeys returns the keys that are pressed on a terminal, and what gives the terminal back. Other input has no keys.
func readKeys(stdin io.Reader) (keys <-chan byte, restore func(), err error) {
	f, ok := stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, func() {}, nil
	}
	before, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, nil, fmt.Errorf("read keys: %w", err)
	}
	pressed := make(chan byte, 16)
	// A read of a terminal cannot be canceled, so this goroutine lives as long as the process.
	go func() {
		for b := make([]byte, 1); ; {
			if n, err := f.Read(b); err != nil || n == 0 {
				return
			}
			pressed <- b[0]
		}
	}()
	return pressed, func() { _ = term.Restore(int(f.Fd()), before) }, nil
}
