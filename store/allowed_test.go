package store

import (
	"fmt"
	"slices"
	"testing"

	"kioku/memory"
	"kioku/search"
	"kioku/store/slab"
)

// Which chunks a filter allows is that of the view's generation, whatever is cached.
func TestAllowedIDsFollowEachCommit(t *testing.T) {
	t.Parallel()
	s := openWithBudget(t, t.TempDir(), slab.NewBudget(slab.DefaultBudget), false)
	filters := []memory.Filter{{PathPrefix: "memory/a"}, {PathPrefix: "memory/b"}, {Sources: []string{"extra"}}, {Since: "2026-01-01"}, {Until: "2027-01-01"}}
	for i := range 6 {
		replace(t, s, testFile(fmt.Sprintf("memory/a%d.md", i), nil, "tea"), testFile(fmt.Sprintf("memory/b-2026-02-0%d.md", i+1), nil, "tea", "coffee"))
		for range 2 {
			viewWords(t, s, func(v *view) error {
				for _, f := range filters {
					got, err := v.allowedIDs(t.Context(), f)
					if err != nil {
						return err
					}
					want, err := v.readAllowedIDs(t.Context(), FilterArgs(f))
					slices.Sort(want)
					if err != nil || !slices.Equal(got.List(), want) {
						t.Errorf("commit %d, %+v: %v, want %v, %v", i, f, got, want, err)
					}
				}
				return sameWords(t, v, search.Terms{Any: []string{"tea"}}, filters[i%2])
			})
		}
	}
}
