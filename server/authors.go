package server

import (
	"cmp"

	"kioku/agent/flush"
	"kioku/agent/sidecar"
	"kioku/llm"
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// authorOf returns an author of a request, nil if it is unset.
func authorOf(a *kiokuv1.Author) *memory.Author {
	if a == nil {
		return nil
	}
	return &memory.Author{ID: a.GetId(), Name: a.GetName(), IsOwner: a.GetIsOwner()}
}

// checkAuthor refuses an author whose id or name is too long or no name.
func checkAuthor(field string, a *kiokuv1.Author) error {
	return cmp.Or(checkName(field+".id", a.GetId()), checkName(field+".name", a.GetName()))
}

// checkSaid refuses a message whose author or channel is no name.
func checkSaid(field string, m *kiokuv1.ChatMessage) error {
	if m.GetAuthor() != nil && m.GetRole() != string(llm.RoleUser) {
		return badField(field+".author", "is for messages whose role is user")
	}
	return cmp.Or(checkAuthor(field+".author", m.GetAuthor()), checkName(field+".channel", m.GetChannel()))
}

// saidOf returns who said a message in a channel. What is no message of a user is nobody's, and a summary is of what was said before.
// marked is a channel that is a group's whatever it is called.
func saidOf(m *kiokuv1.ChatMessage, channel, marked string) memory.Said {
	group := isGroup(channel, marked)
	switch {
	case flush.IsSummary(flush.Message{ID: m.GetId(), Message: llm.Message{Text: m.GetText()}}):
		return memory.Said{}
	case m.GetRole() != string(llm.RoleUser) && group:
		return memory.Said{Channel: channel, Group: true}
	case m.GetRole() != string(llm.RoleUser):
		return memory.Said{}
	}
	return memory.Said{Author: authorOf(m.GetAuthor()), Channel: channel, Group: group}
}

// isGroup reports whether a channel is a group's, by its name or because it is marked as one.
func isGroup(channel, marked string) bool {
	return sidecar.IsGroup(channel) || channel != "" && channel == marked
}

// originOf returns whose words a note is made of, nil if they are the owner's in private.
func originOf(req *kiokuv1.MemoryAppendRequest) (*memory.Origin, error) {
	err := cmp.Or(checkName("channel", req.GetChannel()), checkAuthor("author", req.GetAuthor()))
	said := memory.Said{
		Author: authorOf(req.GetAuthor()), Channel: req.GetChannel(),
		Group: sidecar.IsGroup(req.GetChannel()) || req.GetTarget() == memory.TargetGroup,
	}
	o := said.Origin()
	for _, a := range req.GetMoreAuthors() {
		err = cmp.Or(err, checkAuthor("more_authors", a))
		if o == nil {
			o = &memory.Origin{Channel: said.Channel, Authors: []memory.Author{{IsOwner: true}}}
		}
		o.Add(*authorOf(a))
	}
	return o, err
}

// originParts returns an origin as responses have it.
func originParts(o *memory.Origin) (channel string, author *kiokuv1.Author, more []*kiokuv1.Author) {
	if o == nil {
		return "", nil, nil
	}
	all := convertAll(o.Authors, func(a memory.Author) *kiokuv1.Author {
		return &kiokuv1.Author{Id: a.ID, Name: a.Name, IsOwner: a.IsOwner}
	})
	if len(all) == 0 {
		all = []*kiokuv1.Author{{}}
	}
	return o.Channel, all[0], all[1:]
}
