package memory

import "context"

// WithOrigin returns a memory whose new notes get an origin; nil leaves them as they are. What Append returns does not say what memory
// has already: no line, no Deduplicated and no Similar, because others may read the answer. If others than the owner have contributed,
// Update returns an *InputError: the files of what stays true count as the words of the owner.
func WithOrigin(s Service, o *Origin) Service {
	if o == nil {
		return s
	}
	return signed{s, o}
}

// signed implements WithOrigin.
type signed struct {
	Service
	origin *Origin
}

// Append implements Service.
func (s signed) Append(ctx context.Context, note Note) (Appended, error) {
	note.Origin = s.origin
	a, err := s.Service.Append(ctx, note)
	return Appended{Path: a.Path, Secrets: a.Secrets}, err
}

// WithSession returns a memory whose new notes name the conversation that they come from, unless they name one themselves. The empty
// name leaves them as they are.
func WithSession(s Service, session string) Service {
	if session == "" {
		return s
	}
	return inSession{s, session}
}

// inSession implements WithSession.
type inSession struct {
	Service
	session string
}

// Append implements Service.
func (s inSession) Append(ctx context.Context, note Note) (Appended, error) {
	if note.Session == "" {
		note.Session = s.session
	}
	return s.Service.Append(ctx, note)
}

// Forget implements Forgetter.
func (s inSession) Forget(ctx context.Context, r Forget) (Forgotten, error) {
	return ForgetIn(ctx, s.Service, r)
}

// Forget implements Forgetter. Only the owner has something forgotten.
func (s signed) Forget(ctx context.Context, r Forget) (Forgotten, error) {
	if !s.origin.ByOwner() {
		return Forgotten{}, &InputError{Field: "places", Problem: "is for the owner, and this is asked by " + s.origin.String()}
	}
	return ForgetIn(ctx, s.Service, r)
}

// Update implements Service.
func (s signed) Update(ctx context.Context, u Update) (Updated, error) {
	if !s.origin.ByOwner() {
		return Updated{}, &InputError{Field: "path", Problem: "names a file that counts as the words of the owner, and this is asked by " +
			s.origin.String() + ": append a note instead"}
	}
	return s.Service.Update(ctx, u)
}
