package flush

import (
	"encoding/json"
	"fmt"

	"kioku/llm"
)

// Spool returns messages as a Job keeps them on disk.
func Spool(messages []llm.Message) ([]json.RawMessage, error) {
	var spool []json.RawMessage
	for i, m := range messages {
		line, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("spool message %d: %w", i+1, err)
		}
		spool = append(spool, line)
	}
	return spool, nil
}

// conversation is the inverse of Spool.
func conversation(spool []json.RawMessage) ([]llm.Message, error) {
	messages := make([]llm.Message, len(spool))
	for i, line := range spool {
		if err := json.Unmarshal(line, &messages[i]); err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	return messages, nil
}
