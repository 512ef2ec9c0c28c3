package connect

import (
	"context"

	kiokuv1 "kioku/proto/kioku/v1"
)

// AllFiles returns all files that a request selects, on as many pages as they need.
func (c *Client) AllFiles(ctx context.Context, req *kiokuv1.ListFilesRequest) (*kiokuv1.ListFilesResponse, error) {
	all, err := c.ListFiles(ctx, req)
	for next := all; err == nil && next.GetNextPageToken() != ""; {
		req.PageToken = next.GetNextPageToken()
		if next, err = c.ListFiles(ctx, req); err == nil {
			all.Files = append(all.Files, next.GetFiles()...)
		}
	}
	if err != nil {
		return nil, err
	}
	all.NextPageToken = ""
	return all, nil
}
