package server

import (
	"cmp"
	"slices"
	"strings"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

const (
	// maxUnits is the maximum number of units and entities in a list.
	maxUnits = 1000
	// maxUnitQuery is the maximum number of bytes of the words that units are to share.
	maxUnitQuery = 4 << 10
)

var (
	unitKinds  = []string{memory.KindFact, memory.KindLoop, memory.KindSummary}
	unitStates = []string{memory.StateValidated, memory.StateSuperseded, memory.StateConflict, memory.StateArchived}
)

// unitQueryOf returns the query of a request for units, without its ceiling.
func (s *Server) unitQueryOf(req *kiokuv1.ListUnitsRequest) (memory.UnitQuery, error) {
	asOf, badAsOf := readTimestamp("as_of_time", req.GetAsOfTime())
	believed, badBelieved := readTimestamp("believed_time", req.GetBelievedTime())
	q := memory.UnitQuery{
		Kinds: req.GetKinds(), Entity: req.GetEntity(), Predicate: req.GetPredicate(), States: req.GetStates(), AsOf: s.inZone(asOf),
		BelievedAt: s.inZone(believed), IncludeSuperseded: req.GetIncludeSuperseded(), After: req.GetAfter(), Limit: int(req.GetLimit()),
	}
	return q, cmp.Or(badAsOf, badBelieved, checkOneOf("kinds", req.GetKinds(), unitKinds), checkOneOf("states", req.GetStates(), unitStates),
		checkName("entity", req.GetEntity()), checkName("predicate", req.GetPredicate()), checkName("after", req.GetAfter()), checkLimit(req.GetLimit()))
}

// checkOneOf refuses a list with a value that is none of those that are known.
func checkOneOf(field string, list, known []string) error {
	for _, v := range list {
		if !slices.Contains(known, v) {
			return badField(field, "must be %s, not %q", alternatives(known), clip(v, 50))
		}
	}
	return nil
}

// alternatives returns "a, b or c".
func alternatives(list []string) string {
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// checkLimit refuses a maximum number of units that is out of range.
func checkLimit(n int32) error {
	if n < 0 || n > maxUnits {
		return badField("limit", "must be between 0 and %d", maxUnits)
	}
	return nil
}
