package examples_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"kioku"
	"kioku/agent/bootstrap"
	"kioku/agent/chat"
	"kioku/agent/claude"
	"kioku/agent/flush"
	"kioku/agent/prune"
	"kioku/agent/session"
	"kioku/agent/sidecar"
	"kioku/client"
	"kioku/indexer"
	"kioku/llm/echo"
	"kioku/memory"
	"kioku/server"
)

// Put Kioku into a program in Go: a conversation with recall, tools, pruning, flush and compaction, kept in a transcript.
// The memory is that of a "kioku serve"; echo.Model stands for a language model.
func Example() {
	workspace, state, target, stop := serveMemory()
	defer stop()
	ctx := context.Background()

	service, err := client.Dial(target, client.Options{Agent: "main"})
	check(err)
	defer service.Close()
	side, err := sidecar.New(sidecar.Options{
		Agent: "main", State: state, Memories: func(id string) memory.Service { return service.For(id) },
		Settings: sidecar.Settings{Bootstrap: bootstrap.Options{Workspace: workspace}, Prune: prune.Defaults(), Flush: flush.Defaults()},
		Model:    &echo.Model{},
	})
	check(err)
	notes, err := claude.New(claude.Options{
		Folder: filepath.Join(workspace, "memory"), Kept: filepath.Join(state, "agents", "main", "kept"),
	})
	check(err)
	folder, err := session.Folder(state, "main")
	check(err)
	transcript, _, err := session.Open(folder, "demo", session.Options{})
	check(err)
	defer transcript.Close()
	talk, err := chat.New(chat.Options{
		Sidecar: side, Session: transcript, Turn: sidecar.Turn{Channel: "terminal"},
		Tools: chat.Join(chat.MemoryTools{Memory: service}, notes),
	})
	check(err)

	reply, err := talk.Turn(ctx, "What does Mia drink in the morning?", func(e chat.Event) {
		if e.Prompt != nil {
			fmt.Println("found:", len(e.Prompt.Recall.Memories))
		}
	})
	check(err)
	fmt.Println(reply.Text)
	// Output:
	// found: 1
	// I recall from MEMORY.md: Mia drinks green tea in the morning.
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// serveMemory stands for "kioku serve" over a workspace with one fact.
func serveMemory() (workspace, state, target string, stop func()) {
	base, err := os.MkdirTemp("", "kioku-")
	check(err)
	workspace, state = filepath.Join(base, "w"), filepath.Join(base, "s")
	check(os.Mkdir(workspace, 0o755))
	check(os.WriteFile(filepath.Join(workspace, "MEMORY.md"), []byte("# Memory\n\n- Mia drinks green tea in the morning.\n"), 0o644))
	ctx, cancel := context.WithCancel(context.Background())
	memory, err := kioku.Open(ctx, kioku.Options{Workspace: workspace, StateDir: state})
	check(err)
	_, err = memory.Sync(ctx, kioku.SyncOptions{}, func(indexer.Progress) {})
	check(err)
	service, err := server.New(server.Options{Agents: map[string]server.Memory{"main": memory}})
	check(err)
	listener, err := server.ListenUnix(server.SocketPath(state))
	check(err)
	served := make(chan error, 1)
	go func() { served <- service.Serve(ctx, listener) }()
	return workspace, state, "unix://" + server.SocketPath(state), func() {
		cancel()
		check(errors.Join(<-served, memory.Close(), os.RemoveAll(base)))
	}
}
