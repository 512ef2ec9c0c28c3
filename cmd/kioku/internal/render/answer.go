package render

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kioku/memory"
)

// Searcher searches a memory.
type Searcher func(context.Context, memory.Query) (memory.Answer, error)

// Search asks a memory and shows the answer. If strict is true and the answer is degraded, it returns [ErrDegraded].
func (o *Output) Search(ctx context.Context, search Searcher, q memory.Query, strict bool) error {
	answer, err := search(ctx, q)
	if err != nil {
		return err
	}
	var miss *memory.Answer
	if len(answer.Hits)+len(answer.Units) == 0 && !o.JSON {
		if answer, miss, err = search.nearestMiss(ctx, q, answer); err != nil {
			return err
		}
	}
	if err := o.Write(answer, func(p *Page) {
		p.FoundUnits(answer.Units)
		if len(answer.Units) > 0 && len(answer.Hits) > 0 {
			p.Linef("")
		}
		p.Results(answer.Hits)
	}); err != nil {
		return err
	}
	if !o.JSON {
		o.tellAnswer(answer, miss)
	}
	return Strict(strict, answer)
}

// nearestMiss returns an answer without results, and what the same question finds without a threshold. If the index has changed
// between the two, the question is asked once more, so that what is told of a miss does not come from another index than the
// answer: miss is nil if there are results then, or if the index has changed again.
func (search Searcher) nearestMiss(ctx context.Context, q memory.Query, empty memory.Answer) (_ memory.Answer, miss *memory.Answer, err error) {
	wide := q
	wide.MinScore, wide.MaxResults = new(float64), 1
	near, err := search(ctx, wide)
	if err != nil || near.Index.Generation == empty.Index.Generation {
		return empty, &near, err
	}
	answer, err := search(ctx, q)
	if err != nil || len(answer.Hits) > 0 || answer.Index.Generation != near.Index.Generation {
		return answer, nil, err
	}
	return answer, &near, nil
}

// Strict returns [ErrDegraded] if strict is true and the answer is degraded.
func Strict(strict bool, answer memory.Answer) error {
	if strict && len(lacks(answer)) > 0 {
		return ErrDegraded
	}
	return nil
}

// lacks returns what an answer lacks. An answer without a match is not degraded, nor is one that says where more notes are.
func lacks(answer memory.Answer) []memory.Degradation {
	return slices.DeleteFunc(slices.Clone(answer.Degraded), memory.Degradation.IsHint)
}

// tellHints reports what would help an answer without results, and for which days there is no note.
func (o *Output) tellHints(answer memory.Answer) {
	for _, d := range answer.Degraded {
		if d.IsHint() && d.Code != memory.NoMatch {
			o.Notice("%s", d.Text)
		}
	}
}

// tellAnswer reports what an answer lacks and how it was found. miss is for tellNearestMiss.
func (o *Output) tellAnswer(answer memory.Answer, miss *memory.Answer) {
	o.TellDegraded(lacks(answer))
	hits, units := len(answer.Hits), len(answer.Units)
	if hits+units == 0 {
		o.tellNearestMiss(answer, miss)
	}
	o.tellHints(answer)
	switch {
	case hits > 0:
		o.Notice("%s, %s, %s", Count(hits, "result"), Channels(answer), ThreeDigits(answer.Took))
	case units > 0:
		o.Notice("%s, %s", Count(units, "unit"), ThreeDigits(answer.Took))
	}
}

// tellNearestMiss reports why there is no result and, if there is one, the best passage below the threshold. miss is what the
// question finds without a threshold, nil if that is not known.
func (o *Output) tellNearestMiss(answer memory.Answer, miss *memory.Answer) {
	switch {
	case answer.Index.Files == 0:
		o.Notice("no result: the index is empty; write notes to memory/ or MEMORY.md")
	case miss == nil:
		o.Notice("no result: %s (%s)", reason(answer), Channels(answer))
	case len(miss.Hits) == 0:
		o.Notice("no result: %s (%s)", reason(*miss), Channels(*miss))
	default:
		h := miss.Hits[0]
		o.Notice("no result: the nearest, %s, scores only %.2f; --min-score %.2f shows it", h.Cite(), h.Score, floor2(h.Score))
	}
}

// reason returns why an answer is empty, as a part of a sentence.
func reason(answer memory.Answer) string {
	for _, d := range answer.Degraded {
		if text := strings.TrimSuffix(d.Text, "."); (d.Code == memory.NoMatch || d.Code == memory.IndexEmpty) && text != "" {
			return strings.ToLower(text[:1]) + text[1:]
		}
	}
	return "no passage shares anything with the question"
}

// floor2 rounds a score down to two digits, so that it can be used as a threshold that the score reaches.
func floor2(score float64) float64 { return float64(int(score*100)) / 100 }

// Channels names the channels that answered.
func Channels(answer memory.Answer) string {
	if answer.Mode == memory.ModeKeyword {
		return "keywords"
	}
	return answer.Mode + " with " + strings.TrimSpace(answer.Provider+" "+answer.Model)
}

// Excerpt shows lines of a file and how to read on.
func (o *Output) Excerpt(req memory.GetRequest, e memory.Excerpt) error {
	err := o.Write(e, func(p *Page) { p.Excerpt(e) })
	o.tellRest(req, e)
	return err
}

// Excerpt adds lines of a file.
func (p *Page) Excerpt(e memory.Excerpt) {
	if e.Lines > 0 {
		p.Linef("%s", strings.TrimSuffix(e.Text, "\n"))
	}
}

// Excerpts shows lines of several files, each under its name. It goes on after a file that cannot be read, and returns the errors.
func (o *Output) Excerpts(ctx context.Context, reqs []memory.GetRequest, get func(context.Context, memory.GetRequest) (memory.Excerpt, error)) error {
	var all []memory.Excerpt
	var errs []error
	for i, req := range reqs {
		e, err := get(ctx, req)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", req.Path, err))
			continue
		}
		if o.JSON {
			all = append(all, e)
			continue
		}
		err = o.Show(func(p *Page) {
			if i > 0 {
				p.Linef("")
			}
			p.Linef("%s", Bold("==> "+CleanLine(e.Path)+" <=="))
			p.Excerpt(e)
		})
		errs = append(errs, err)
		o.tellRest(req, e)
	}
	if o.JSON {
		errs = append(errs, o.WriteJSON(all, "  "))
	}
	return errors.Join(errs...)
}

// tellRest reports how to read on if lines are left.
func (o *Output) tellRest(req memory.GetRequest, e memory.Excerpt) {
	cited, _ := memory.Readings(req.Path) // the service has refused what is no citation
	isAll := req.Lines == 0 && cited[len(cited)-1].Lines == 0
	switch {
	case e.Lines == 0 && e.TotalLines > 0:
		o.Notice("%s has %s", e.Path, Count(e.TotalLines, "line"))
	case e.NextFrom > 0 && (e.Truncated || isAll):
		o.Notice("lines %d to %d of %d; continue with kioku get %s:%d", e.From, e.From+e.Lines-1, e.TotalLines, e.Path, e.NextFrom)
	case e.Truncated:
		o.Notice("line %d of %s is too long and was cut; the file contains all of it", e.From+e.Lines-1, e.Path)
	}
}
