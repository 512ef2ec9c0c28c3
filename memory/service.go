package memory

import "context"

// Service is one agent's memory: a *kioku.Memory in this process, or a *client.Client of a service that keeps it.
type Service interface {
	// Search returns the passages that answer q best.
	Search(ctx context.Context, q Query) (Answer, error)
	// Get returns lines of a memory file.
	Get(ctx context.Context, req GetRequest) (Excerpt, error)
	// Append writes a note. A note with a key that was written before is not written again.
	Append(ctx context.Context, note Note) (Appended, error)
	// Update replaces a text in a file of what stays true.
	Update(ctx context.Context, u Update) (Updated, error)
}
