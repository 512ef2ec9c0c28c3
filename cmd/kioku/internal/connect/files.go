package connect

import (
	"context"

	"kioku/memory"
	"kioku/server"
)

// AllFiles returns all files that a query selects, on as many pages as they need.
func (c *Client) AllFiles(ctx context.Context, q memory.FileQuery) (server.NoteList, error) {
	req := server.ListNotes{OfAgent: c.Of(), FileQuery: q}
	all, err := server.Notes.ListByPost.Call(ctx, c.Conn, req)
	for next := all; err == nil && next.Next != ""; {
		req.After = next.Next
		if next, err = server.Notes.ListByPost.Call(ctx, c.Conn, req); err == nil {
			all.Files = append(all.Files, next.Files...)
		}
	}
	all.Next = ""
	return all, err
}
