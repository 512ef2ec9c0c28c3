package server

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// queryOf reads a query, whose fields the engine checks.
func (s *Server) queryOf(req *kiokuv1.MemorySearchRequest) (memory.Query, error) {
	asked, err := readTimestamp("ask_time", req.GetAskTime())
	return memory.Query{
		Text: req.GetQuery(), MaxResults: int(req.GetMaxResults()), MinScore: req.MinScore, Explain: req.GetExplain(),
		Granularity: req.GetGranularity(), SnippetChars: int(req.GetMaxSnippetChars()), Now: s.inZone(asked),
		Filter: memory.Filter{
			Sources: req.GetSources(), PathPrefix: req.GetPathPrefix(), Since: req.GetSince(), Until: req.GetUntil(),
		},
	}, err
}

// readTimestamp returns the time of a field, zero if the field is unset.
func readTimestamp(field string, t *timestamppb.Timestamp) (time.Time, error) {
	if t == nil {
		return time.Time{}, nil
	}
	if err := t.CheckValid(); err != nil {
		return time.Time{}, badField(field, "is no time between the years 1 and 9999")
	}
	return t.AsTime(), nil
}

// inZone returns a time in the zone that decides its day; the zero time stays zero.
func (s *Server) inZone(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.In(s.opt.Location)
}
