package render

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Fields shows every member that says something, and nothing that controls a terminal.
func TestFieldsShowsWhatIsThere(t *testing.T) {
	t.Parallel()
	type command struct {
		ID     string    `json:"id"`
		At     time.Time `json:"issued_at"`
		Never  time.Time `json:"acked_at"`
		Reason string    `json:"reason"`
		List   []string  `json:"directives"`
		None   []string  `json:"none"`
		N      int       `json:"minutes"`
	}
	p := &Page{}
	Fields(p, []command{{ID: "c-1", At: time.Date(2026, 1, 20, 9, 30, 0, 0, time.Local), Reason: "too\x1b[31m chatty: \"x\"\nreally", List: []string{"short", "12"}, N: 5}})
	want := `- id: c-1
  issued_at: 2026-01-20 09:30
  reason: |-
    too chatty: "x"
    really
  directives:
    - short
    - "12"
  minutes: 5
`
	if d := cmp.Diff(want, p.String()); d != "" {
		t.Error(d)
	}
}
