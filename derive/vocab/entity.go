package vocab

import (
	"strings"

	"kioku/memory"
)

// Types of entities.
const (
	Person  = "PERSON"
	Place   = "PLACE"
	Project = "PROJECT"
	Work    = "WORK"
	Topic   = "TOPIC"
	Org     = "ORG"
	Other   = "OTHER"
)

// EntityTypes are the types that are known without settings.
var EntityTypes = []string{Person, Place, Project, Work, Topic, Org, Other}

// Relations between entities.
var Relations = []string{"friend", "family", "colleague", "partner", "likes", "dislikes", "related", "other"}

// relationAliases are other words for relations.
var relationAliases = map[string]string{
	"wife": "partner", "husband": "partner", "spouse": "partner", "girlfriend": "partner", "boyfriend": "partner", "married": "partner",
	"mother": "family", "father": "family", "sister": "family", "brother": "family", "son": "family", "daughter": "family",
	"parent": "family", "child": "family", "sibling": "family", "cousin": "family", "uncle": "family", "aunt": "family",
	"coworker": "colleague", "co-worker": "colleague", "boss": "colleague", "manager": "colleague", "teammate": "colleague",
	"related_to": "related", "friends": "friend", "like": "likes", "dislike": "dislikes",
}

// Relation returns the relation with a name or an alias, and "other" for a name that is not known.
func Relation(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, r := range Relations {
		if r == name {
			return r
		}
	}
	if r, ok := relationAliases[name]; ok {
		return r
	}
	return "other"
}

// User returns the entity that stands for the owner of the memory.
func User() memory.EntityRef { return memory.EntityRef{Type: Person, Name: memory.UserName} }

// IsUser reports whether an entity stands for the owner of the memory.
func IsUser(ref memory.EntityRef) bool {
	return ref.Type == Person && ref.Qualifier == "" && strings.EqualFold(ref.Name, memory.UserName)
}
