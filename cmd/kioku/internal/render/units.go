package render

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"kioku/internal/text"
	kiokuv1 "kioku/proto/kioku/v1"
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
func (p *Page) Units(units []*kiokuv1.Unit) {
	ids := make([]string, len(units))
	for i, u := range units {
		ids[i] = u.GetId()
	}
	for i, short := range ShortIDs(ids) {
		u := units[i]
		said := CleanLine(u.GetText())
		if s := u.GetSummary(); s != nil {
			said = text.Shorten(CleanLine(s.GetScope()+" "+s.GetKey()[:min(shortID, len(s.GetKey()))]+": "+s.GetText()), maxSummary)
		}
		var line any = said + marks(u)
		if past(u) {
			line = Dim(said + marks(u))
		}
		p.Linef("%s  %s  %s  %s", Bold(short), Pad(u.GetKind(), 7), line, Dim(sources(u)))
	}
}

// past reports whether a unit no longer holds.
func past(u *kiokuv1.Unit) bool { return u.GetState() == "superseded" || u.GetState() == "archived" }

// marks returns what is special about a unit, for the end of its text.
func marks(u *kiokuv1.Unit) string {
	var all []string
	switch {
	case u.GetState() == "conflict":
		all = append(all, "in conflict")
	case past(u):
		all = append(all, u.GetState())
	case len(u.GetFact().GetConflicts()) > 0:
		all = append(all, "holds, in conflict")
	}
	if u.GetPinned() {
		all = append(all, "pinned")
	}
	if s := u.GetSensitivity(); s == "private" || s == "secret" {
		all = append(all, s)
	}
	if u.GetSummary().GetStale() {
		all = append(all, "stale")
	}
	if len(all) == 0 {
		return ""
	}
	return " [" + strings.Join(all, ", ") + "]"
}

// sources returns the confidence of a unit, and where it is from.
func sources(u *kiokuv1.Unit) string {
	evidence := u.GetEvidence()
	if len(evidence) == 0 {
		return fmt.Sprintf("%.2f", u.GetConfidence())
	}
	more := ""
	if n := len(evidence) - 1; n > 0 {
		more = fmt.Sprintf(", %d more", n)
	}
	return fmt.Sprintf("%.2f  %s%s", u.GetConfidence(), CleanLine(evidence[0].GetCitation()), more)
}

// Unit adds everything about a unit.
func (p *Page) Unit(u *kiokuv1.Unit) {
	p.Linef("%s  %s%s", Bold(CleanLine(u.GetId())), CleanLine(u.GetText()), marks(u))
	p.field("kind", fmt.Sprintf("%s, %s, version %d", u.GetKind(), u.GetState(), u.GetVersion()))
	if f := u.GetFact(); f != nil {
		p.fact(f)
	}
	if l := u.GetLoop(); l != nil {
		p.field("status", l.GetStatus())
		p.field("due", l.GetDue())
		p.field("opened", day(l.GetOpenedTime()))
		p.field("expires", day(l.GetExpireTime()))
		p.field("closed", day(l.GetClosedTime()))
	}
	if s := u.GetSummary(); s != nil {
		p.summary(s)
	}
	p.field("confidence", fmt.Sprintf("%.2f by %s, best speaker %s; salience %.2f", u.GetConfidence(), u.GetSource(), u.GetTrust(), u.GetSalience()))
	p.field("seen", fmt.Sprintf("%s; first derived %s, last changed %s", cmp.Or(day(u.GetOccurredTime()), "without a date"), day(u.GetRecordedTime()),
		day(u.GetChangedTime())))
	p.evidence(u.GetEvidence())
}

// fact adds what a fact is about, and how it stands to others.
func (p *Page) fact(f *kiokuv1.Fact) {
	about := f.GetSubject().GetName() + ", " + strings.ToLower(f.GetSubject().GetType())
	if q := f.GetSubject().GetQualifier(); q != "" {
		about += " (" + q + ")"
	}
	p.field("about", about+": "+f.GetPredicate())
	p.field("holds from", f.GetValidFrom())
	p.field("ends before", f.GetValidTo())
	p.field("replaced by", f.GetSupersededBy())
	p.field("conflicts", strings.Join(f.GetConflicts(), ", "))
}

// summary adds what a summary is about, and its events.
func (p *Page) summary(s *kiokuv1.Summary) {
	span := s.GetFromDay()
	if s.GetToDay() != span {
		span += " to " + s.GetToDay()
	}
	p.field("about", strings.TrimSpace(s.GetScope()+" "+s.GetKey()+"  "+span))
	p.field("state", s.GetRelationship())
	for _, e := range s.GetEvents() {
		p.field("event", strings.TrimSpace(e.GetWhy()+"  "+e.GetCitation()))
	}
}

// evidence adds where a unit is from, with what stands there.
func (p *Page) evidence(all []*kiokuv1.Evidence) {
	for _, e := range all {
		about := []string{e.GetSpeaker()}
		if d := day(e.GetSaidTime()); d != "" {
			about = append(about, d)
		}
		about = append(about, fmt.Sprintf("%.2f by %s", e.GetConfidence(), e.GetMaker()))
		p.Linef("  %s  %s", Bold(CleanLine(e.GetCitation())), Dim(CleanLine(strings.Join(about, ", "))))
		if e.GetQuote() != "" {
			p.Linef("    %s", CleanLine(e.GetQuote()))
		}
	}
}

// field adds a named line, unless it is empty.
func (p *Page) field(name, text string) {
	if text != "" {
		p.Linef("  %-11s %s", name, CleanLine(text))
	}
}

// day returns the day of a time in the local zone, empty for no time.
func day(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return t.AsTime().Local().Format(time.DateOnly)
}

// UnitVersions adds a line for each version of a unit.
func (p *Page) UnitVersions(versions []*kiokuv1.UnitVersion) {
	for _, v := range versions {
		by := ""
		if v.GetModel() != "" {
			by = "  by " + v.GetModel() + ", " + v.GetContract()
		}
		at := v.GetRecordedTime().AsTime().Local().Format("2006-01-02 15:04")
		p.Linef("%3d  %s  %s  %s%s%s", v.GetVersion(), Dim(at), Pad(v.GetReason(), 8), CleanLine(v.GetUnit().GetText()), marks(v.GetUnit()), Dim(CleanLine(by)))
	}
}

// Entities adds a line for each entity with its relations, and then the pairs that may be the same. An entity that is merged into another
// one of the list stands on the line of that one, with the id by which it can be split.
func (p *Page) Entities(list *kiokuv1.ListEntitiesResponse) {
	ids, width, listed, merged := []string{}, 0, map[string]bool{}, map[string][]string{}
	for _, e := range list.GetEntities() {
		ids, width, listed[e.GetId()] = append(ids, e.GetId()), max(width, min(Width(entityName(e)), 40)), true
	}
	shorts := ShortIDs(ids)
	for i, e := range list.GetEntities() {
		merged[e.GetMergedInto()] = append(merged[e.GetMergedInto()], entityName(e)+" ("+shorts[i]+")")
	}
	for i, short := range shorts {
		e := list.GetEntities()[i]
		if listed[e.GetMergedInto()] {
			continue
		}
		about := []string{Count(e.GetMentionCount(), "mention")}
		if d := day(e.GetLastSeenTime()); d != "" {
			about = append(about, "last "+d)
		}
		if len(e.GetAliases()) > 0 {
			about = append(about, "also "+strings.Join(e.GetAliases(), ", "))
		}
		if same := merged[e.GetId()]; len(same) > 0 {
			about = append(about, "the same as "+strings.Join(same, ", "))
		}
		if e.GetMergedInto() != "" {
			about = append(about, "merged into "+e.GetMergedInto()[:min(len(e.GetMergedInto()), shortID)])
		}
		p.Linef("%s  %s  %s  %s", Bold(short), Pad(e.GetType(), 8), Pad(entityName(e), width), Dim(CleanLine(strings.Join(about, "; "))))
		for _, r := range e.GetRelations() {
			p.Linef("%s  %s", strings.Repeat(" ", shortID), CleanLine(fmt.Sprintf("%s: %s → %s  %s", r.GetKind(), r.GetSource(), r.GetTarget(), r.GetCitation())))
		}
	}
	for _, t := range list.GetTwins() {
		pair := ShortIDs([]string{t.GetFirst().GetId(), t.GetSecond().GetId()})
		p.Linef("maybe the same: %s: kioku derive merge %s %s", CleanLine(t.GetReason()), pair[1], pair[0])
	}
}

// entityName returns the name of an entity with its qualifier.
func entityName(e *kiokuv1.Entity) string {
	if e.GetQualifier() != "" {
		return e.GetName() + " (" + e.GetQualifier() + ")"
	}
	return e.GetName()
}
