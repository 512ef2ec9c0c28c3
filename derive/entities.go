package derive

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"kioku/derive/store"
	"kioku/derive/unit"
	"kioku/derive/vocab"
	"kioku/memory"
)

const (
	// maxEntities is how many entities are looked through for names and twins.
	maxEntities = 20_000
	maxTwins    = 100
)

// Entities lists entities, those that are merged into others too, and pairs that are likely the same.
func (s *Service) Entities(ctx context.Context, f unit.EntityFilter) (unit.EntityList, error) {
	if types := append(slices.Clone(vocab.EntityTypes), s.opt.EntityTypes...); f.Type != "" && !slices.Contains(types, f.Type) {
		return unit.EntityList{}, &memory.InputError{Field: "type", Problem: "must be one of " + strings.Join(types, ", ")}
	}
	limit := f.Limit
	if limit == 0 {
		limit = 100
	}
	all, err := s.store.Entities(ctx, store.EntityQuery{Type: f.Type, Limit: maxEntities, MaxSensitivity: f.MaxSensitivity, Relations: true})
	if err != nil {
		return unit.EntityList{}, err
	}
	for i := range all {
		if all[i].Name == memory.UserName && f.MaxSensitivity >= memory.Private { // USER.md may be private
			all[i].Aliases = slices.Compact(slices.Sorted(slices.Values(slices.Concat(all[i].Aliases, s.opt.Rules.UserNames()))))
		}
	}
	prefix := vocab.Norm(f.Name)
	wanted := func(e unit.Entity) bool { return f.Name == "" || beginsWith(e, prefix) }
	list := unit.EntityList{Twins: slices.DeleteFunc(twins(all, s.splits()), func(t unit.Twins) bool { return !wanted(t.First) && !wanted(t.Second) })}
	for _, e := range all {
		if len(list.Entities) < limit && wanted(e) {
			list.Entities = append(list.Entities, e)
		}
	}
	return list, nil
}

// beginsWith reports whether the name or an alias of an entity begins with a norm.
func beginsWith(e unit.Entity, prefix string) bool {
	return slices.ContainsFunc(append([]string{e.Name}, e.Aliases...), func(name string) bool {
		return prefix != "" && strings.HasPrefix(vocab.Norm(name), prefix)
	})
}

// splits returns the UIDs of the entities that people have split from others.
func (s *Service) splits() map[string]bool {
	uids := map[string]bool{}
	for _, d := range s.recall().decisions {
		if d.Verb == unit.DecideSplit {
			uids[d.Target] = true
		}
	}
	return uids
}

// twins returns pairs of entities that may be the same, those most often mentioned first: they have one name but other types, or one has
// the name of the other as an alias, or begins with it and is a person, or others have it as an alias. Similar names are no sign. What people have
// merged, split or told apart by a qualifier is left out.
func twins(all []unit.Entity, split map[string]bool) []unit.Twins {
	byName, byAlias, byBeginning := map[string][]int{}, map[string][]int{}, map[string][]int{}
	for i, e := range all {
		if e.MergedInto != "" || e.Qualifier != "" || split[e.UID] {
			continue
		}
		norm := vocab.Norm(e.Name)
		byName[norm] = append(byName[norm], i)
		for _, alias := range e.Aliases {
			if n := vocab.Norm(alias); n != norm {
				byAlias[n] = append(byAlias[n], i)
			}
		}
		for at := range norm {
			if vocab.BeginsName(norm[:at], norm) {
				byBeginning[norm[:at]] = append(byBeginning[norm[:at]], i)
			}
		}
	}
	var found []unit.Twins
	seen := map[[2]int]bool{}
	add := func(i, j int, reason string) {
		pair := [2]int{min(i, j), max(i, j)}
		if i != j && !seen[pair] {
			seen[pair] = true
			found = append(found, unit.Twins{First: all[pair[0]], Second: all[pair[1]], Reason: reason})
		}
	}
	for norm, named := range byName {
		meant := byAlias[norm]
		for _, j := range byBeginning[norm] {
			if (len(meant) > 0 || all[j].Type == vocab.Person) && !slices.Contains(meant, j) {
				meant = append(meant, j)
			}
		}
		for k, i := range named {
			for _, j := range named[k+1:] {
				add(i, j, "both are called "+all[i].Name+", one "+strings.ToLower(all[i].Type)+" and one "+strings.ToLower(all[j].Type))
			}
			for _, j := range meant {
				add(i, j, mayBe(all, i, j, meant))
			}
		}
	}
	slices.SortFunc(found, func(a, b unit.Twins) int {
		return cmp.Or(cmp.Compare(b.First.Mentions+b.Second.Mentions, a.First.Mentions+a.Second.Mentions),
			cmp.Compare(a.First.UID, b.First.UID), cmp.Compare(a.Second.UID, b.Second.UID))
	})
	return found[:min(len(found), maxTwins)]
}

// mayBe says that entity i may be entity j, or others of meant.
func mayBe(all []unit.Entity, i, j int, meant []int) string {
	var others []string
	for _, k := range meant {
		if k != i && k != j {
			others = append(others, all[k].Name)
		}
	}
	slices.Sort(others)
	return all[i].Name + " may be " + strings.Join(append([]string{all[j].Name}, others...), ", or ")
}

// entity returns an entity below a ceiling by its UID or a beginning of it. field is that of the error for an id that is none.
func (s *Service) entity(ctx context.Context, field, id string, ceiling memory.Sensitivity) (unit.Entity, error) {
	id, err := checkID(field, id)
	if err != nil {
		return unit.Entity{}, err
	}
	all, err := s.store.Entities(ctx, store.EntityQuery{UIDs: []string{id}, Limit: maxCandidates + 1, MaxSensitivity: ceiling})
	if err != nil {
		return unit.Entity{}, err
	}
	return theOne(field, id, all, func(e unit.Entity) string { return e.UID })
}
