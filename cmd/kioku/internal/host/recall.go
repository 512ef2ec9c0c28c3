package host

import (
	"context"

	"kioku"
	"kioku/cmd/kioku/config"
	"kioku/derive"
	"kioku/derive/recall"
	"kioku/memory"
	"kioku/server"
)

// recalling is a memory whose searches know what was derived from it.
type recalling struct {
	*kioku.Memory
	recaller *recall.Recaller
	deriver  *derive.Service
}

// Search searches the memory, and what was derived from it.
func (r recalling) Search(ctx context.Context, q memory.Query) (memory.Answer, error) {
	return r.recaller.Search(ctx, q)
}

// Units implements memory.UnitLister.
func (r recalling) Units(ctx context.Context, q memory.UnitQuery, words string) (memory.UnitList, error) {
	return r.deriver.List(ctx, q, words)
}

// recallingFrom returns a memory whose searches know what the service derives from it; without a service it is the memory itself. conf
// contains the settings of its workspace too.
func recallingFrom(conf *config.Config, m *kioku.Memory, s *derive.Service) server.Memory {
	if s == nil {
		return m
	}
	opt := recall.Options{Cut: s.Cut, MaxResults: conf.Search.MaxResults, Egress: ceilingOf(conf), Now: ClockOf(conf)}
	if conf.Derive.Recall > 0 && s.Asks() {
		opt.Expand, opt.Rerank, opt.ModelBudget = s.Wordings, s.Choose, conf.Derive.Recall
	}
	return recalling{m, recall.New(m, m.Derived(), opt), s}
}
