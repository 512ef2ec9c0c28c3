package agent_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"kioku/agent"
	"kioku/llm"
	"kioku/llm/echo"
)

// An agent that remembers. echo.Model stands for a language model, such as llm.New returns.
func ExampleNew() {
	workspace, err := os.MkdirTemp("", "notes-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(workspace)
	os.Setenv("XDG_STATE_HOME", filepath.Join(workspace, ".state"))

	for _, message := range []string{"My boat is moored at berth 12.", "Where is my boat moored?"} {
		a, err := agent.New(workspace, &echo.Model{})
		if err != nil {
			log.Fatal(err)
		}
		reply, err := a.Turn(context.Background(), message, nil)
		if err != nil {
			log.Fatal(err)
		}
		if err := a.Close(); err != nil { // stores what is worth keeping
			log.Fatal(err)
		}
		fmt.Println(len(reply.Text) > 0)
	}
	// Output:
	// true
	// true
}

// A program that asks its model itself.
func ExampleAgent_Before() {
	workspace, err := os.MkdirTemp("", "notes-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(workspace)
	model := &echo.Model{}
	a, err := agent.Open(context.Background(), agent.Options{Workspace: workspace, Model: model, State: filepath.Join(workspace, ".state")})
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()

	messages := []llm.Message{{Role: llm.RoleUser, Text: "remember that the ferry leaves from Uno"}}
	for {
		request, err := a.Before(context.Background(), messages)
		if err != nil {
			log.Fatal(err)
		}
		reply, err := model.Generate(context.Background(), request, nil)
		if err != nil {
			log.Fatal(err)
		}
		if err := a.After(reply); err != nil {
			log.Fatal(err)
		}
		messages = append(messages, reply.Message)
		if len(reply.Message.ToolCalls) == 0 {
			break
		}
		for _, call := range reply.Message.ToolCalls {
			messages = append(messages, a.Call(context.Background(), call))
		}
	}
	fmt.Println(len(messages))
	// Output: 4
}
