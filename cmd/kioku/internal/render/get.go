package render

import (
	"context"
	"strings"

	kiokuv1 "kioku/proto/kioku/v1"
)

// Get shows lines of a file and how to read on.
func (o *Output) Get(ctx context.Context, c kiokuv1.MemoryServiceClient, req *kiokuv1.MemoryGetRequest) error {
	resp, err := c.MemoryGet(ctx, req)
	if err != nil {
		return err
	}
	if o.JSON {
		err = o.WriteProto(resp)
	} else {
		p := o.Page()
		if text := strings.TrimSuffix(resp.GetText(), "\n"); resp.GetLineCount() > 0 {
			p.Linef("%s", text)
		}
		err = o.Show(p)
	}
	o.tellRest(req, resp)
	return err
}

// tellRest reports how to read on if lines are left.
func (o *Output) tellRest(req *kiokuv1.MemoryGetRequest, resp *kiokuv1.MemoryGetResponse) {
	switch {
	case resp.GetLineCount() == 0 && resp.GetTotalLineCount() > 0:
		o.Notice("%s has %s", resp.GetPath(), Count(resp.GetTotalLineCount(), "line"))
	case resp.GetNextLine() > 0 && (resp.GetTruncated() || req.GetLineCount() == 0):
		o.Notice("lines %d to %d of %d; go on with kioku get %s:%d", resp.GetFromLine(), resp.GetFromLine()+resp.GetLineCount()-1,
			resp.GetTotalLineCount(), resp.GetPath(), resp.GetNextLine())
	case resp.GetTruncated():
		o.Notice("line %d of %s is too long, and cut; the file itself has all of it", resp.GetFromLine()+resp.GetLineCount()-1, resp.GetPath())
	}
}
