package doctor

import (
	"context"
	"fmt"

	"kioku/cmd/kioku/internal/render"
	"kioku/internal/text"
)

// checkLanguageModel looks whether the settings of the language model are whole. It asks the model nothing, which could cost money, and
// finds nothing if none is set.
func checkLanguageModel(_ context.Context, s *Subject) []Finding {
	const check = "llm"
	switch {
	case s.ModelErr != nil:
		return one(check, Fail, fmt.Sprintf("the language model cannot be used, so nothing is flushed or compacted; memory works without it: %s", text.OneLine(render.Message(s.ModelErr))),
			"correct the setting, or go without a model: kioku config set llm.provider none")
	case s.Model == nil:
		return nil
	}
	return one(check, OK, fmt.Sprintf("%s %s; it was not asked", s.Conf.LLM.Provider, s.Model.Name()), "")
}
