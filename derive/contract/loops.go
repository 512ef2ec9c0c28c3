package contract

import (
	"cmp"
	"fmt"

	"kioku/derive/unit"
	"kioku/memory"
)

const (
	maxLoops    = 5
	maxLoopText = 300
)

// loop reads one loop: what is open, or that one of the loops that were offered is done.
func (e *episodeReader) loop(o *object) (draft, bool) {
	i := &item{object: o}
	status := i.choice("status", []string{memory.LoopOpen, memory.LoopClosed})
	loopText := i.line("loop_text", maxLoopText)
	due := i.date("due_at", e.source.Date)
	d := draft{confidence: i.confidence(loopFloor)}
	offered := e.offeredLoop(i)
	says := loopText
	if status == memory.LoopClosed {
		d.claim = e.closing(i, offered, loopText)
		if offered != nil {
			says = offered.Text
		}
	} else {
		d.claim = e.opening(i, offered, loopText, due)
	}
	d.evidence = e.source.evidence(i, says)
	o.done()
	return d, !i.dropped
}

// offeredLoop returns the loop that an item names by its id, nil if it names none. It drops the item if the id was not offered.
func (e *episodeReader) offeredLoop(i *item) *memory.Loop {
	id, ok := i.integer("unit_id", true)
	if !ok {
		return nil
	}
	if id < 1 || id > len(e.loops) {
		i.fail("unit_id", ReasonID, fmt.Sprintf("must be the id of an open loop that was offered (%d of them), or null", len(e.loops)))
		return nil
	}
	return &e.loops[id-1]
}

// closing returns the claim that an offered loop is done.
func (e *episodeReader) closing(i *item, offered *memory.Loop, text string) unit.Claim {
	claim := unit.Claim{Kind: unit.ClaimClose, LoopText: text}
	if _, ok := i.get("evidence", true); !ok {
		i.fail("evidence", ReasonEvidence, "closed needs a quote that says that it is done")
	}
	if offered == nil {
		i.fail("unit_id", ReasonID, "closed needs the id of the loop that is done")
		return claim
	}
	claim.Closes = offered.Key
	return claim
}

// opening returns the claim that something is open. One that is offered already keeps its text, so that the claim is further
// evidence of the same loop. A day before the episode is none to be due.
func (e *episodeReader) opening(i *item, offered *memory.Loop, text, due string) unit.Claim {
	if offered != nil {
		text = cmp.Or(offered.Text, text)
	} else if !i.dropped && !sharesTerm(e.source.terms, e.source.names, text) {
		i.fail("loop_text", ReasonName, "must use the words of the text")
	} else if !i.dropped {
		e.invents(i, "loop_text", text)
	}
	if len(due) < len("2006-01-02") || e.source.Date != "" && due < e.source.Date {
		due = ""
	}
	return unit.Claim{Kind: unit.ClaimLoop, LoopText: text, Due: due}
}
