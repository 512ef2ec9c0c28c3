package contract

import (
	"encoding/json"
	"fmt"

	"kioku/memory"
)

// sealed is an answer in the cache, with what its ids and names refer to. Loops stand there by their keys only, so that the cache
// has no text of a loop that is forgotten.
type sealed struct {
	Loops    []string        `json:"loops,omitempty"`
	Entities []memory.Entity `json:"entities,omitempty"`
	Answer   string          `json:"answer"`
}

// Seal returns an answer as it is to be cached under Prompt.Input: with the loops and entities that were offered, on which Input does
// not depend. Another call for the same episodes, after a rebuild, may offer others.
func (in ExtractInput) Seal(answer string) string {
	s := sealed{Answer: answer}
	for _, loop := range offeredLoops(in.Loops) {
		s.Loops = append(s.Loops, loop.Key)
	}
	for _, e := range offeredEntities(in.Entities) {
		s.Entities = append(s.Entities, memory.Entity{Type: e.Type, Name: e.Name, Qualifier: e.Qualifier, Aliases: e.Aliases})
	}
	b, _ := json.Marshal(s) // strings always have a JSON form
	return string(b)
}

// Unseal returns what ReadExtract needs for a cached answer: the input as it was, and the answer. The texts of loops are taken from
// those of in, which may be any number; a loop that is not among them has none.
func (in ExtractInput) Unseal(cached string) (ExtractInput, string, error) {
	var s sealed
	if err := json.Unmarshal([]byte(cached), &s); err != nil {
		return in, "", fmt.Errorf("read a cached answer: %w", err)
	}
	texts := map[string]string{}
	for _, loop := range in.Loops {
		texts[loop.Key] = loop.Text
	}
	in.Loops, in.Entities = nil, s.Entities
	for _, key := range s.Loops {
		in.Loops = append(in.Loops, memory.Loop{Key: key, Text: texts[key]})
	}
	return in, s.Answer, nil
}
