package vocab

import (
	"regexp"
	"strings"
	"time"

	"kioku/memory"
)

// verbs are how facts read in English. Others read as their predicate with blanks for underscores.
var verbs = map[string]string{
	"name_is": "is called", "operates_on": "operates on", "timezone_is": "is in the time zone", "locale_is": "has the locale",
	"preferred_language_is": "prefers the language", "preferred_input_style_is": "prefers the input style", "goal_is": "has the goal:",
	"constraint_is": "has the constraint:", "lives_in": "lives in", "works_at": "works at", "status_is": "has the status:",
	"deadline_is": "has the deadline:", "version_is": "has the version", "birthday_is": "has the birthday:", "first_met_at": "was first met:",
	"is_addressed_as": "is addressed as", "interested_in": "is interested in", "habit": "has the habit:", "role_is": "has the role:",
	"affiliated_with": "belongs to", "located_in": "is located in", "decided": "decided:", "responsible_for": "is responsible for",
	"reached_at": "is reached at",
}

// Text returns a unit as one line of English around what was said: "Dario lives in Porto (since 2026-10)", "The user likes coffee",
// "Open: send the report (due 2026-12-01)". The text of a summary is returned as it is, without line breaks. It is empty for a
// unit without a payload.
func Text(u memory.Unit) string {
	switch {
	case u.Fact != nil && u.Fact.Predicate == Noted && IsUser(u.Fact.Subject):
		return Says(*u.Fact)
	case u.Fact != nil && u.Fact.Predicate == Noted:
		return subjectName(u.Fact.Subject) + ": " + Says(*u.Fact)
	case u.Fact != nil:
		return subjectName(u.Fact.Subject) + " " + Says(*u.Fact)
	case u.Loop != nil:
		return loopText(*u.Loop)
	case u.Summary != nil:
		return oneLine(u.Summary.Text)
	}
	return ""
}

// Says returns what a fact says about its subject, for lists under the name of the subject: "lives in Porto (since 2026-10)".
func Says(f memory.Fact) string {
	verb, ok := verbs[f.Predicate]
	if !ok {
		verb = strings.ReplaceAll(f.Predicate, "_", " ")
	}
	text := verb + " " + oneLine(f.Object)
	if f.Predicate == Noted {
		text = oneLine(f.Object)
	}
	if span := Span(f.From, f.To); span != "" {
		text += " (" + span + ")"
	}
	return text
}

// Span returns how the bounds of a fact read: "since 2026-10", "until 2026-07", "2026-03 to 2026-07". To is excluded in a fact, and
// named as the last day, month or year that is included. It is empty without bounds.
func Span(from, to string) string {
	last := before(to)
	switch {
	case from == "" && to == "":
		return ""
	case to == "":
		return "since " + from
	case from == "":
		return "until " + last
	case last <= from:
		return from
	}
	return from + " to " + last
}

// before returns the day, month or year before another one.
func before(period string) string { return neighbour(period, -1) }

// Following returns the day, month or year after another one. It returns what is none of them as it is.
func Following(period string) string { return neighbour(period, 1) }

// neighbour returns the day, month or year that is n after another one.
func neighbour(period string, n int) string {
	for _, unit := range []struct {
		layout              string
		years, months, days int
	}{{time.DateOnly, 0, 0, n}, {"2006-01", 0, n, 0}, {"2006", n, 0, 0}} {
		if t, err := time.Parse(unit.layout, period); err == nil {
			return t.AddDate(unit.years, unit.months, unit.days).Format(unit.layout)
		}
	}
	return period
}

func subjectName(ref memory.EntityRef) string {
	if IsUser(ref) {
		return "The user"
	}
	if ref.Qualifier != "" {
		return ref.Name + " (" + ref.Qualifier + ")"
	}
	return ref.Name
}

func loopText(l memory.Loop) string {
	text := map[string]string{memory.LoopClosed: "Done: ", memory.LoopExpired: "Expired: "}[l.Status]
	if text == "" {
		text = "Open: "
	}
	text += oneLine(l.Text)
	if l.Due != "" {
		text += " (due " + l.Due + ")"
	}
	return text
}

// link is a link of Markdown, of which the words are kept.
var link = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*(?:\s+"[^"]*")?\)|\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]`)

// Plain returns a text without the marks of emphasis, links and code.
func Plain(s string) string {
	if strings.Contains(s, "[") {
		s = link.ReplaceAllString(s, "$1$2")
	}
	return strings.TrimSpace(strings.NewReplacer("**", "", "__", "", "`", "", "~~", "").Replace(s))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
