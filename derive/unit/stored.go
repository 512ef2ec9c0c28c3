package unit

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"kioku/memory"
)

// storedName is a member of JSON that was stored before the names were those of the service: "OccurredAt".
var storedName = regexp.MustCompile(`"([A-Z]\w*)":`)

// renamed are the members whose names say something else now.
var renamed = map[string]string{"ID": "row", "UID": "id", "EpisodeUID": "episode", "Opposes": "conflicts", "InputSHA256": "input_sha256"}

// Modern returns stored JSON with the names of its members as they are now.
func Modern(stored string) string {
	return storedName.ReplaceAllStringFunc(stored, func(member string) string {
		name := strings.Trim(member, `":`)
		if now := renamed[name]; now != "" {
			return `"` + now + `":`
		}
		var b strings.Builder
		for i, r := range name {
			if i > 0 && unicode.IsUpper(r) {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToLower(r))
		}
		return `"` + b.String() + `":`
	})
}

// Was returns the unit that a version has stored.
func (v Version) Was() (u memory.Unit, err error) {
	err = json.Unmarshal([]byte(Modern(v.Payload)), &u)
	return u, err
}
