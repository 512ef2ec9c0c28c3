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

// Forgetter is a Service that forgets.
type Forgetter interface {
	// Forget finds, forgets or corrects what is said, wherever it is said.
	Forget(ctx context.Context, r Forget) (Forgotten, error)
}

// ForgetIn has a memory forget something. It returns an *InputError for one that is no Forgetter.
func ForgetIn(ctx context.Context, s Service, r Forget) (Forgotten, error) {
	if f, ok := s.(Forgetter); ok {
		return f.Forget(ctx, r)
	}
	return Forgotten{}, &InputError{Field: "places", Problem: "is not possible in this memory: change a text by old_text and new_text"}
}

// UnitLister is a Service that knows what was derived from its notes.
type UnitLister interface {
	// Units returns the units that q selects; if words is not blank, those that share words with it.
	Units(ctx context.Context, q UnitQuery, words string) (UnitList, error)
}

// UnitsOf returns the units of a memory, and ErrDeriveOff if it is no UnitLister.
func UnitsOf(ctx context.Context, s Service, q UnitQuery, words string) (UnitList, error) {
	if l, ok := s.(UnitLister); ok {
		return l.Units(ctx, q, words)
	}
	return UnitList{}, ErrDeriveOff
}
