package contract

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kioku/internal/text"
	"kioku/memory"
	"kioku/search/analysis"
	"kioku/search/dates"
)

const (
	maxQueries    = 5
	maxQuery      = 200
	maxReferences = 10
	// maxTurns is how many messages of the conversation a prompt shows, and maxTurnText the characters of each.
	maxTurns    = 6
	maxTurnText = 600
)

// ExpandInput is a message whose unspoken references are to be found.
type ExpandInput struct {
	// Message of the user.
	Message string
	// Turns before it, oldest first; the last six are shown.
	Turns []memory.Turn
	// Aliases are names that are known.
	Aliases []string
	// Now is when the message was written.
	Now time.Time
}

// Expansion is what a message refers to without saying it.
type Expansion struct {
	// Queries to search for beside the message, at most 5; those of the model first, then what references stand for.
	Queries []string
	// References that were resolved.
	References []Reference
	// Dates that the message refers to.
	Dates []dates.Span
	// Report of the items.
	Report Report
}

// Reference is an expression that stands for something else.
type Reference struct {
	// Type is anaphora, temporal, ellipsis or topic.
	Type string
	// Surface as it stands in the message, and Resolved what it stands for.
	Surface, Resolved string
}

// Expand asks what a message refers to. It returns ErrNoInput for a blank message.
func (c Contracts) Expand(in ExpandInput) (Prompt, error) {
	if strings.TrimSpace(in.Message) == "" {
		return Prompt{}, ErrNoInput
	}
	task := `Find what the message refers to without saying it, from the conversation before it, for a search in notes.
expanded_queries: at most 5 texts of at most 200 characters to search for beside the message itself, in the words of notes; different from the message and from each other.
detected_references: at most 10 of {"type": "anaphora" | "temporal" | "ellipsis" | "topic", "surface", "resolved"}. surface stands in the message; resolved stands in the conversation or is a known name; of a temporal one it is a date. Leave out what is not clearly identified.`
	schema := obj(key("expanded_queries", list(str())), key("detected_references",
		list(obj(key("type", str(referenceTypes...)), key("surface", str()), key("resolved", str())))))
	var d data
	d.line("date: %s", in.Now.Format(time.DateOnly))
	if len(in.Aliases) > 0 {
		d.line("known names: %s", cleanLine(strings.Join(in.Aliases[:min(len(in.Aliases), maxOfferedEntities)], ", ")))
	}
	d.turns(in.Turns)
	d.line("message: %s", text.Shorten(cleanLine(in.Message), 4*maxTurnText))
	return c.prompt(NameExpand, task, schema, 400, &d), nil
}

var referenceTypes = []string{"anaphora", "temporal", "ellipsis", "topic"}

// turns writes the last messages of a conversation, without what was recalled for them.
func (d *data) turns(turns []memory.Turn) {
	if len(turns) == 0 {
		return
	}
	d.line("conversation before:")
	for _, t := range turns[max(0, len(turns)-maxTurns):] {
		d.line("%s: %s", cleanLine(t.Speaker), text.Shorten(cleanLine(memory.StripRecalled(t.Text)), maxTurnText))
	}
}

// ReadExpand reads an answer to Expand. The error is an *Error.
func (c Contracts) ReadExpand(in ExpandInput, answer, stop string) (Expansion, error) {
	r := newReader(NameExpand)
	e := &expandReader{r: r, in: in, message: foldName(in.Message), seen: []string{termKey(in.Message)}}
	for _, t := range in.Turns {
		e.context += foldName(memory.StripRecalled(t.Text)) + "\n"
	}
	e.context += foldName(strings.Join(in.Aliases, "\n"))
	if o := r.open(answer, stop); o != nil {
		e.queries(o)
		e.references(o)
		o.done()
	}
	var err error
	if e.out.Report, err = r.finish(); err != nil {
		return Expansion{Report: e.out.Report}, err
	}
	for _, ref := range e.out.References {
		if ref.Type != "temporal" && len(e.out.Queries) < maxQueries && e.isNew(ref.Resolved) {
			e.out.Queries = append(e.out.Queries, ref.Resolved)
		}
	}
	return e.out, nil
}

// expandReader reads an answer to expand.
type expandReader struct {
	r  *reader
	in ExpandInput
	// message and context are folded for names.
	message, context string
	// seen are the keys of the queries so far, with that of the message.
	seen []string
	out  Expansion
}

// isNew reports whether a query asks for something that none before it asks for, and remembers it.
func (e *expandReader) isNew(query string) bool {
	k := termKey(query)
	if slices.Contains(e.seen, k) {
		return false
	}
	e.seen = append(e.seen, k)
	return true
}

// termKey returns the terms of a text as a key, so that texts that find the same have the same key.
func termKey(s string) string { return strings.Join(analysis.Terms(s), " ") }

func (e *expandReader) queries(o *object) {
	for n, query := range o.strings("expanded_queries") {
		i := &item{object: &object{r: e.r, path: fmt.Sprintf("%s[%d]", o.at("expanded_queries"), n)}}
		query = i.checkedLine("", query, maxQuery)
		switch {
		case i.dropped:
		case termKey(query) == "":
			i.fail("", ReasonText, "must have words")
		case len(e.out.Queries) == maxQueries:
			i.fail("", ReasonLimit, "is one too many")
		case !e.isNew(query):
			i.fail("", ReasonRepeated, "is the message or stands twice")
		default:
			e.out.Queries = append(e.out.Queries, query)
			e.r.report.Accepted++
		}
	}
}

func (e *expandReader) references(o *object) {
	for _, o := range o.list("detected_references") {
		i := &item{object: o}
		ref := Reference{Type: i.choice("type", referenceTypes), Surface: i.line("surface", maxQuery), Resolved: i.line("resolved", maxQuery)}
		o.done()
		if !i.dropped && !strings.Contains(e.message, foldName(ref.Surface)) {
			i.fail("surface", ReasonName, "must stand in the message")
		}
		if ref.Type == "temporal" {
			e.temporal(i, ref)
		} else if !i.dropped && !hasName(e.context, foldName(ref.Resolved)) {
			i.fail("resolved", ReasonName, "must stand in the conversation or be a known name")
		}
		if !i.dropped && len(e.out.References) == maxReferences {
			i.fail("", ReasonLimit, "is one too many")
		}
		if !i.dropped {
			e.out.References = append(e.out.References, ref)
			e.r.report.Accepted++
		}
	}
}

// temporal reads the days of a temporal reference, which are not words to search for.
func (e *expandReader) temporal(i *item, ref Reference) {
	if i.dropped {
		return
	}
	spans, _ := dates.Parse(analysis.Normalize(ref.Resolved), e.in.Now)
	if len(spans) == 0 {
		i.fail("resolved", ReasonDate, "must be a date, YYYY-MM-DD")
		return
	}
	e.out.Dates = append(e.out.Dates, spans...)
}
