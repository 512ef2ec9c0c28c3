// Package seam says what derivation asks of the store of an index, and the types of it that only the two share.
package seam

import (
	"context"
	"time"

	"kioku/memory"
)

// Store keeps what is derived. *store.Derived implements it.
type Store interface {
	// UncutFiles returns the paths of at most limit indexed files that were not cut into episodes by the rules with this
	// fingerprint, the newest first.
	UncutFiles(ctx context.Context, fingerprint string, limit int) ([]string, error)
	// PutEpisodes replaces the episodes of a file, as a sync does, unless the index has another content of it; then it does
	// nothing and returns false. Episodes with the same UID keep their claims.
	PutEpisodes(ctx context.Context, file memory.SourceFile, fingerprint string, episodes []memory.Episode) (bool, error)
	// PendingEpisodes returns at most limit episodes without claims by rules of this version, file by file, oldest first.
	PendingEpisodes(ctx context.Context, rules int, limit int) ([]memory.Episode, error)
	// PutClaims replaces the mentions and claims of one class of makers ("rule" or "model") of episodes in one transaction. Episodes
	// whose text is not what the batch was made from are left as they are; their UIDs are returned.
	PutClaims(ctx context.Context, class string, version int, batch []EpisodeClaims) (stale []string, err error)
	// ResolveDirty makes the units of at most limit slots anew whose claims or decisions have changed, each with resolve, and
	// returns how many slots were left to do before it. It writes a version only of units that have changed.
	ResolveDirty(ctx context.Context, limit int, now time.Time, resolve func(Slot) []memory.Unit) (int, error)
	// MakeAnew has all slots made anew, unless they were made by the rules of resolution with this fingerprint.
	MakeAnew(ctx context.Context, fingerprint string) error

	// Units returns the units that a query selects.
	Units(ctx context.Context, q memory.UnitQuery) (memory.UnitList, error)
	// MatchUnits returns the units of q that share analysed terms with a query, best BM25 first, with scores in [0,1] relative to the best.
	MatchUnits(ctx context.Context, terms []string, q memory.UnitQuery) ([]ScoredUnit, error)
	// History returns the versions of a unit, newest first; none if it is not known.
	History(ctx context.Context, uid string) ([]memory.Version, error)
	// Episodes returns episodes by UID; unknown ones are left out.
	Episodes(ctx context.Context, uids ...string) ([]memory.Episode, error)
	// SensitiveAt returns the episodes above a sensitivity that overlap one of some runs of lines, by their places.
	SensitiveAt(ctx context.Context, above memory.Sensitivity, places []Lines) ([]memory.Episode, error)
	// EpisodesBetween returns the episodes that occurred in [from, to), by salience and then time, at most limit.
	EpisodesBetween(ctx context.Context, from, to time.Time, limit int) ([]memory.Episode, error)
	// NewestEpisode returns when the newest episode before a time occurred, the zero time if there is none.
	NewestEpisode(ctx context.Context, before time.Time) (time.Time, error)
	// EpisodesOf returns the newest episodes that mention an entity.
	EpisodesOf(ctx context.Context, entity string, limit int) ([]memory.Episode, error)
	// Entities returns entities: those with one of the given norms or UIDs (or beginnings of UIDs), or all of a type ("" = all
	// types), most mentioned first.
	Entities(ctx context.Context, q EntityQuery) ([]memory.Entity, error)
	// PutSummary writes a summary with the episodes that it was made from, if it differs from the one before.
	PutSummary(ctx context.Context, u memory.Unit, episodes []string, reason string) error
	// RaiseSummary gives a summary and what it said before at least this sensitivity, until it is written anew.
	RaiseSummary(ctx context.Context, uid string, to memory.Sensitivity) error
	// Expire archives the open loops that expire before now and returns how many.
	Expire(ctx context.Context, now time.Time) (int, error)

	// PutDecisions mirrors decisions.md: all decisions that hold now. What has changed is made anew. What is forgotten is purged:
	// rows, versions, quotes, and answers of models about those episodes.
	PutDecisions(ctx context.Context, decisions []memory.Decision) error

	// Enqueue adds a job unless one of its kind and key is queued or running, or was done with the same input.
	Enqueue(ctx context.Context, j Job) error
	// Claim returns expired leases to the queue and takes the first due job, nil if there is none. With waiting it also takes one that
	// is not due, after those that are.
	Claim(ctx context.Context, owner string, now time.Time, lease time.Duration, waiting bool) (*Job, error)
	// Renew extends a lease; it returns false if the job is no longer the owner's.
	Renew(ctx context.Context, id int64, owner string, until time.Time) (bool, error)
	// Finish ends or requeues a job: its Status, RunAfter, Tries, ErrorClass, LastError and tokens are written.
	Finish(ctx context.Context, j Job) error
	// Jobs returns jobs with a status ("" = all), newest first, at most limit.
	Jobs(ctx context.Context, status string, limit int) ([]Job, error)
	// RetryJobs puts parked jobs back into the queue: one, or all if id is 0. It returns how many.
	RetryJobs(ctx context.Context, id int64) (int, error)
	// Unextracted returns episodes that no model with this contract and name has read, settled before a time and since another
	// one, oldest first, at most limit.
	Unextracted(ctx context.Context, version string, since, settledBefore time.Time, limit int) ([]memory.Episode, error)

	// CachedAnswer returns the answer of a model to an exact input, "" if it is not known.
	CachedAnswer(ctx context.Context, contract, model string, input [32]byte) (string, error)
	// PutAnswer caches an answer. episodes are the UIDs that it is about, for purging.
	PutAnswer(ctx context.Context, contract, model string, input [32]byte, answer string, episodes []string, tokensIn, tokensOut int) error
	// Reserve reserves tokens of a day's budget, which all processes share; it returns false if they exceed maxTokens, or the calls
	// of this hour exceed maxCalls.
	Reserve(ctx context.Context, now time.Time, model, purpose string, tokens, maxTokens, maxCalls int) (bool, error)
	// Settle replaces a reservation by what was used.
	Settle(ctx context.Context, now time.Time, model, purpose string, reserved, tokensIn, tokensOut int) error
	// CountDropped adds to the counts of items of models that were rejected, by reason.
	CountDropped(ctx context.Context, counts map[string]int) error
	// Stats returns the totals.
	Stats(ctx context.Context, now time.Time) (Stats, error)
}

// Lines are lines of a file of the index, from the first to the last one, from 1.
type Lines struct {
	// Path of the file.
	Path string `json:"path"`
	// From is the first line.
	From int `json:"from"`
	// To is the last line.
	To int `json:"to"`
}

// EpisodeClaims are the mentions and claims of one episode.
type EpisodeClaims struct {
	// Episode whose text they were made from, by UID and TextSHA256.
	Episode memory.Episode
	// Maker is "rule", or the contract and the model as in memory.Claim. An episode counts as read by it even if nothing was found.
	Maker string
	// Reflection is what a model thinks of the episode: a JSON object with its "salience" in [0,1]; empty if it was not asked.
	Reflection string
	// Mentions of entities.
	Mentions []memory.Mention
	// Claims with lines relative to the episode.
	Claims []memory.Claim
}

// Slot is what units are made from: all claims that meet in it, and the decisions about it.
type Slot struct {
	// Kind is memory.KindFact or memory.KindLoop.
	Kind string
	// Subject of facts, canonical after merges; the zero value for loops.
	Subject memory.EntityRef
	// Name is the slot of the predicate for facts, and the key of a loop.
	Name string
	// Claims in no order that means anything.
	Claims []memory.Claim
	// Decisions about the units and keys of the slot, in the order of decisions.md.
	Decisions []memory.Decision
	// Now is the time of the resolution.
	Now time.Time
}

// ScoredUnit is a unit that matches a query.
type ScoredUnit struct {
	memory.Unit
	// Score in [0,1], relative to the best match.
	Score float64
}

// EntityQuery asks for entities.
type EntityQuery struct {
	// Norms of names and aliases (vocab.Norm).
	Norms []string
	// UIDs or their beginnings.
	UIDs []string
	// Type of the entities; empty means all.
	Type string
	// Limit is the maximum number; 0 means 100.
	Limit int
	// MaxSensitivity is the ceiling of the episodes that mention them, and that have their names.
	MaxSensitivity memory.Sensitivity
	// Relations says that the relations of the entities are wanted too.
	Relations bool
}

// Statuses of jobs.
const (
	JobQueued  = "queued"
	JobRunning = "running"
	JobDone    = "done"
	JobParked  = "parked"
	JobDropped = "dropped"
)

// Job is a task for the worker that asks a model.
type Job struct {
	// ID of the job, 0 before it is enqueued.
	ID int64
	// Kind is "extract", "summary" ...; Key tells jobs of a kind apart, of which one is live at a time.
	Kind, Key string
	// Input is JSON.
	Input string
	// InputSHA256 is the hash of what the answer depends on.
	InputSHA256 [32]byte
	// Status is one of the constants Job....
	Status string
	// Priority, lower first; then OrderAt, then ID.
	Priority int
	// RunAfter is when it is due, OrderAt its place among due ones, LeaseUntil when its lease ends.
	RunAfter, OrderAt, LeaseUntil time.Time
	// Owner of the lease.
	Owner string
	// Tries is how often it was claimed.
	Tries int
	// ErrorClass ("contract", "refused", "crash_loop" ...) and LastError, with the raw answer, bounded and without secrets.
	ErrorClass, LastError string
	// TokensIn and TokensOut that it has used.
	TokensIn, TokensOut int
	// CreatedAt and UpdatedAt.
	CreatedAt, UpdatedAt time.Time
}

// Stats are the totals of what is derived.
type Stats struct {
	// Episodes in the index; Pending have no claims by rule yet, Uncut counts files that are not cut into episodes.
	Episodes, Pending, Uncut int
	// Secret and Private episodes among them.
	Secret, Private int
	// Units by kind and state ("fact/validated").
	Units map[string]int
	// Entities by type.
	Entities map[string]int
	// DirtySlots wait for their units.
	DirtySlots int
	// Jobs by status.
	Jobs map[string]int
	// Oldest is when the oldest queued job was made.
	Oldest time.Time
	// TokensToday and CallsToday of all models, CallsThisHour, and CachedAnswers.
	TokensToday, CallsToday, CallsThisHour, CachedAnswers int
	// Dropped counts items of models that were rejected, by reason.
	Dropped map[string]int
}
