package contract

import (
	"slices"
	"strings"
	"time"

	"kioku/internal/text"
	"kioku/llm/ask"
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
	// Now is when the message was written.
	Now time.Time
}

// reference is an expression of a message that stands for something else.
type reference struct{ Type, Surface, Resolved string }

// Expand asks what a message refers to. The answer has queries to search for beside the message, at most 5; those of the model first, then what
// references stand for. It returns ErrNoInput for a blank message.
func (c Contracts) Expand(in ExpandInput) (q Question[[]string], err error) {
	if strings.TrimSpace(in.Message) == "" {
		return q, ErrNoInput
	}
	task := `Find what the message refers to without saying it, from the conversation before it, for a search in notes.
expanded_queries: at most 5 texts of at most 200 characters to search for beside the message itself, in the words of notes; different from the message and from each other.
detected_references: at most 10 of {"type": "anaphora" | "temporal" | "ellipsis" | "topic", "surface", "resolved"}. surface stands in the message; resolved stands in the conversation; of a temporal one it is a date. Leave out what is not clearly identified.`
	var d data
	d.line("date: %s", in.Now.Format(time.DateOnly))
	d.turns(in.Turns)
	d.line("message: %s", text.Shorten(cleanLine(in.Message), 4*maxTurnText))
	q.Prompt = c.prompt(NameExpand, task, expandFields, 400, &d)
	q.read = func(r *reader, answer, stop string) []string { return readExpand(r, in, answer, stop) }
	return q, nil
}

var (
	referenceTypes = []string{"anaphora", "temporal", "ellipsis", "topic"}
	expandFields   = []ask.Field{{Name: "expanded_queries", Kind: ask.Strings},
		list("detected_references", str("type", referenceTypes...), str("surface"), str("resolved"))}
)

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

// readExpand reads an answer to Expand.
func readExpand(r *reader, in ExpandInput, answer, stop string) []string {
	e := &expandReader{r: r, in: in, message: foldName(in.Message), seen: []string{termKey(in.Message)}}
	for _, t := range in.Turns {
		e.context += foldName(memory.StripRecalled(t.Text)) + "\n"
	}
	var said struct {
		Queries    []string    `json:"expanded_queries"`
		References []reference `json:"detected_references"`
	}
	if r.read(answer, stop, expandFields, &said) {
		e.readQueries(said.Queries)
		e.readReferences(said.References)
	}
	for _, ref := range e.references {
		if query := e.queryOf(ref); len(e.out) < maxQueries && e.isNew(query) {
			e.out = append(e.out, query)
		}
	}
	return e.out
}

// expandReader reads an answer to expand.
type expandReader struct {
	r  *reader
	in ExpandInput
	// message and context are folded for names.
	message, context string
	// seen are the keys of the queries so far, with that of the message.
	seen       []string
	references []reference
	out        []string
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

func (e *expandReader) readQueries(said []string) {
	for n, query := range said {
		i := e.r.nth("expanded_queries", n)
		query = i.line("", query, maxQuery)
		switch {
		case i.dropped:
		case termKey(query) == "":
			i.fail("", ReasonText, "must have words")
		case len(e.out) == maxQueries:
			i.fail("", ReasonLimit, "is one too many")
		case !e.isNew(query):
			i.fail("", ReasonRepeated, "is the message or stands twice")
		default:
			e.out = append(e.out, query)
			e.r.report.Accepted++
		}
	}
}

func (e *expandReader) readReferences(said []reference) {
	for n, ref := range said {
		i := e.r.nth("detected_references", n)
		ref = reference{i.choice("type", ref.Type, referenceTypes), i.line("surface", ref.Surface, maxQuery), i.line("resolved", ref.Resolved, maxQuery)}
		switch {
		case i.dropped:
		case !strings.Contains(e.message, foldName(ref.Surface)):
			i.fail("surface", ReasonName, "must stand in the message")
		case ref.Type == "temporal" && !e.isDate(ref.Resolved):
			i.fail("resolved", ReasonDate, "must be a date, YYYY-MM-DD")
		case ref.Type != "temporal" && !hasName(e.context, foldName(ref.Resolved)):
			i.fail("resolved", ReasonName, "must stand in the conversation")
		case len(e.references) == maxReferences:
			i.fail("", ReasonLimit, "is one too many")
		default:
			e.references = append(e.references, ref)
			e.r.report.Accepted++
		}
	}
}

// isDate reports whether a search reads a text as days.
func (e *expandReader) isDate(s string) bool {
	spans, _ := dates.Parse(analysis.Normalize(s), e.in.Now)
	return len(spans) > 0
}

// queryOf returns the query for what a reference stands for: of a day that the search does not read in the message itself, the message
// with that day.
func (e *expandReader) queryOf(ref reference) string {
	switch {
	case ref.Type != "temporal":
		return ref.Resolved
	case e.isDate(ref.Surface):
		return e.in.Message
	}
	return e.in.Message + " " + ref.Resolved
}
