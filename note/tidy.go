package note

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"kioku/chunker"
	"kioku/internal/text"
	"kioku/memory"
	"kioku/search/analysis"
)

const (
	// maxTidyEntries is the maximum number of entries of a file, or of some days, that are compared with each other.
	maxTidyEntries = 1000
	// sameEntry is the part of their terms that two entries have in common if they say the same.
	sameEntry = 0.85
	// minApart is the number of terms of entries below different headings that say the same: a short line may mean something else there.
	minApart = 4
	// minFrame is the number of words beside their values that two entries have at least if they contradict each other.
	minFrame = 3
)

// entry is something that a file says: an item of a list, or a paragraph.
type entry struct {
	line    int // from 1
	text    string
	heading string
	// tidy reports whether it may go or be replaced: a line at the margin to which no other line, and no number or check mark, belongs.
	tidy    bool
	order   []string        // its terms
	terms   map[string]bool // the same
	negated bool            // it says that something is not so
	// frame is its words with the kinds of its values in their places, and values the terms of these.
	frame  string
	values []string
}

// Tidy returns what may be tidied in a text of a file of what stays true: entries that say the same, of which the more detailed or later one
// stays, and entries that contradict each other, of which the later one stays. A line is in one pair at most.
func Tidy(path string, src []byte) (all []memory.Untidy) {
	entries := entriesOf(src)
	for i, a := range entries {
		for j := i + 1; j < len(entries) && entries[i].tidy; j++ {
			b := entries[j]
			u := memory.Untidy{Path: path, Line: a.line, Text: a.text, OtherLine: b.line, Other: b.text}
			switch {
			case !b.tidy:
				continue
			case sayTheSame(a, b):
				u.Kind = memory.UntidyDuplicate
				if len(a.terms) > len(b.terms) {
					u.Line, u.Text, u.OtherLine, u.Other = b.line, b.text, a.line, a.text
				}
			case contradict(a, b):
				u.Kind = memory.UntidyContradiction
			default:
				continue
			}
			entries[i].tidy, entries[j].tidy = false, false
			u.ID = fmt.Sprintf("%s#L%d:%s", path, u.Line, fingerprint(u.Kind + "\x00" + u.Text + "\x00" + u.Other)[:8])
			all = append(all, u)
		}
	}
	return all
}

// entriesOf returns what a text says: its items and paragraphs, but not what is in front matter, comments, fences and tables.
func entriesOf(src []byte) (all []entry) {
	_, front, _ := text.FrontMatterBlock(chunker.Normalize(src)) // 0 if there is none
	heading, at, comment, origins := "", 0, false, Origins(src)
	open, above := false, false // what is indented, or any line of text, goes on with the last entry
	for n, line := range linesOf(src) {
		at += len(line.Text)
		hidden := at <= front || comment || line.Fence != ""
		comment = opensComment(line, comment)
		lead := listPrefix.FindString(line.Text)
		mark, said := strings.TrimSpace(lead), strings.TrimSpace(markerPattern.ReplaceAllString(line.Text[len(lead):], ""))
		indented := strings.TrimLeft(line.Text, " \t") != line.Text
		switch {
		case hidden:
			continue
		case strings.TrimSpace(line.Text) == "":
			above = false
			continue
		case line.Level > 0 || line.Block > 0 && !indented: // of a heading, a table or a fence
			if open, above = false, false; line.Level > 0 {
				heading = said
			}
			continue
		case open && (indented || above && mark == ""):
			last := &all[len(all)-1]
			last.tidy = false
			if mark == "" {
				last.text += " " + said
				continue
			}
		}
		open, above = true, true
		tidy := !indented && strings.Trim(mark, "-*+") == "" && strings.Contains(line.Text, said) && !strings.Contains(said, "<!--") &&
			!strings.HasSuffix(said, ":") && strings.IndexAny(said, "|<[") != 0 && memory.JoinOrigins(origins, n+1, n+1) == nil
		all = append(all, entry{line: n + 1, text: said, heading: heading, tidy: tidy})
	}
	for i := range all {
		all[i].analyze()
	}
	all = slices.DeleteFunc(all, func(e entry) bool { return len(e.terms) < minSimilarTerms })
	return all[:min(len(all), maxTidyEntries)]
}

// analyze fills in what an entry is compared by.
func (e *entry) analyze() {
	e.order, e.negated = analysis.ContentTerms(e.text), negation.MatchString(e.text)
	e.terms = analysis.WordSet(strings.Join(e.order, " "))
	words, before := 0, ""
	named, over := false, false // its subject, which goes on if a word follows that says what it belongs to; one word behind it is no value
	for _, w := range wordPattern.FindAllString(e.text, -1) {
		w = strings.TrimRight(w, ".:/-")
		kind, lower, terms := kindOf(w), strings.ToLower(w), strings.Join(analysis.ContentTerms(w), " ")
		if !over {
			kind, over, named = "", named && !belongs[lower], !belongs[lower] && terms != ""
		}
		switch {
		case kind == "":
			e.frame += " " + lower
			words++
		case kind == before:
			e.values[len(e.values)-1] += " " + terms
		default:
			e.frame += " <" + kind + ">"
			e.values = append(e.values, terms)
		}
		before = kind
	}
	if words < minFrame {
		e.values = nil
	}
}

// sayTheSame reports whether two entries say the same, in nearly the same words.
func sayTheSame(a, b entry) bool { return a.negated == b.negated && sameWords(a, b) }

// sameWords reports whether one of two entries has all terms of the other in the same order, and few others.
func sameWords(a, b entry) bool {
	few, many := a.order, b.order
	if len(few) > len(many) {
		few, many = many, few
	}
	if a.heading != b.heading && len(few) < minApart || 2*float64(len(few)) < sameEntry*float64(len(few)+len(many)) {
		return false
	}
	for _, term := range many {
		if len(few) > 0 && few[0] == term {
			few = few[1:]
		}
	}
	return len(few) == 0
}

var (
	wordPattern = regexp.MustCompile(`[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}.:/-]*`)
	calendar    = analysis.WordSet(`monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays
january february march april may june july august september october november december morning evening noon night true false
montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo`)
	// belongs are the words between a thing and what it belongs to.
	belongs = analysis.WordSet("of for in from von für de du des del della di da do dos van av")
	// negation matches what makes the contrary of a line, as a word or as a part of one.
	negation = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|off|kein(?:e[nmrs]?)?|nichts?|nie|niemals|ohne|` +
		`ne|pas|jamais|rien|aucune?|sans|nunca|nada|nadie|sin|non|mai|niente|senza|não|sem|niet|geen|nooit|zonder|inte|aldrig|не|нет|ни|никогда|без)(?:$|[^\p{L}])|` +
		`n['’]t|~~|不|没|沒|無|无|未|非|别|別|ない|なかった|ません|않|없|못|아니`)
)

// contradict reports whether two entries below one heading say different values of the same thing: they have the same words in the same order
// but for one number, day or name.
func contradict(a, b entry) bool {
	if a.heading != b.heading || a.negated != b.negated || a.frame != b.frame {
		return false
	}
	differing := 0
	for i, value := range a.values {
		if value != b.values[i] {
			differing++
		}
	}
	return differing == 1
}

// common returns the number of terms that two sets have in common.
func common(a, b map[string]bool) (n int) {
	for term := range a {
		if b[term] {
			n++
		}
	}
	return n
}

// kindOf returns what kind of value a word is, empty for none.
func kindOf(w string) string {
	switch {
	case strings.Trim(w, "0123456789.:/-") == "":
		return "number"
	case calendar[strings.ToLower(w)]:
		return "day"
	case unicode.IsUpper([]rune(w)[0]):
		return "name"
	}
	return ""
}

// Untidy returns what is proposed for MEMORY.md and USER.md: what Tidy finds, and what the notes of the last days say.
func (f *Folder) Untidy(ctx context.Context) (all []memory.Untidy, err error) {
	all = []memory.Untidy{}
	days, missing := f.lastDays(), 0
	for _, name := range []string{longTermFile, userFile} {
		src, err := f.read(name)
		if errors.Is(err, memory.ErrNotFound) {
			missing++
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, proposals(name, f.Forgotten().Mask(src), days)...)
	}
	if missing == 2 {
		return nil, fmt.Errorf("%w: there is no %s, which kioku init makes", memory.ErrNotFound, longTermFile)
	}
	return all, ctx.Err()
}

// TidyUp does what is proposed by some ids of Untidy, one update a file, and returns the updates. It returns a *memory.InputError, and
// changes nothing, for an entry that was changed since.
func (f *Folder) TidyUp(ctx context.Context, ids []string) (done []memory.Updated, err error) {
	gone := func(id string) error {
		return &memory.InputError{Field: "accept", Problem: fmt.Sprintf("%.80q is no proposal, or was changed since; list them again", id)}
	}
	proposed, err := f.Untidy(ctx)
	if err != nil {
		return nil, err
	}
	byFile := map[string][]string{}
	for _, id := range ids {
		i := slices.IndexFunc(proposed, func(u memory.Untidy) bool { return u.ID == id })
		if i < 0 {
			return nil, gone(id)
		}
		byFile[proposed[i].Path] = append(byFile[proposed[i].Path], id)
	}
	days := f.lastDays()
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		u, err := f.edit(ctx, name, func(src []byte) (patch, change, error) {
			out, left := src, slices.Clone(byFile[name])
			all := proposals(name, f.Forgotten().Mask(src), days)
			slices.SortStableFunc(all, func(a, b memory.Untidy) int { return b.Line - a.Line }) // what is missing comes last
			for _, u := range all {
				if p, ok := accepted(out, u); ok && slices.Contains(left, u.ID) {
					left = slices.DeleteFunc(left, func(id string) bool { return id == u.ID })
					out = p.apply(out)
				}
			}
			if len(left) > 0 {
				return patch{}, change{}, gone(left[0])
			}
			return narrow(patch{0, len(src), string(out)}, src), change{Reason: "tidied", Source: memory.NoteFromUser}, nil
		})
		if err != nil {
			return done, err
		}
		done = append(done, u)
	}
	return done, nil
}

// accepted returns the change of a proposal in a text, and false if the line is not what the proposal says.
func accepted(src []byte, u memory.Untidy) (patch, bool) {
	if u.Kind == memory.UntidyMissing {
		marker := ""
		if u.Source != "" {
			marker = " " + markerStart + " from=" + u.Source + markerEnd
		}
		lines := (&noteFile{text: src}).withLineEnds(gapAfter(src, false) + "- " + u.Other + marker + "\n")
		return patch{len(src), len(src), lines}, true
	}
	from := offsetOf(src, u.Line-1)
	at := bytes.Index(src[from:endOfLine(src, from)], []byte(u.Text))
	switch from, to := from+at, from+at+len(u.Text); {
	case at < 0:
		return patch{}, false
	case u.Kind == memory.UntidyOutdated:
		return markedChange(src, patch{from, to, u.Other}, cmp.Or(u.Source, memory.NoteFromUser)), true
	default:
		return removal(src, from, to), true
	}
}
