package derive

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"

	"kioku/derive/store"
	"kioku/derive/view"
	"kioku/memory"
)

// maxViewUnits bounds the units that views show.
const maxViewUnits = 20_000

// writesViews reports whether views are written.
func (s *Service) writesViews() bool { return s.opt.ViewDir != "" }

// writeViews writes the views of what is derived now, unless that is nothing and there are none. Views that a person has edited are
// left alone, and named in the status.
func (s *Service) writeViews(ctx context.Context) error {
	units, more, err := viewUnits(ctx, s.store)
	if err != nil {
		return err
	}
	entities, err := s.store.Entities(ctx, store.EntityQuery{Limit: maxEntities, MaxSensitivity: min(s.opt.ViewCeiling, memory.Private), Relations: true})
	if err != nil {
		return err
	}
	files := view.Render(view.Input{Units: units, More: more, Entities: entities, Ceiling: min(s.opt.ViewCeiling, memory.Private)})
	return s.withRoot(func(root *os.Root) error {
		if _, err := root.Lstat(s.opt.ViewDir); len(units) == 0 && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		result, err := view.Write(root, s.opt.ViewDir, files)
		var edited []string
		for _, rel := range result.Edited {
			edited = append(edited, path.Join(s.opt.ViewDir, rel))
		}
		s.remember(func(st *state) { st.edited = edited })
		return err
	})
}

// unitLister lists units. *store.Store is one.
type unitLister interface {
	Units(ctx context.Context, q memory.UnitQuery) (memory.UnitList, error)
}

// viewUnits returns the units in whatever state, up to maxViewUnits, and how many more there are: first those that hold, then those that
// are over.
func viewUnits(ctx context.Context, from unitLister) (units []memory.Unit, more int, err error) {
	for _, states := range [][]string{{memory.StateValidated, memory.StateConflict}, {memory.StateSuperseded, memory.StateArchived}} {
		q := memory.UnitQuery{States: states, MaxSensitivity: memory.Secret}
		for shown := 0; ; {
			q.Limit = min(maxViewUnits-len(units), 1000)
			if q.Limit == 0 {
				q.Limit = 1 // for the total
			}
			list, err := from.Units(ctx, q)
			if err != nil {
				return nil, 0, err
			}
			if len(units) < maxViewUnits {
				units, shown = append(units, list.Units...), shown+len(list.Units)
			}
			if q.After = list.Next; q.After == "" || len(units) >= maxViewUnits {
				more += list.Total - shown
				break
			}
		}
	}
	return units, more, nil
}
