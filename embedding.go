package kioku

import "kioku/indexer"

// newBackfill returns the backfill of the wanted client.
func (m *Memory) newBackfill() *indexer.Backfill {
	client := m.generations.wanted
	b := indexer.NewBackfill(m.generations.newGeneration(client), client, m.opt.Now, m.log)
	b.Notify = func(ev indexer.Event) { m.events.publish(Event{Event: ev, Generation: m.store.Generation()}) }
	return b
}
