package search

import (
	"context"
	"strings"
	"testing"

	"kioku/memory"
)

// explosive is a reader whose channels panic.
type explosive struct {
	Reader
	match, nearest bool
}

func (e explosive) Match(context.Context, Terms, memory.Filter, int) ([]int64, error) {
	if e.match {
		panic("index out of everything")
	}
	return []int64{1}, nil
}

func (e explosive) Nearest(context.Context, []float32, memory.Filter, int) ([]Neighbor, Spread, error) {
	if e.nearest {
		panic("index out of everything")
	}
	return nil, Spread{}, nil
}

// Hazard D14: the channels run on goroutines of their own, in which a panic would end the process.
func TestSearchReturnsPanicOfChannelAsError(t *testing.T) {
	t.Parallel()
	for want, rd := range map[string]Reader{
		"match":          explosive{match: true},
		"nearest":        explosive{nearest: true},
		"one of the two": explosive{match: true, nearest: true},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := gatherProposals(t.Context(), rd, Terms{Any: []string{"tea"}}, []float32{1, 0, 0}, memory.Filter{}, 10, 10)
			if err == nil || !strings.Contains(err.Error(), "panic: index out of everything") || !strings.Contains(err.Error(), "explosive") {
				t.Errorf("%s: error %v", want, err)
			}
			if err != nil && want != "one of the two" && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error %v does not name %s", err, want)
			}
		})
	}
	out, err := gatherProposals(t.Context(), explosive{}, Terms{Any: []string{"tea"}}, []float32{1, 0, 0}, memory.Filter{}, 10, 10)
	if err != nil || len(out.matched) != 1 {
		t.Errorf("without a panic: %+v, %v", out, err)
	}
}
