package kioku

import (
	"cmp"

	"kioku/embed"
	"kioku/indexer"
	"kioku/memory"
)

// What the backfill in the background does while the machine runs on its battery. On mains it is as fast as the machine allows,
// and slow while more programs want a processor than there are.
const (
	// BatterySlow lets it rest as long as it works.
	BatterySlow = "slow"
	// BatteryPause lets it wait for mains.
	BatteryPause = "pause"
	// BatteryFull lets it work as on mains.
	BatteryFull = "full"
)

// newBackfill returns the backfill of a client.
func (m *Memory) newBackfill(client *embed.Client) *indexer.Backfill {
	b := indexer.NewBackfill(m.generations.newGeneration(client), client, m.opt.Now, m.log)
	b.Notify = func(ev indexer.Event) { m.events.publish(Event{Event: ev, Generation: m.store.Generation()}) }
	if inProcess(client) { // another provider takes no power of this machine
		b.Pace = m.backfillPace
	}
	return b
}

// backfillPace returns how fast a model in this process may work in the background.
func (m *Memory) backfillPace() indexer.Pace {
	state := m.opt.Machine()
	onBattery := cmp.Or(m.opt.OnBattery, BatterySlow)
	if state.OnBattery && onBattery == BatteryPause {
		return indexer.Pace{Pause: true, Why: "texts are embedded when the machine is on mains again (background.onBattery)"}
	}
	return indexer.Pace{Slow: state.Busy || state.OnBattery && onBattery == BatterySlow}
}

// asked notes the files that an answer came from, whose texts are embedded first.
func (m *Memory) asked(hits []memory.Hit) {
	paths := make([]string, len(hits))
	for i, h := range hits {
		paths[i] = h.Path
	}
	m.backfill.Asked(paths...)
	m.fallbackBackfill.Asked(paths...)
}
