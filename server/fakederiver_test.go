package server

import (
	"context"

	"kioku/derive/unit"
	"kioku/memory"
)

var _ Deriver = (*fakeDeriver)(nil)

// fakeDeriver answers with what its fields say, and with zero values if they say nothing.
type fakeDeriver struct {
	list     func(q memory.UnitQuery, words string) (memory.UnitList, error)
	unit     func(id string, ceiling memory.Sensitivity) (memory.Unit, error)
	history  func(id string, ceiling memory.Sensitivity) ([]unit.Version, error)
	entities func(unit.EntityFilter) (unit.EntityList, error)
	decide   func(unit.DecisionRequest) (unit.Decided, error)
	status   func() (unit.DeriveStatus, error)
	estimate func(all bool) (unit.DeriveEstimate, error)
	run      func(ctx context.Context, all bool, step func(unit.DeriveProgress)) error
	retry    func(id int64) (int, error)
}

func (f *fakeDeriver) List(_ context.Context, q memory.UnitQuery, words string) (memory.UnitList, error) {
	if f.list == nil {
		return memory.UnitList{}, nil
	}
	return f.list(q, words)
}

func (f *fakeDeriver) Unit(_ context.Context, id string, ceiling memory.Sensitivity) (memory.Unit, error) {
	if f.unit == nil {
		return memory.Unit{}, memory.ErrNoUnit
	}
	return f.unit(id, ceiling)
}

func (f *fakeDeriver) History(_ context.Context, id string, ceiling memory.Sensitivity) ([]unit.Version, error) {
	if f.history == nil {
		return nil, memory.ErrNoUnit
	}
	return f.history(id, ceiling)
}

func (f *fakeDeriver) Entities(_ context.Context, filter unit.EntityFilter) (unit.EntityList, error) {
	if f.entities == nil {
		return unit.EntityList{}, nil
	}
	return f.entities(filter)
}

func (f *fakeDeriver) Reflections(context.Context, unit.ReflectionFilter, memory.Sensitivity) (unit.Reflections, error) {
	return unit.Reflections{}, nil
}

func (f *fakeDeriver) Decide(_ context.Context, r unit.DecisionRequest) (unit.Decided, error) {
	if f.decide == nil {
		return unit.Decided{}, nil
	}
	return f.decide(r)
}

func (f *fakeDeriver) Status(context.Context) (unit.DeriveStatus, error) {
	if f.status == nil {
		return unit.DeriveStatus{}, nil
	}
	return f.status()
}

func (f *fakeDeriver) Estimate(_ context.Context, all bool) (unit.DeriveEstimate, error) {
	if f.estimate == nil {
		return unit.DeriveEstimate{}, nil
	}
	return f.estimate(all)
}

func (f *fakeDeriver) Run(ctx context.Context, all bool, step func(unit.DeriveProgress)) error {
	if f.run == nil {
		return nil
	}
	return f.run(ctx, all, step)
}

func (f *fakeDeriver) Retry(_ context.Context, id int64) (int, error) {
	if f.retry == nil {
		return 0, nil
	}
	return f.retry(id)
}
