package render

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"kioku/derive/unit"
	"kioku/internal/text"
	"kioku/memory"
)

// shortID is the number of digits that an id is shown with, if that tells it from the others of a list.
const shortID = 8

// maxSummary is how many characters of a summary are shown in a list.
const maxSummary = 100

// ShortIDs returns the beginnings of ids that are shown for them: all of one length, and different if the ids are.
func ShortIDs(ids []string) []string {
	for n := shortID; ; n++ {
		short, seen, long := make([]string, len(ids)), map[string]string{}, false
		same := false
		for i, id := range ids {
			short[i] = id[:min(n, len(id))]
			long = long || len(id) > n
			same = same || seen[short[i]] != "" && seen[short[i]] != id
			seen[short[i]] = id
		}
		if !same || !long {
			return short
		}
	}
}

// Units adds a line for each unit: id, kind, text, confidence and where it is from. Conflicts, pinned and past units are marked.
func (p *Page) Units(units []memory.Unit) {
	ids := make([]string, len(units))
	for i, u := range units {
		ids[i] = u.UID
	}
	for i, short := range ShortIDs(ids) {
		u := units[i]
		said := CleanLine(u.Text)
		if s := u.Summary; s != nil {
			said = text.Shorten(CleanLine(s.Scope+" "+cmp.Or(s.Name, s.Key[:min(shortID, len(s.Key))])+": "+s.Text), maxSummary)
		}
		var line any = said + marks(u)
		if past(u) {
			line = Dim(said + marks(u))
		}
		p.Linef("%s  %s  %s  %s", Bold(short), Pad(u.Kind, 7), line, Dim(sources(u)))
	}
}

// past reports whether a unit no longer holds.
func past(u memory.Unit) bool { return u.State == "superseded" || u.State == "archived" }

// marks returns what is special about a unit, for the end of its text.
func marks(u memory.Unit) string {
	var all []string
	switch {
	case u.State == "conflict":
		all = append(all, "in conflict")
	case past(u):
		all = append(all, u.State)
	case u.Fact != nil && len(u.Fact.Opposes) > 0:
		all = append(all, "holds, in conflict")
	}
	if u.Pinned {
		all = append(all, "pinned")
	}
	if u.Sensitivity > memory.Normal {
		all = append(all, u.Sensitivity.String())
	}
	if u.Summary != nil && u.Summary.Stale {
		all = append(all, "stale")
	}
	if len(all) == 0 {
		return ""
	}
	return " [" + strings.Join(all, ", ") + "]"
}

// sources returns the confidence of a unit, and where it is from.
func sources(u memory.Unit) string {
	evidence := u.Evidence
	if len(evidence) == 0 {
		return fmt.Sprintf("%.2f", u.Confidence)
	}
	more := ""
	if n := len(evidence) - 1; n > 0 {
		more = fmt.Sprintf(", %d more", n)
	}
	return fmt.Sprintf("%.2f  %s%s", u.Confidence, CleanLine(evidence[0].Citation()), more)
}

// Unit adds everything about a unit.
func (p *Page) Unit(u memory.Unit) {
	p.Linef("%s  %s%s", Bold(CleanLine(u.UID)), CleanLine(u.Text), marks(u))
	p.field("kind", fmt.Sprintf("%s, %s, version %d", u.Kind, u.State, u.Version))
	if f := u.Fact; f != nil {
		p.fact(f)
	}
	if l := u.Loop; l != nil {
		p.field("status", l.Status)
		p.field("due", l.Due)
		p.field("opened", day(l.OpenedAt))
		p.field("expires", day(l.ExpiresAt))
		p.field("closed", day(l.ClosedAt))
	}
	if s := u.Summary; s != nil {
		p.summary(u)
	}
	p.field("confidence", fmt.Sprintf("%.2f by %s, best speaker %s; salience %.2f", u.Confidence, u.Source, u.Trust, u.Salience))
	p.field("seen", fmt.Sprintf("%s; first derived %s, last changed %s", cmp.Or(day(u.OccurredAt), "without a date"), day(u.RecordedAt),
		day(u.ChangedAt)))
	p.evidence(u.Evidence)
}

// fact adds what a fact is about, and how it stands to others.
func (p *Page) fact(f *memory.Fact) {
	about := f.Subject.Name + ", " + strings.ToLower(f.Subject.Type)
	if q := f.Subject.Qualifier; q != "" {
		about += " (" + q + ")"
	}
	p.field("about", about+": "+f.Predicate)
	p.field("holds from", f.From)
	p.field("ends before", f.To)
	p.field("replaced by", f.SupersededBy)
	p.field("conflicts", strings.Join(f.Opposes, ", "))
}

// summary adds what a summary is about, and its events with where they are from.
func (p *Page) summary(u memory.Unit) {
	s := u.Summary
	places := map[string]string{}
	for _, e := range u.Evidence {
		places[e.EpisodeUID] = cmp.Or(places[e.EpisodeUID], e.Citation())
	}
	span := s.From
	if s.To != span {
		span += " to " + s.To
	}
	p.field("about", strings.TrimSpace(s.Scope+" "+cmp.Or(s.Name, s.Key)+"  "+span))
	p.field("state", s.Relationship)
	for _, e := range s.Events {
		p.field("event", strings.TrimSpace(e.Why+"  "+places[e.EpisodeUID]))
	}
}

// evidence adds where a unit is from, with what stands there.
func (p *Page) evidence(all []memory.Evidence) {
	for _, e := range all {
		var about []string
		if e.Speaker != "" {
			about = append(about, e.Speaker)
		}
		if d := day(e.At); d != "" {
			about = append(about, d)
		}
		about = append(about, fmt.Sprintf("%.2f by %s", e.Confidence, e.Maker))
		p.Linef("  %s  %s", Bold(CleanLine(e.Citation())), Dim(CleanLine(strings.Join(about, ", "))))
		if e.Quote != "" {
			p.Linef("    %s", CleanLine(e.Quote))
		}
		if e.Reflection != nil {
			p.Linef("    %s", Dim("reflection: "+reflection(*e.Reflection)))
		}
	}
}

// reflection returns what a model thinks of an episode on one line.
func reflection(r memory.Reflection) string {
	said := fmt.Sprintf("%s %.2f, salience %.2f", r.Emotion, r.Intensity, r.Salience)
	if len(r.Tags) > 0 {
		said += ", " + strings.Join(r.Tags, ", ")
	}
	return CleanLine(said + ": " + r.Text)
}

// moodWidth is the number of characters of each half of the scale of moods.
const moodWidth = 10

// Reflections adds the mood of each day on a scale from -1 to 1, and what a model thinks of the episodes.
func (p *Page) Reflections(all unit.Reflections) {
	for _, d := range all.Days {
		at := int(math.Round(d.Mood * moodWidth))
		scale := []rune(strings.Repeat("·", moodWidth) + "|" + strings.Repeat("·", moodWidth))
		scale[moodWidth+at] = '●'
		p.Linef("%s  %s  %+.2f  %s", d.Date, string(scale), d.Mood, Dim(counted(d.Emotions, "none")))
	}
	for _, r := range all.Reflections {
		p.Linef("%s  %s", Bold(CleanLine(fmt.Sprintf("%s#L%d-L%d", r.Path, r.StartLine, r.EndLine))), reflection(r.Reflection))
	}
}

// field adds a named line, unless it is empty.
func (p *Page) field(name, text string) {
	if text != "" {
		p.Linef("  %-11s %s", name, CleanLine(text))
	}
}

// day returns the day of a time in the local zone, empty for no time.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(time.DateOnly)
}

// UnitVersions adds a line for each version of a unit.
func (p *Page) UnitVersions(versions []unit.Version) {
	for _, v := range versions {
		by := ""
		if v.Model != "" {
			by = "  by " + v.Model + ", " + v.Contract
		}
		at := v.RecordedAt.Local().Format("2006-01-02 15:04")
		p.Linef("%3d  %s  %s  %s%s%s", v.Version, Dim(at), Pad(v.Reason, 8), CleanLine(v.Unit.Text), marks(v.Unit), Dim(CleanLine(by)))
	}
}

// Entities adds a line for each entity with its relations, and then the pairs that may be the same. An entity that is merged into another
// one of the list stands on the line of that one, with the id by which it can be split.
func (p *Page) Entities(list unit.EntityList) {
	ids, width, listed, merged := []string{}, 0, map[string]bool{}, map[string][]string{}
	for _, e := range list.Entities {
		ids, width, listed[e.UID] = append(ids, e.UID), max(width, min(Width(entityName(e)), 40)), true
	}
	shorts := ShortIDs(ids)
	for i, e := range list.Entities {
		merged[e.MergedInto] = append(merged[e.MergedInto], entityName(e)+" ("+shorts[i]+")")
	}
	for i, short := range shorts {
		e := list.Entities[i]
		if listed[e.MergedInto] {
			continue
		}
		about := []string{Count(e.Mentions, "mention")}
		if d := day(e.LastSeen); d != "" {
			about = append(about, "last "+d)
		}
		if len(e.Aliases) > 0 {
			about = append(about, "also "+strings.Join(e.Aliases, ", "))
		}
		if same := merged[e.UID]; len(same) > 0 {
			about = append(about, "the same as "+strings.Join(same, ", "))
		}
		if e.MergedInto != "" {
			about = append(about, "merged into "+e.MergedInto[:min(len(e.MergedInto), shortID)])
		}
		p.Linef("%s  %s  %s  %s", Bold(short), Pad(e.Type, 8), Pad(entityName(e), width), Dim(CleanLine(strings.Join(about, "; "))))
		for _, r := range e.Relations {
			p.Linef("%s  %s", strings.Repeat(" ", shortID), CleanLine(fmt.Sprintf("%s: %s → %s  %s", r.Kind, r.Source, r.Target, r.Citation)))
		}
	}
	for _, t := range list.Twins {
		pair := ShortIDs([]string{t.First.UID, t.Second.UID})
		p.Linef("maybe the same: %s: kioku derive merge %s %s", CleanLine(t.Reason), pair[1], pair[0])
	}
}

// entityName returns the name of an entity with its qualifier.
func entityName(e unit.Entity) string {
	if e.Qualifier != "" {
		return e.Name + " (" + e.Qualifier + ")"
	}
	return e.Name
}
