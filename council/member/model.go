package member

import (
	"context"

	"kioku/llm"
)

// modelSpeaker asks a language model.
type modelSpeaker struct{ llm llm.Model }

func (s *modelSpeaker) model() string { return s.llm.Name() }
func (s *modelSpeaker) window() int   { return s.llm.Window() }
func (s *modelSpeaker) remote() bool  { return false }

// speak implements speaker.
func (s *modelSpeaker) speak(ctx context.Context, _ Question, req llm.Request) (llm.Response, error) {
	return s.llm.Generate(ctx, req, nil)
}
