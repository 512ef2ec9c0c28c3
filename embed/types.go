package embed

import (
	"fmt"
	"net/http"
	"time"
)

// Config says which provider to use and how. The zero value is the provider "none".
type Config struct {
	// Provider is "none" (also when empty), "hash" or "openai".
	Provider string
	// Model at the provider; empty means the provider's default.
	Model string
	// BaseURL of an OpenAI-compatible server, with or without "/v1"; empty means the provider's own.
	BaseURL string
	// APIKey sent as a bearer token; empty sends none.
	APIKey string
	// Headers sent with every request.
	Headers map[string]string
	// Dims asked for where the model can shorten its vectors; 0 means the model's own number,
	// which is known after the first answer.
	Dims int
	// BatchItems and BatchTokens bound one request; 0 means 64 texts and 100,000 tokens (estimated).
	BatchItems  int
	BatchTokens int
	// MaxTries of one request; 0 means 4.
	MaxTries int
	// TryTimeout bounds one try, 0 means 30 s.
	TryTimeout time.Duration
	// QueryTimeout bounds embedding one query with all its tries, 0 means 3 s.
	QueryTimeout time.Duration
	// Now is the clock, nil means time.Now.
	Now func() time.Time
	// Transport carries the requests, nil means http.DefaultTransport.
	Transport http.RoundTripper
}

// Space identifies a vector space: vectors of equal spaces may be compared, others never.
type Space struct {
	Provider string
	Model    string
	// Dims is 0 until the provider has answered once.
	Dims int
	// Endpoint is a fingerprint of the base URL, equal for equal servers ("" for the provider's own).
	Endpoint string
}

// IsZero reports whether s is the space of the provider "none".
func (s Space) IsZero() bool { return s == Space{} }

// Name names the space for people.
func (s Space) Name() string {
	name := s.Provider + "/" + s.Model
	if s.Dims > 0 {
		name += fmt.Sprintf(" (%d dimensions)", s.Dims)
	}
	return name
}

// Matches reports whether s and t may hold the same vectors: they are equal, or differ only in that
// one does not know its dimension yet.
func (s Space) Matches(t Space) bool {
	if s.Dims == 0 || t.Dims == 0 {
		s.Dims, t.Dims = 0, 0
	}
	return s == t
}

// Embedding is the outcome for one text: a unit vector, or the reason why there is none.
type Embedding struct {
	Vector []float32
	Err    error
}

// Health is what is known of a provider.
type Health struct {
	Healthy bool
	// Err is the last error, nil while healthy.
	Err error
	// RetryAt is when the provider is tried again; zero while healthy.
	RetryAt time.Time
}
