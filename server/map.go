package server

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// MemoryMap returns the map of a memory as far as there is one.
func (s service) MemoryMap(ctx context.Context, req *kiokuv1.MemoryMapRequest) (*kiokuv1.MemoryMapResponse, error) {
	m, err := authorize(ctx, s.opt.Agents, req, checkCount("max_points", req.GetMaxPoints()))
	if err != nil {
		return nil, err
	}
	drawn, err := m.Map(ctx, memory.MapQuery{MaxPoints: int(req.GetMaxPoints()), KnownVersion: req.GetKnownVersion()})
	if err != nil {
		return nil, err
	}
	return mapResponse(drawn), nil
}

// mapResponse returns a map as the service returns it. If it were too large for a message, it would lack headings, and after that tags.
func mapResponse(m memory.Map) *kiokuv1.MemoryMapResponse {
	resp := &kiokuv1.MemoryMapResponse{
		Version: m.Version, Computing: m.Computing, Phase: m.Phase, Progress: m.Progress, TotalChunkCount: int32Of(m.TotalChunks), Basis: m.Basis,
		MadeTime: kiokuv1.TimeOf(m.Made),
	}
	if m.Err != nil {
		resp.Error = "the map could not be made; the log has the cause"
	}
	if m.Version != "" {
		resp.Took = durationpb.New(m.Took)
	}
	if len(m.Points) == 0 {
		return resp
	}
	resp.Clusters = convertAll(m.Clusters, func(c memory.MapCluster) *kiokuv1.MapCluster {
		return &kiokuv1.MapCluster{Terms: c.Terms, X: c.X, Y: c.Y, Size: int32Of(c.Size)}
	})
	resp.Files, resp.Points, resp.Headings, resp.Dates = mapPoints(m)
	if proto.Size(resp) > maxAnswer {
		resp.Headings = nil
		for i := range resp.Points.Heading {
			resp.Points.Heading[i] = -1
		}
	}
	if proto.Size(resp) > maxAnswer {
		for _, f := range resp.Files {
			f.Tags = nil
		}
	}
	return resp
}

// mapPoints returns the points of a map, and the files, headings and dates that these refer to.
func mapPoints(m memory.Map) ([]*kiokuv1.MapFile, *kiokuv1.MapPoints, []string, []string) {
	var files []*kiokuv1.MapFile
	fileAt := map[int]int32{}
	headings, dates := &indexed{at: map[string]int32{}}, &indexed{at: map[string]int32{}}
	p := &kiokuv1.MapPoints{}
	for _, one := range m.Points {
		at, ok := fileAt[one.File]
		if !ok {
			at = int32(len(files))
			fileAt[one.File] = at
			f := m.Files[one.File]
			files = append(files, &kiokuv1.MapFile{Path: f.Path, Title: clip(f.Title, 200), Tags: f.Tags[:min(len(f.Tags), 10)], ModificationTime: kiokuv1.TimeOf(f.ModTime)})
		}
		p.X, p.Y, p.File = append(p.X, one.X), append(p.Y, one.Y), append(p.File, at)
		p.StartLine, p.EndLine = append(p.StartLine, int32Of(one.StartLine)), append(p.EndLine, int32Of(one.EndLine))
		p.Heading, p.Date = append(p.Heading, headings.index(clip(one.Heading, 120))), append(p.Date, dates.index(one.Date))
		p.Cluster = append(p.Cluster, int32Of(one.Cluster))
	}
	return files, p, headings.list, dates.list
}

// indexed is a list in which each text is once.
type indexed struct {
	list []string
	at   map[string]int32
}

// index returns the index of a text, -1 for the empty one.
func (l *indexed) index(text string) int32 {
	if text == "" {
		return -1
	}
	at, ok := l.at[text]
	if !ok {
		at = int32(len(l.list))
		l.at[text] = at
		l.list = append(l.list, text)
	}
	return at
}
