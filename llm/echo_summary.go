package llm

import (
	"regexp"
	"slices"
	"strings"

	"kioku/internal/modelhttp"
)

const (
	maxSectionLines = 12
	maxIdentifiers  = 40
)

var (
	summarizing = regexp.MustCompile(`(?i)summar(y|i[sz]e)|compact(ion)?\b|要約|总结|總結|摘要`)
	// heading is the line of a section that a request names.
	heading = regexp.MustCompile(`(?m)^\s*(#{1,4}\s+\S.*)$`)
	// identifying is a heading for identifiers; where there is none they stand in the last section.
	identifying = regexp.MustCompile(`(?i)identifier|識別|标识|\bids?\b`)
	// identifier finds what a summary must keep letter by letter: addresses, paths, dates, and words with digits.
	identifier = regexp.MustCompile(`https?://[^\s"'<>)\]]+|(?:~|\.{1,2})?(?:/[\w.@-]+){2,}|[\w.-]+/[\w./-]*\w|\b\d{4}-\d{2}-\d{2}\b|\b[\w-]+\.[A-Za-z]{1,5}\b|\b[A-Za-z][\w-]*\d[\w-]*\b|\b\d+[A-Za-z][\w-]*\b|#\d+`)
	// listed is a list of what a request wants to stand in the summary.
	listed = regexp.MustCompile(`letter (?:for|by) letter:\n((?:- .*(?:\n|$))+)`)
)

// sections are those of a summary whose request names none.
var sections = []string{"## Decisions", "## Open tasks", "## Facts", "## Identifiers"}

// subjects say which sentences belong to a section, by what its heading says.
var subjects = []struct{ heading, sentence *regexp.Regexp }{
	{regexp.MustCompile(`(?i)decision|決定|决定`), regexp.MustCompile(`(?i)decid|decision|agreed|決め|決定|决定`)},
	{regexp.MustCompile(`(?i)todo|task|タスク|任务`), regexp.MustCompile(`(?i)\btodo\b|\btask\b|\bneed(s)? to\b|やる|しなければ|待办|需要`)},
	{regexp.MustCompile(`(?i)constraint|rule|制約|约束`), regexp.MustCompile(`(?i)\bmust\b|\bnever\b|\balways\b|\bonly\b|必ず|禁止|必须|不能`)},
	{regexp.MustCompile(`(?i)\bask|question|pending|質問|问题`), regexp.MustCompile(`[??]\s*$`)},
}

// asksForSummary reports whether a request begins by asking for a summary.
func asksForSummary(req Request, said string) bool {
	if len(req.Tools) > 0 && len(headings(said)) < 2 {
		return false
	}
	return summarizing.MatchString(modelhttp.Shorten(said, 1000)) ||
		len(req.Tools) == 0 && summarizing.MatchString(modelhttp.Shorten(req.System, 500))
}

// summarize returns a summary of the messages in the sections that the system prompt names, or else the last message. It
// copies sentences and identifiers as they are.
func summarize(req Request) string {
	names, input := wanted(req)
	var out []string
	for i, name := range names {
		lines := about(name, input)
		if identifying.MatchString(name) || i == len(names)-1 && !slices.ContainsFunc(names, identifying.MatchString) {
			lines = append(lines, identifiers(input)...)
		}
		if len(lines) == 0 {
			lines = []string{"none"}
		}
		out = append(out, name+"\n- "+strings.Join(lines, "\n- "))
	}
	return strings.Join(out, "\n\n")
}

// wanted returns the headings of the sections that a request names, and the text that it is about.
func wanted(req Request) (names []string, input string) {
	var all []string
	for _, m := range req.Messages {
		all = append(all, m.Text)
		for _, c := range m.ToolCalls {
			all = append(all, string(c.Input))
		}
	}
	names = headings(req.System)
	if last := lastUser(req.Messages); len(names) == 0 && last >= 0 {
		names = headings(req.Messages[last].Text)
	}
	if len(names) == 0 {
		names = sections
	}
	return names, strings.Join(all, "\n")
}

func headings(s string) []string {
	var names []string
	for _, m := range heading.FindAllStringSubmatch(s, -1) {
		if name := strings.TrimSpace(m[1]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// about returns the latest sentences of input that belong under a heading: those of its subject, or statements where it has
// none of the known subjects.
func about(name, input string) []string {
	belongs := stating
	for _, s := range subjects {
		if s.heading.MatchString(name) {
			belongs = s.sentence
			break
		}
	}
	var lines []string
	for _, s := range sentence.FindAllString(input, -1) {
		s = strings.TrimLeft(strings.TrimSpace(s), "- ") // of the list in an earlier summary
		if belongs.MatchString(s) && !heading.MatchString(s) && !slices.Contains(lines, s) {
			lines = append(lines, modelhttp.Shorten(s, maxQuote))
		}
	}
	return lines[max(0, len(lines)-maxSectionLines):]
}

// identifiers returns the literal identifiers of a text, each once: the latest of those in it, and behind them all that it
// lists as asked for, whatever they look like.
func identifiers(input string) []string {
	var asked, found []string
	for _, m := range listed.FindAllStringSubmatch(input, -1) {
		for item := range strings.Lines(m[1]) {
			if id := strings.TrimSpace(strings.TrimPrefix(item, "- ")); !slices.Contains(asked, id) {
				asked = append(asked, id)
			}
		}
	}
	for _, id := range identifier.FindAllString(input, -1) {
		if id = strings.TrimRight(id, ".,;:"); !slices.Contains(found, id) && !slices.Contains(asked, id) {
			found = append(found, id)
		}
	}
	return append(found[max(0, len(found)+min(len(asked), maxIdentifiers)-maxIdentifiers):], asked...)
}
