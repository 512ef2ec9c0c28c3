package server

import (
	"context"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// historyService implements kioku.v1.HistoryService.
type historyService struct {
	kiokuv1.UnimplementedHistoryServiceServer
	*Server
}

// SearchPast answers a query from the notes as they were.
func (s historyService) SearchPast(ctx context.Context, req *kiokuv1.SearchPastRequest) (*kiokuv1.SearchPastResponse, error) {
	if req.GetSearch() == nil {
		return nil, &memory.InputError{Field: "search", Problem: "is required"}
	}
	at, badAt := momentOf("at", req.GetAt())
	q, badQuery := s.queryOf(req.Search)
	m, err := authorize(ctx, s.opt.Agents, req, badAt)
	if err == nil && q.MaxSensitivity != nil && *q.MaxSensitivity == memory.Secret {
		m, err = authorizeWrite(ctx, s.opt.Agents, req, badAt)
	}
	if err == nil {
		err = inSearch(badQuery)
	}
	if err != nil {
		return nil, err
	}
	past, err := m.SearchPast(ctx, q, at)
	if err != nil {
		return nil, inSearch(err)
	}
	resp := &kiokuv1.SearchPastResponse{Answer: searchResponse(past.Answer), Version: folderVersion(past.Version)}
	fitAnswer(resp.Answer)
	return resp, nil
}

// momentOf returns the version that a field names.
func momentOf(field string, m *kiokuv1.Moment) (memory.Moment, error) {
	at, err := readTimestamp(field+".time", m.GetTime())
	if err == nil && m.GetTime() != nil && m.GetRevision() != "" {
		err = badField(field, "must have a time or a revision, and not both")
	}
	return memory.Moment{Time: at, Revision: m.GetRevision()}, err
}

func folderVersion(v memory.FolderVersion) *kiokuv1.FolderVersion {
	return &kiokuv1.FolderVersion{Id: v.ID, VersionTime: kiokuv1.TimeOf(v.Time), Author: v.Author, Subject: v.Subject, History: v.History}
}
