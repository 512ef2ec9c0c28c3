package memory

import "context"

// WithOrigin returns a memory whose new notes get an origin; nil leaves them as they are.
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
	return s.Service.Append(ctx, note)
}
