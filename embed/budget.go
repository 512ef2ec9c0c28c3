package embed

import (
	"fmt"
	"sync"
	"time"

	"kioku/internal/text"
)

// queryShare is the part of a day's tokens that only queries may use, so that indexing does not end searching.
const queryShare = 10

// budget bounds the tokens that are sent in a day. It is safe for concurrent use.
type budget struct {
	perDay int // 0 means no bound
	now    func() time.Time

	mu   sync.Mutex // guards the fields below
	day  string
	sent int // estimated tokens of that day
}

// limit returns how many tokens a day texts of a kind may use.
func (b *budget) limit(kind textKind) int {
	if kind == query {
		return b.perDay
	}
	return b.perDay - b.perDay/queryShare
}

// left returns how many tokens texts of a kind may still use today, and whether there is a bound.
func (b *budget) left(kind textKind) (tokens int, bounded bool) {
	if b.perDay == 0 {
		return 0, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.startDay()
	return max(b.limit(kind)-b.sent, 0), true
}

// spend counts a request for texts, or returns an error and counts nothing if the tokens of the day are used up.
func (b *budget) spend(kind textKind, texts []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.startDay()
	if b.perDay > 0 && b.sent >= b.limit(kind) {
		return b.err()
	}
	b.sent += tokensOf(texts)
	return nil
}

// tokensOf returns about how many tokens texts have.
func tokensOf(texts []string) int {
	n := 0
	for _, t := range texts {
		n += text.EstimateTokens(t)
	}
	return n
}

// health returns the state of the budget, as Client.Health does.
func (b *budget) health() Health {
	if left, bounded := b.left(document); !bounded || left > 0 {
		return Health{Healthy: true}
	}
	y, m, d := b.now().Date()
	return Health{Err: b.err(), RetryAt: time.Date(y, m, d+1, 0, 0, 0, 0, b.now().Location())}
}

func (b *budget) err() error {
	return fmt.Errorf("the budget of %d tokens a day is used up (maxTokensPerDay): texts are sent again after midnight", b.perDay)
}

// startDay resets the count after midnight. The caller holds mu.
func (b *budget) startDay() {
	if day := b.now().Format(time.DateOnly); day != b.day {
		b.day, b.sent = day, 0
	}
}
