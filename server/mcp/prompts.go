package mcp

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kioku/agent/flush"
	"kioku/server"
)

// Names of the prompts.
const (
	// PromptRecall asks a question with what memory contains about it.
	PromptRecall = "recall"
	// PromptFlush has a model store what must outlast the conversation.
	PromptFlush = "flush"
)

// addPrompts adds the prompts to the server of the session.
func (s *session) addPrompts() {
	s.server.AddPrompt(&sdk.Prompt{
		Name: PromptRecall, Title: "Recall", Description: "Ask a question with what memory contains about it.",
		Arguments: []*sdk.PromptArgument{{Name: "question", Title: "Question", Required: true}},
	}, s.recallPrompt)
	s.server.AddPrompt(&sdk.Prompt{
		Name: PromptFlush, Title: "Flush", Description: "Store what must outlast this conversation, before it is compacted or ends.",
	}, flushPrompt)
}

// recallPrompt returns the question, and the memories for it in a frame that marks them as data.
func (s *session) recallPrompt(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	question := req.Params.Arguments["question"]
	if strings.TrimSpace(question) == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the prompt " + PromptRecall + " needs the argument question"}
	}
	m, ask, err := s.open(ctx, req.ClientCapabilities(), req.Params.InputResponses)
	if ask != nil {
		return &sdk.GetPromptResult{InputRequests: ask}, nil
	}
	if err != nil {
		return nil, errors.New(message(err))
	}
	resp, err := server.Beside.Recall.Call(ctx, m.Conn, server.RecallFor{OfAgent: m.of(), Message: question})
	if err != nil {
		return nil, errors.New(message(err))
	}
	said := question
	if resp.Block != "" {
		said = resp.Block + "\n\n" + question
	}
	return ofUser("Memories for: "+question, said), nil
}

// flushPrompt returns what a model is asked before old messages are compacted.
func flushPrompt(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	return ofUser("Store what must outlast this conversation", flush.SystemPrompt(flush.Occasion{})+"\n\n"+flush.UserPrompt(flush.Occasion{}, time.Now())), nil
}

// ofUser returns a prompt of one message of the user.
func ofUser(description, text string) *sdk.GetPromptResult {
	return &sdk.GetPromptResult{
		Description: description,
		Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}},
	}
}
