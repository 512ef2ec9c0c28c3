package standing

import (
	"regexp"
	"strings"

	"kioku/internal/text"
)

var (
	// label is an item or a line that only names what could stand behind it, as in a template.
	label = regexp.MustCompile(`^[-*+>\s]*[*_]*[^:.!?]{0,60}:[*_\s]*(?:_?\([^()]*\)_?)?$`)
	// placeholder is a line in the place of words that are still to come.
	placeholder = regexp.MustCompile(`(?i)^[-*+>\s]*(?:[_*]*\(.*\)[_*]*|[_*(]*(?:nothing|none|empty|tbd|to ?do|n/a|\.\.\.|…)(?: (?:here|yet|so far)){0,2}[.…]?[_*)]*)?$`)
)

// Says reports whether a Markdown text says anything: whether it has a line that is no heading, comment, rule or placeholder.
func Says(markdown string) bool {
	_, front, _ := text.FrontMatterBlock(markdown)
	for line := range strings.Lines(markdown[front:]) {
		line = strings.TrimSpace(line)
		if !heading.MatchString(line) && line != "#" && !strings.HasPrefix(line, "<!--") && strings.Trim(line, "-*_=`") != "" &&
			!label.MatchString(line) && !placeholder.MatchString(line) {
			return true
		}
	}
	return false
}

// toolMark is the mark of a note that a model wrote after it had read the result of a tool.
var toolMark = regexp.MustCompile(`<!-- kioku[^<>]* from=tool(?: [^<>]*)? -->[ \t]*\r?$`)

// FromTool returns the numbers of the lines of the notes in a file of long-term notes, with Kioku's marks, that a model wrote after it
// had read the result of a tool; nil if there are none. Such a note begins with the bullet above its mark, else below the heading.
func FromTool(file string) map[int]bool {
	var found map[int]bool
	lines := strings.Split(file, "\n")
	for i, line := range lines {
		if !toolMark.MatchString(line) {
			continue
		}
		if found == nil {
			found = map[int]bool{}
		}
		for at := i; at >= 0 && !(at < i && heading.MatchString(lines[at])); at-- {
			found[at+1] = true
			if item.MatchString(lines[at]) && !strings.HasPrefix(lines[at], " ") {
				break
			}
		}
	}
	return found
}
