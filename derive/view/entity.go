package view

import (
	"fmt"
	"path"
	"strings"

	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

// minNamed is how many facts about others name something at least that has a page for nothing else.
var minNamed = map[string]int{"people": 1, "topics": 2}

// entityPages adds people/<name>.md and topics/<name>.md for what there is something to show about.
func (r *renderer) entityPages(pages map[string]string) {
	subjects, objects := map[string][]memory.Unit{}, map[string][]memory.Unit{}
	for _, u := range r.fact {
		uid := vocab.EntityUID(u.Fact.Subject)
		subjects[uid] = append(subjects[uid], u)
		if u.Fact.ObjectEntity != nil && u.State != memory.StateSuperseded {
			uid := vocab.EntityUID(*u.Fact.ObjectEntity)
			objects[uid] = append(objects[uid], u)
		}
	}
	summaries := map[string]memory.Unit{}
	for _, u := range r.summary {
		if u.Summary.Scope == memory.ScopePerson || u.Summary.Scope == memory.ScopeTopic {
			summaries[u.Summary.Key] = u
		}
	}
	for _, folder := range []string{"people", "topics"} {
		bodies, names := map[string]string{}, map[string]string{}
		for _, e := range r.entities {
			summary, summed := summaries[e.UID]
			about, named := subjects[e.UID], objects[e.UID]
			isUser := vocab.IsUser(memory.EntityRef{Type: e.Type, Name: e.Name, Qualifier: e.Qualifier})
			if (e.Type == vocab.Person) != (folder == "people") || e.MergedInto != "" || isUser || len(bodies) == maxPages {
				continue
			}
			if !summed && len(about) == 0 && len(e.Relations) == 0 && len(named) < minNamed[folder] {
				continue
			}
			b := begin(qualified(e.Name, e.Qualifier)) // aliases may be from notes above the ceiling
			if summed {
				r.summaryText(b, summary)
			}
			entityFacts(b, about, named)
			section(b, 2, "Related", relationLines(e.Relations))
			bodies[e.UID], names[e.UID] = b.String(), qualified(e.Name, e.Qualifier)
		}
		for uid, name := range fileNames(names) {
			pages[path.Join(folder, name+".md")] = bodies[uid]
		}
	}
}

// entityFacts adds the facts about an entity, those that name it, and those that are over.
func entityFacts(b *strings.Builder, about, named []memory.Unit) {
	var now, elsewhere, over []string
	for _, u := range about {
		if u.State == memory.StateSuperseded {
			over = append(over, factLine(u))
		} else {
			now = append(now, factLine(u))
		}
	}
	for _, u := range named {
		elsewhere = append(elsewhere, "- "+escape(subject(u))+" "+strings.TrimPrefix(factLine(u), "- "))
	}
	section(b, 2, "Facts", now)
	section(b, 2, "Named in", elsewhere)
	section(b, 2, "Before", over)
}

// relationLines returns a line for each relation.
func relationLines(relations []unit.Relation) []string {
	var lines []string
	name := func(s string) string {
		if s == memory.UserName {
			return "the user"
		}
		return escape(s)
	}
	for _, r := range relations {
		at := strings.LastIndex(r.Citation, "#")
		cited := escape(r.Citation[:max(at, 0)]) + r.Citation[max(at, 0):]
		if r.Episodes > 1 {
			cited += fmt.Sprintf(", %d more", r.Episodes-1)
		}
		lines = append(lines, fmt.Sprintf("- %s: %s → %s (%s)", escape(r.Kind), name(r.Source), name(r.Target), cited))
	}
	return lines
}
