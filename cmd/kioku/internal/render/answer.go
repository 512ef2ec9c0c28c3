package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// Search sends a query and shows the answer. If strict is true and the answer is degraded, it returns [ErrDegraded].
func (o *Output) Search(ctx context.Context, c kiokuv1.MemoryServiceClient, req *kiokuv1.MemorySearchRequest, strict bool) error {
	resp, err := c.MemorySearch(ctx, req)
	if err != nil {
		return err
	}
	var miss *kiokuv1.MemorySearchResponse
	if len(resp.GetResults())+len(resp.GetUnits()) == 0 && !o.JSON {
		if resp, miss, err = nearestMiss(ctx, c, req, resp); err != nil {
			return err
		}
	}
	if err := o.Write(resp, func(p *Page) {
		p.FoundUnits(resp.GetUnits())
		if len(resp.GetUnits()) > 0 && len(resp.GetResults()) > 0 {
			p.Linef("")
		}
		p.Results(resp.GetResults())
	}); err != nil {
		return err
	}
	if !o.JSON {
		o.tellAnswer(resp, miss)
	}
	return Strict(strict, resp)
}

// nearestMiss returns an answer without results, and what the same question finds without a threshold. If the index has changed
// between the two, the question is asked once more, so that what is told of a miss does not come from another index than the
// answer: miss is nil if there are results then, or if the index has changed again.
func nearestMiss(ctx context.Context, c kiokuv1.MemoryServiceClient, req *kiokuv1.MemorySearchRequest, empty *kiokuv1.MemorySearchResponse) (resp, miss *kiokuv1.MemorySearchResponse, err error) {
	wide := proto.CloneOf(req)
	wide.MinScore, wide.MaxResults = proto.Float64(0), 1
	if miss, err = c.MemorySearch(ctx, wide); err != nil || sameIndex(empty, miss) {
		return empty, miss, err
	}
	if resp, err = c.MemorySearch(ctx, req); err != nil || len(resp.GetResults()) > 0 || !sameIndex(resp, miss) {
		return resp, nil, err
	}
	return resp, miss, nil
}

// sameIndex reports whether two answers come from one state of the index.
func sameIndex(a, b *kiokuv1.MemorySearchResponse) bool {
	return a.GetIndex().GetGeneration() == b.GetIndex().GetGeneration()
}

// Strict returns [ErrDegraded] if strict is true and the answer is degraded.
func Strict(strict bool, resp *kiokuv1.MemorySearchResponse) error {
	if strict && len(lacks(resp)) > 0 {
		return ErrDegraded
	}
	return nil
}

// lacks returns what an answer lacks. An answer without a match is not degraded, nor is one that says where more notes are.
func lacks(resp *kiokuv1.MemorySearchResponse) []*kiokuv1.Degradation {
	return slices.DeleteFunc(slices.Clone(resp.GetDegraded()), isHint)
}

// isHint reports whether d only says why there is no result or what would help.
func isHint(d *kiokuv1.Degradation) bool { return memory.Degradation{Code: d.GetCode()}.IsHint() }

// tellHints reports what would help an answer without results, and for which days there is no note.
func (o *Output) tellHints(resp *kiokuv1.MemorySearchResponse) {
	for _, d := range resp.GetDegraded() {
		if isHint(d) && d.GetCode() != memory.NoMatch {
			o.Notice("%s", d.GetText())
		}
	}
}

// tellAnswer reports what an answer lacks and how it was found. miss is for tellNearestMiss.
func (o *Output) tellAnswer(resp, miss *kiokuv1.MemorySearchResponse) {
	o.TellDegraded(lacks(resp))
	if n := len(resp.GetUnits()); n > 0 && len(resp.GetResults()) == 0 {
		o.tellHints(resp)
		o.Notice("%s, %s", Count(n, "unit"), Took(resp))
		return
	}
	if len(resp.GetResults()) == 0 {
		o.tellNearestMiss(resp, miss)
		o.tellHints(resp)
		return
	}
	o.tellHints(resp)
	o.Notice("%s, %s, %s", Count(len(resp.GetResults()), "result"), Channels(resp), Took(resp))
}

// tellNearestMiss reports why there is no result and, if there is one, the best passage below the threshold. miss is what the
// question finds without a threshold, nil if that is not known.
func (o *Output) tellNearestMiss(resp, miss *kiokuv1.MemorySearchResponse) {
	switch {
	case resp.GetIndex().GetFileCount() == 0:
		o.Notice("no result: the index is empty; write notes to memory/ or MEMORY.md")
	case miss == nil:
		o.Notice("no result: %s (%s)", reason(resp), Channels(resp))
	case len(miss.GetResults()) == 0:
		o.Notice("no result: %s (%s)", reason(miss), Channels(miss))
	default:
		r := miss.GetResults()[0]
		o.Notice("no result: the nearest, %s, scores only %.2f; --min-score %.2f shows it", r.GetCitation(), r.GetScore(), floor2(r.GetScore()))
	}
}

// reason returns why an answer is empty, as a part of a sentence.
func reason(resp *kiokuv1.MemorySearchResponse) string {
	for _, d := range resp.GetDegraded() {
		if text := strings.TrimSuffix(d.GetText(), "."); (d.GetCode() == memory.NoMatch || d.GetCode() == memory.IndexEmpty) && text != "" {
			return strings.ToLower(text[:1]) + text[1:]
		}
	}
	return "no passage shares anything with the question"
}

// floor2 rounds a score down to two digits, so that it can be used as a threshold that the score reaches.
func floor2(score float64) float64 { return float64(int(score*100)) / 100 }

// Channels names the channels that answered.
func Channels(resp *kiokuv1.MemorySearchResponse) string {
	if resp.GetMode() == memory.ModeKeyword {
		return "keywords"
	}
	name := resp.GetProvider()
	if resp.GetModel() != "" {
		name += " " + resp.GetModel()
	}
	return resp.GetMode() + " with " + name
}

// Get shows lines of a file and how to read on.
func (o *Output) Get(ctx context.Context, c kiokuv1.MemoryServiceClient, req *kiokuv1.MemoryGetRequest) error {
	resp, err := c.MemoryGet(ctx, req)
	if err != nil {
		return err
	}
	err = o.Write(resp, func(p *Page) {
		if text := strings.TrimSuffix(resp.GetText(), "\n"); resp.GetLineCount() > 0 {
			p.Linef("%s", text)
		}
	})
	o.tellRest(req, resp)
	return err
}

// GetAll shows lines of several files, each under its name. It goes on after a file that cannot be read, and returns the errors.
func (o *Output) GetAll(ctx context.Context, c kiokuv1.MemoryServiceClient, reqs []*kiokuv1.MemoryGetRequest) error {
	var all []json.RawMessage
	var errs []error
	for i, req := range reqs {
		resp, err := c.MemoryGet(ctx, req)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", req.GetPath(), err))
			continue
		}
		if o.JSON {
			text, err := messageJSON(resp)
			all, errs = append(all, text), append(errs, err)
			continue
		}
		err = o.Show(func(p *Page) {
			if i > 0 {
				p.Linef("")
			}
			p.Linef("%s", Bold("==> "+CleanLine(resp.GetPath())+" <=="))
			if text := strings.TrimSuffix(resp.GetText(), "\n"); resp.GetLineCount() > 0 {
				p.Linef("%s", text)
			}
		})
		errs = append(errs, err)
		o.tellRest(req, resp)
	}
	if o.JSON {
		errs = append(errs, o.WriteJSON(all, "  "))
	}
	return errors.Join(errs...)
}

// tellRest reports how to read on if lines are left.
func (o *Output) tellRest(req *kiokuv1.MemoryGetRequest, resp *kiokuv1.MemoryGetResponse) {
	cited, _ := memory.Readings(req.GetPath()) // the service has refused what is no citation
	isAll := req.GetLineCount() == 0 && cited[len(cited)-1].Lines == 0
	switch {
	case resp.GetLineCount() == 0 && resp.GetTotalLineCount() > 0:
		o.Notice("%s has %s", resp.GetPath(), Count(resp.GetTotalLineCount(), "line"))
	case resp.GetNextLine() > 0 && (resp.GetTruncated() || isAll):
		o.Notice("lines %d to %d of %d; continue with kioku get %s:%d", resp.GetFromLine(), resp.GetFromLine()+resp.GetLineCount()-1,
			resp.GetTotalLineCount(), resp.GetPath(), resp.GetNextLine())
	case resp.GetTruncated():
		o.Notice("line %d of %s is too long and was cut; the file contains all of it", resp.GetFromLine()+resp.GetLineCount()-1, resp.GetPath())
	}
}
