package derive

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"

	"kioku/derive/seam"
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
	units, err := s.allUnits(ctx)
	if err != nil {
		return err
	}
	entities, err := s.store.Entities(ctx, seam.EntityQuery{Limit: maxEntities, MaxSensitivity: min(s.opt.ViewCeiling, memory.Private)})
	if err != nil {
		return err
	}
	files := view.Render(view.Input{Units: units, Entities: entities, Ceiling: min(s.opt.ViewCeiling, memory.Private)})
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

// allUnits returns the units in whatever state, up to maxViewUnits.
func (s *Service) allUnits(ctx context.Context) ([]memory.Unit, error) {
	q := memory.UnitQuery{IncludeSuperseded: true, MaxSensitivity: memory.Secret, Limit: 1000}
	var all []memory.Unit
	for len(all) < maxViewUnits {
		list, err := s.store.Units(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, list.Units...)
		if q.After = list.Next; q.After == "" {
			break
		}
	}
	return all, nil
}
