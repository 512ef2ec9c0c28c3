package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"kioku/client"
	"kioku/cmd/kioku/config"
	"kioku/cmd/kioku/internal/connect"
	"kioku/cmd/kioku/internal/host"
	"kioku/cmd/kioku/internal/render"
	"kioku/memory"
)

// demo indexes, serves and searches a folder of examples.
type demo struct {
	app *app
	// asked is when the questions are asked; it is fixed so that the ages of the example notes stay the same.
	asked time.Time
}

func (a *app) demoCmd() *cobra.Command {
	var questions, now string
	cmd := &cobra.Command{
		Use: "demo", Short: "Index a folder of examples, serve it and ask it questions",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.demo(cmd.Context(), questions, now)
		},
	}
	cmd.Flags().StringVar(&questions, "questions", "", "Markdown `file` with the questions (default: questions.md beside the workspace)")
	cmd.Flags().StringVar(&now, "now", "2026-01-26", "the `day` that the questions are asked on")
	return cmd
}

// demo runs in a temporary state folder with only the settings of the command line.
func (a *app) demo(ctx context.Context, questions, now string) error {
	// If the reader of stdout goes away, the daemon and the folder must still be cleaned up.
	signal.Ignore(syscall.SIGPIPE)
	a.configFile, a.noDaemon = os.DevNull, true
	a.Env = slices.DeleteFunc(slices.Clone(a.Env), func(e string) bool { return strings.HasPrefix(e, "KIOKU_") })
	state, err := os.MkdirTemp("", "kioku-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the index: %w", err)
	}
	defer os.RemoveAll(state)
	a.flags = append(a.flags, config.Flag{Name: "--state", Key: "state", Value: state})
	conf, err := a.config()
	if err != nil {
		return err
	}
	place, err := conf.Place(conf.Agent)
	if err != nil {
		return err
	}
	if questions == "" {
		questions = filepath.Join(filepath.Dir(place.Workspace), "questions.md")
	}
	asked, err := momentOf(now, conf.Location)
	if err != nil {
		return err
	}
	list, err := readQuestions(questions)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "Indexing %s\n", render.Clean(place.Workspace))
	if err := a.with(ctx, connect.ToWrite, func(c *connect.Client) error { return a.index(ctx, c, indexFlags{}) }); err != nil {
		return err
	}
	return (&demo{app: a, asked: asked}).serve(ctx, conf.Agent, list)
}

// serve serves the index as kioku serve does, asks it everything and stops it.
func (d *demo) serve(ctx context.Context, agent string, list []demoQuestion) (err error) {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	daemon, err := d.daemon(serving)
	if err != nil {
		return fmt.Errorf("the daemon did not start: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(daemon.Serve(serving, daemon.Run), daemon.Close()) }()
	defer func() {
		start := time.Now()
		stop()
		if stopped := <-ended; err == nil {
			err = stopped
		}
		if err == nil {
			fmt.Fprintf(d.app.Stdout, "\nThe daemon ended gracefully in %s.\n", time.Since(start).Round(time.Millisecond))
		}
	}()
	address := daemon.Addr().String()
	fmt.Fprintf(d.app.Stdout, "Serving gRPC on %s\n", address)
	service, err := client.Dial(address, client.Options{Agent: agent})
	if err != nil {
		return err
	}
	defer service.Close()
	for _, q := range list {
		if err := d.askQuestion(ctx, service, address, agent, q); err != nil {
			return err
		}
	}
	return nil
}

// daemon opens a daemon that listens on a free port and writes nothing.
func (d *demo) daemon(ctx context.Context) (*host.Host, error) {
	quiet := *d.app
	quiet.Stderr = io.Discard
	quiet.flags = append(slices.Clone(quiet.flags), config.Flag{Name: "--listen", Key: "listen", Value: "127.0.0.1:0"})
	return quiet.openDaemon(ctx, &serveFlags{grace: 10 * time.Second}, &slog.LevelVar{})
}

// askQuestion asks one question and shows it, its answers, and how to ask it without this program.
func (d *demo) askQuestion(ctx context.Context, service *client.Client, address, agent string, q demoQuestion) error {
	query := memory.Query{Text: q.text, MaxResults: 3, Now: d.asked}
	start := time.Now()
	answer, err := service.Search(ctx, query)
	if err != nil {
		return err
	}
	trip := time.Since(start)
	command, err := grpcurl(address, agent, query)
	if err != nil {
		return err
	}
	return d.app.Show(func(p *render.Page) {
		p.Linef("")
		p.Linef("%s  %s", render.Bold(q.text), render.Dim("("+q.kind+")"))
		for i, hit := range answer.Hits {
			if i > 0 {
				// Only the first hit is shown with its text.
				hit.Snippet = ""
			}
			p.Result(i+1, hit)
		}
		if len(answer.Hits) == 0 {
			p.Linef("    nothing: no note reaches the threshold")
		}
		p.Linef("    %s, %s in the service, %s with the round trip", render.Channels(answer), render.ThreeDigits(answer.Took), trip.Round(10*time.Microsecond))
		p.Linef("    %s", render.Dim(command))
	})
}

// grpcurl returns the command line that sends the same question.
func grpcurl(address, agent string, q memory.Query) (string, error) {
	text, err := json.Marshal(struct {
		Agent      string    `json:"agent"`
		Query      string    `json:"query"`
		MaxResults int       `json:"maxResults"`
		AskTime    time.Time `json:"askTime"`
	}{agent, q.Text, q.MaxResults, q.Now.UTC()})
	if err != nil {
		return "", fmt.Errorf("write the request: %w", err)
	}
	return fmt.Sprintf("grpcurl -plaintext -d %s %s kioku.v1.MemoryService/MemorySearch", render.ShellQuote(string(text)), address), nil
}

// demoQuestion is a question of the demonstration.
type demoQuestion struct{ kind, text string }

// questionRow is a row of the table of questions whose kind says that it is for the demonstration.
var questionRow = regexp.MustCompile(`(?m)^\| *\d+ *\| *([^|]+), demo *\| *([^|]+?) *\|`)

// readQuestions reads the questions for the demonstration from the table in a Markdown file.
func readQuestions(path string) ([]demoQuestion, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the questions: %w; name a file with --questions", err)
	}
	var list []demoQuestion
	for _, m := range questionRow.FindAllStringSubmatch(string(text), -1) {
		list = append(list, demoQuestion{kind: m[1], text: m[2]})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s contains no row \"| 1 | kind, demo | question | ... |\"", path)
	}
	return list, nil
}
