package embed

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Config says which provider to use and how. The zero value is the provider "none".
type Config struct {
	// Provider is "none", "hash", "local", or a provider over HTTP: "openai" (and any compatible server), "gemini", "voyage",
	// "mistral" or "ollama". Empty means "none".
	Provider string
	// Reason says for people why this provider was chosen; it may be empty.
	Reason string
	// Model is its name at the provider; empty means the provider's default.
	Model string
	// ModelDir is the folder of the model of the provider "local".
	ModelDir string
	// ModelThreads is the number of threads that compute with the provider "local"; 0 means one for each processor.
	ModelThreads int
	// BaseURL of the server, with or without the version of its interface; empty means the provider's own.
	BaseURL string
	// APIKey is sent as the provider wants it, never within the URL; empty sends none.
	APIKey string
	// KeySource says where APIKey comes from, for error messages: "OPENAI_API_KEY" or "remote.apiKey"; empty if it is not known.
	KeySource string
	// Headers are sent with every request and take precedence over the client's own; nil adds none.
	Headers map[string]string
	// SendSecrets sends passwords and keys in texts to the servers of other machines too. Otherwise references take their places.
	SendSecrets bool
	// QueryPrefix and DocumentPrefix are written before the texts that are sent, as the model was trained; nil means what the
	// model of that name is known to want, mostly nothing. A provider that is told queries from documents by a parameter gets
	// only those that are set. The provider "hash" ignores them.
	QueryPrefix, DocumentPrefix *string
	// Dims is the number of dimensions to ask for from a model that can shorten its vectors; 0 means the model's own
	// number, which is known after the first answer.
	Dims int
	// BatchItems is the maximum number of texts in one request; 0 means 64, 1024 for "hash".
	BatchItems int
	// Concurrency is the maximum number of requests for documents at a time; 0 means 4, 1 for "local", 2 for "hash".
	Concurrency int
	// TokensPerDay is the maximum number of tokens that the client sends in a day, estimated, also in requests that fail; 0 means
	// no bound. A tenth of it is kept for queries.
	TokensPerDay int
	// MaxTries is the maximum number of tries of one request to a provider that fails; 0 means 2.
	MaxTries int
	// TryTimeout bounds one try; 0 means 30 seconds for the provider's own service, and 2 minutes for any other server.
	TryTimeout time.Duration
	// QueryTimeout bounds the embedding of one query with all its tries; 0 means 3 seconds.
	QueryTimeout time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Tried is told of each try of a request that has ended; nil tells nobody. It is called by many goroutines and must not block.
	Tried func(Try)
	// QueryLooked is told for each query whether its vector was cached, as Tried is.
	QueryLooked func(provider string, cached bool)
	// Transport sends the requests; nil means a network of this client's own.
	Transport http.RoundTripper
}

// check returns an error for values that no default replaces.
func (cfg Config) check() error {
	if min(cfg.Dims, cfg.ModelThreads, cfg.BatchItems, cfg.Concurrency, cfg.TokensPerDay, cfg.MaxTries) < 0 || min(cfg.TryTimeout, cfg.QueryTimeout) < 0 {
		return errors.New("embed: a number is negative: use 0 for the default")
	}
	if strings.ContainsAny(strings.TrimSpace(cfg.APIKey), "\r\n\x00") {
		return fmt.Errorf("embed: the API key holds a line break: check how it was copied")
	}
	for name, value := range cfg.Headers {
		if strings.ContainsAny(name+value, "\r\n\x00") {
			return fmt.Errorf("embed: the header %q holds a line break", name)
		}
	}
	return nil
}

// inProcess reports whether the provider computes in this process. Such a model has no latency to hide, and no price.
func (cfg Config) inProcess() bool { return cfg.Provider == "hash" || cfg.Provider == "local" }

func (cfg Config) withDefaults() Config {
	items, concurrency := batchItems, 4
	switch cfg.Provider {
	case "local":
		concurrency = 1
	case "hash": // its vectors cost less than the commit of a small request
		items, concurrency = 16*batchItems, 2
	}
	orDefault(&cfg.BatchItems, items)
	orDefault(&cfg.Concurrency, concurrency)
	orDefault(&cfg.MaxTries, 2)
	orDefault(&cfg.TryTimeout, cfg.tryTimeout())
	orDefault(&cfg.QueryTimeout, 3*time.Second)
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return cfg
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
