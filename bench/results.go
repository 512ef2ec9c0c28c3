package bench

import (
	"encoding/json"
	"fmt"
	"io"
)

// answerLine is a line of results in the format of the scorers of sets.
type answerLine struct {
	ID      string       `json:"id"`
	Results []resultLine `json:"results"`
}

type resultLine struct {
	Range
	Score float64 `json:"score"`
}

// WriteResults writes a line of JSON for each question: {"id", "results": [{"path", "start_line", "end_line", "score"}]}. The
// results are best first.
func WriteResults(w io.Writer, asked []Asked) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, a := range asked {
		line := answerLine{ID: a.Question.ID, Results: []resultLine{}}
		for _, r := range a.Results {
			line.Results = append(line.Results, resultLine{r.Range, r.Score})
		}
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	return nil
}
