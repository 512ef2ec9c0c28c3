package view

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

// maxPages is the maximum number of pages about people, and about other things, those that are mentioned most.
const maxPages = 500

// Input is what views show.
type Input struct {
	// Units of all kinds and states that may be shown, with their evidence. The facts that were superseded and the loops that are done are
	// shown too.
	Units []memory.Unit
	// Withheld is how many units of each kind may not be shown, and More how many may that are not among Units.
	Withheld map[string]int
	More     int
	// Entities that get a page if there is something to show about them.
	Entities []unit.Entity
}

// Render returns the views by their paths in their folder: facts.md, loops.md and conflicts.md, people/<name>.md, topics/<name>.md
// and week/<week>.md, each with front matter. The same input, in any order, has the same bytes.
func Render(in Input) map[string][]byte {
	r := newRenderer(in)
	pages := map[string]string{"facts.md": r.facts(), "loops.md": r.loops(), "conflicts.md": r.conflicts()}
	r.entityPages(pages)
	r.weeks(pages)
	files := make(map[string][]byte, len(pages))
	for rel, body := range pages {
		files[rel] = seal(rel, []byte(body))
	}
	return files
}

// renderer has what is shown, in the order in which it is shown.
type renderer struct {
	entities []unit.Entity
	// units by their kinds.
	fact, loop, summary []memory.Unit
	// withheld units by kind, and how many more there are of all kinds.
	withheld map[string]int
	more     int
}

func newRenderer(in Input) *renderer {
	r := &renderer{entities: slices.Clone(in.Entities), withheld: in.Withheld, more: in.More}
	for _, u := range in.Units {
		switch {
		case u.Fact != nil:
			r.fact = append(r.fact, u)
		case u.Loop != nil:
			r.loop = append(r.loop, u)
		case u.Summary != nil:
			r.summary = append(r.summary, u)
		}
	}
	slices.SortFunc(r.fact, compareFacts)
	slices.SortFunc(r.loop, compareLoops)
	slices.SortFunc(r.summary, func(a, b memory.Unit) int {
		return cmp.Or(cmp.Compare(a.Summary.Scope, b.Summary.Scope), cmp.Compare(a.Summary.Key, b.Summary.Key))
	})
	slices.SortFunc(r.entities, func(a, b unit.Entity) int {
		return cmp.Or(b.Mentions-a.Mentions, cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	return r
}

// compareFacts orders facts by subject, the user first, then by slot and time.
func compareFacts(a, b memory.Unit) int {
	return cmp.Or(compareBool(vocab.IsUser(b.Fact.Subject), vocab.IsUser(a.Fact.Subject)), cmp.Compare(subject(a), subject(b)),
		cmp.Compare(vocab.EntityUID(a.Fact.Subject), vocab.EntityUID(b.Fact.Subject)), cmp.Compare(a.Fact.Slot, b.Fact.Slot),
		cmp.Compare(vocab.NormObject(a.Fact.Object), vocab.NormObject(b.Fact.Object)), a.Fact.EffectiveAt.Compare(b.Fact.EffectiveAt), cmp.Compare(a.UID, b.UID))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// compareLoops orders loops by the day when they are due, those without one last, and then the newest first.
func compareLoops(a, b memory.Unit) int {
	return cmp.Or(compareBool(a.Loop.Due == "", b.Loop.Due == ""), cmp.Compare(a.Loop.Due, b.Loop.Due), b.OccurredAt.Compare(a.OccurredAt), cmp.Compare(a.UID, b.UID))
}

// subject returns the name of the subject of a fact.
func subject(u memory.Unit) string {
	if vocab.IsUser(u.Fact.Subject) {
		return "The user"
	}
	return qualified(u.Fact.Subject.Name, u.Fact.Subject.Qualifier)
}

func qualified(name, qualifier string) string {
	if qualifier == "" {
		return name
	}
	return name + " (" + qualifier + ")"
}

// begin returns the beginning of a page.
func begin(title string) *strings.Builder {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# %s\n\nKioku writes this page from your notes. To change what it says, change the notes or use `kioku derive`.\n", escape(title))
	return b
}

// section adds a heading and a list, unless the list is empty.
func section(b *strings.Builder, level int, title string, items []string) {
	if len(items) > 0 {
		fmt.Fprintf(b, "\n%s %s\n\n%s\n", strings.Repeat("#", level), escape(title), strings.Join(items, "\n"))
	}
}

// end adds what is left out of a page of units of a kind, or that there are none.
func (r *renderer) end(b *strings.Builder, kind, noun string, shown int) string {
	switch n := r.withheld[kind]; {
	case n > 0:
		fmt.Fprintf(b, "\n%s above the sensitivity of this page and left out.\n", count(n, noun))
	case shown == 0 && r.more == 0:
		fmt.Fprintf(b, "\nNo %ss.\n", noun)
	}
	if r.more > 0 {
		fmt.Fprintf(b, "\n%s left out of these pages, which show the newest ones. `kioku derive export` writes all.\n", count(r.more, "more item"))
	}
	return b.String()
}

// count returns a number with a noun: "1 fact is", "3 facts are".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return strconv.Itoa(n) + " " + noun + "s are"
}

// facts returns facts.md: what holds, by subject.
func (r *renderer) facts() string {
	b, shown := begin("Facts"), 0
	for rest := r.fact; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Fact.Subject == rest[0].Fact.Subject {
			n++
		}
		var items []string
		for _, u := range rest[:n] {
			if u.State != memory.StateSuperseded {
				items = append(items, factLine(u))
			}
		}
		section(b, 2, subject(rest[0]), items)
		rest, shown = rest[n:], shown+len(items)
	}
	return r.end(b, memory.KindFact, "fact", shown)
}

// factLine returns a fact as an item of a list.
func factLine(u memory.Unit) string {
	f := *u.Fact
	f.From, f.To = "", ""
	return "- " + escape(vocab.Says(f)) + tail(u, vocab.Span(u.Fact.From, u.Fact.To))
}

// tail returns the end of an item: where it is from, what else is to be said, how sure it is, and its id.
func tail(u memory.Unit, more ...string) string {
	parts := []string{citation(u.Evidence)}
	parts = append(parts, more...)
	parts = append(parts, "confidence "+strconv.FormatFloat(u.Confidence, 'f', 2, 64))
	if u.State == memory.StateConflict {
		parts = append(parts, "in conflict")
	}
	if u.Pinned {
		parts = append(parts, "pinned")
	}
	parts = append(parts, "id "+u.UID[:min(len(u.UID), 8)])
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return " (" + strings.Join(parts, "; ") + ")"
}

// citation returns where the best evidence is, and how much more there is.
func citation(evidence []memory.Evidence) string {
	if len(evidence) == 0 {
		return ""
	}
	e := evidence[0]
	where := fmt.Sprintf("%s#L%d", escape(e.Path), e.StartLine)
	if e.EndLine > e.StartLine {
		where += fmt.Sprintf("-L%d", e.EndLine)
	}
	if n := len(evidence) - 1; n > 0 {
		where += fmt.Sprintf(", %d more", n)
	}
	return where
}

// loops returns loops.md: what is open, done and expired.
func (r *renderer) loops() string {
	b := begin("Open loops")
	for _, s := range []struct{ title, status, box string }{
		{"Open", memory.LoopOpen, "[ ]"}, {"Done", memory.LoopClosed, "[x]"}, {"Expired", memory.LoopExpired, "[ ]"},
	} {
		var items []string
		for _, u := range r.loop {
			if u.Loop.Status == s.status {
				items = append(items, "- "+s.box+" "+loopText(u))
			}
		}
		section(b, 2, s.title, items)
	}
	return r.end(b, memory.KindLoop, "loop", len(r.loop))
}

func loopText(u memory.Unit) string {
	due, closed := "", ""
	if u.Loop.Due != "" {
		due = "due " + escape(u.Loop.Due)
	}
	if !u.Loop.ClosedAt.IsZero() {
		closed = "done " + u.Loop.ClosedAt.Format(time.DateOnly)
	}
	return escape(u.Loop.Text) + tail(u, due, closed)
}

// conflicts returns conflicts.md: the facts that contradict each other, those of one subject and slot together.
func (r *renderer) conflicts() string {
	b := begin("Conflicts")
	inConflict := map[string]bool{}
	for _, u := range r.fact {
		if u.State == memory.StateConflict {
			inConflict[u.UID] = true
			for _, o := range u.Fact.Opposes {
				inConflict[o] = true
			}
		}
	}
	if len(inConflict) > 0 {
		b.WriteString("\nThese facts contradict each other. `kioku derive forget ID` drops one that is wrong, `kioku derive pin ID` makes one hold.\n")
	} else {
		b.WriteString("\nNo conflicts.\n")
	}
	for rest := r.fact; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Fact.Subject == rest[0].Fact.Subject && rest[n].Fact.Slot == rest[0].Fact.Slot {
			n++
		}
		var items []string
		for _, u := range rest[:n] {
			switch {
			case !inConflict[u.UID]:
			case u.State == memory.StateConflict:
				items = append(items, factLine(u))
			default:
				items = append(items, factLine(u)+" **holds**")
			}
		}
		section(b, 2, subject(rest[0])+": "+strings.ReplaceAll(rest[0].Fact.Slot, "_", " "), items)
		rest = rest[n:]
	}
	return b.String()
}

// weeks adds week/<week>.md for each summary of a week.
func (r *renderer) weeks(pages map[string]string) {
	for _, u := range r.summary {
		s := u.Summary
		name := fileName(s.Key)
		if s.Scope != memory.ScopeWeekly && s.Scope != memory.ScopeRelationship || name == "" {
			continue
		}
		title := "Week " + s.Key
		if s.Scope == memory.ScopeRelationship {
			name, title = name+"-relationship", title+", user and agent"
		}
		b := begin(title)
		r.summaryText(b, u)
		pages[path.Join("week", name+".md")] = b.String()
	}
}

// summaryText adds a summary, its key events and its source.
func (r *renderer) summaryText(b *strings.Builder, u memory.Unit) {
	s := u.Summary
	if s.From != "" || s.To != "" {
		fmt.Fprintf(b, "\nFrom %s to %s.\n", escape(s.From), escape(s.To))
	}
	for line := range strings.Lines(s.Text) {
		if line = escape(line); line != "" {
			fmt.Fprintf(b, "\n%s\n", paragraph(line))
		}
	}
	if s.Relationship != "" {
		fmt.Fprintf(b, "\n%s\n", paragraph(escape(s.Relationship)))
	}
	var items []string
	for _, e := range s.Events {
		i := slices.IndexFunc(u.Evidence, func(have memory.Evidence) bool { return have.EpisodeUID == e.EpisodeUID })
		if i < 0 {
			continue // its text is gone
		}
		items = append(items, "- "+escape(e.Why)+" ("+citation(u.Evidence[i:i+1])+")")
	}
	section(b, 2, "Key events", items)
	stale := ""
	if s.Stale {
		stale = "; the notes have changed since"
	}
	fmt.Fprintf(b, "\nBy %s%s; id %s.\n", escape(cmp.Or(u.Source, "rule")), stale, u.UID[:min(len(u.UID), 8)])
}

// paragraph returns a line that begins no list, heading or rule.
func paragraph(line string) string {
	digits := strings.TrimLeft(line, "0123456789")
	switch {
	case strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") || strings.HasPrefix(line, "="):
		return "\\" + line
	case len(digits) < len(line) && (strings.HasPrefix(digits, ".") || strings.HasPrefix(digits, ")")):
		return line[:len(line)-len(digits)] + "\\" + digits
	}
	return line
}
