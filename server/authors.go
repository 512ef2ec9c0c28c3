package server

import (
	"cmp"
	"fmt"
	"kioku/agent/flush"
	"kioku/agent/sidecar"
	"kioku/llm"
	"kioku/memory"
)

// checkAuthor refuses an author whose id or name is too long or no name.
func checkAuthor(field string, a *memory.Author) error {
	if a == nil {
		return nil
	}
	return cmp.Or(checkName(field+".id", a.ID), checkName(field+".name", a.Name))
}

// checkSaid refuses a message whose author or channel is no name.
func checkSaid(field string, m *ChatMessage) error {
	if m.Author != nil && m.Role != string(llm.RoleUser) {
		return badField(field+".author", "is for messages whose role is user")
	}
	return cmp.Or(checkAuthor(field+".author", m.Author), checkName(field+".channel", m.Channel))
}

// saidOf returns who said a message in a channel. What is no message of a user is nobody's, and a summary is of what was said before.
// marked is a channel that is a group's whatever it is called.
func saidOf(m *ChatMessage, channel, marked string) memory.Said {
	group := isGroup(channel, marked)
	switch {
	case flush.IsSummary(flush.Message{ID: m.ID, Message: llm.Message{Text: m.Text}}):
		return memory.Said{}
	case m.Role != string(llm.RoleUser) && group:
		return memory.Said{Channel: channel, Group: true}
	case m.Role != string(llm.RoleUser):
		return memory.Said{}
	}
	return memory.Said{Author: m.Author, Channel: channel, Group: group}
}

// isGroup reports whether a channel is a group's, by its name or because it is marked as one.
func isGroup(channel, marked string) bool {
	return sidecar.IsGroup(channel) || channel != "" && channel == marked
}

// originOf returns whose words a note for a target is made of, nil if they are the owner's in private. Without an author they are the
// owner's in private, and in a group somebody's.
func originOf(given *memory.Origin, target string) (*memory.Origin, error) {
	if given == nil {
		return nil, nil
	}
	err := checkName("origin.channel", given.Channel)
	said := memory.Said{Channel: given.Channel, Group: sidecar.IsGroup(given.Channel) || target == memory.TargetGroup}
	for i := range given.Authors {
		err = cmp.Or(err, checkAuthor(fmt.Sprintf("origin.authors[%d]", i), &given.Authors[i]))
	}
	if len(given.Authors) > 0 {
		said.Author = &given.Authors[0]
	}
	o := said.Origin()
	for _, a := range given.Authors[min(1, len(given.Authors)):] {
		if o == nil {
			o = &memory.Origin{Channel: said.Channel, Authors: []memory.Author{{IsOwner: true}}}
		}
		o.Add(a)
	}
	return o, err
}
