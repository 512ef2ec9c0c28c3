package client

import (
	"kioku/memory"
	kiokuv1 "kioku/proto/kioku/v1"
)

// setOrigin sets whose words a note is made of; a request without them says that they are the owner's.
func setOrigin(req *kiokuv1.MemoryAppendRequest, o *memory.Origin) {
	if o == nil {
		return
	}
	req.Channel, req.Author = o.Channel, &kiokuv1.Author{}
	for i, a := range o.Authors {
		author := &kiokuv1.Author{Id: a.ID, Name: a.Name, IsOwner: a.IsOwner}
		if i == 0 {
			req.Author = author
		} else {
			req.MoreAuthors = append(req.MoreAuthors, author)
		}
	}
}

// OriginOf returns whose words a result is made of, nil if they are the owner's.
func OriginOf(r *kiokuv1.SearchResult) *memory.Origin {
	if r.GetAuthor() == nil {
		return nil
	}
	o := &memory.Origin{Channel: r.GetChannel()}
	for _, a := range append([]*kiokuv1.Author{r.GetAuthor()}, r.GetMoreAuthors()...) {
		o.Authors = append(o.Authors, memory.Author{ID: a.GetId(), Name: a.GetName(), IsOwner: a.GetIsOwner()})
	}
	return o
}
