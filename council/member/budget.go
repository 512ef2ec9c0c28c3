package member

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"time"

	"kioku/council"
	"kioku/internal/records"
	"kioku/llm"
)

// ErrBudget reports that a call was not made because it might cost more tokens than are left.
var ErrBudget = errors.New("the budget is used up")

// Files of a budget, below the folder of the council.
const (
	metricsFolder = "host_metrics"
	usageFile     = metricsFolder + "/token_usage.jsonl"
	reservedFile  = metricsFolder + "/reserved.jsonl"
	oldSuffix     = ".1"
	// maxMetrics is the size in bytes from which on a file is put aside; the one before it is given up.
	maxMetrics = 10 << 20
)

// Budget bounds the tokens of a task and of a day. A call is reserved on the disk before it is made, so that a process that dies in a
// call still has paid for it. Its methods may be called concurrently.
type Budget struct {
	set  council.Settings
	root *os.Root
	now  func() time.Time

	mu       sync.Mutex // guards what follows, and the files
	tasks    map[string]council.Usage
	reserved map[string]reservation // calls under way, by id
	day      string
	today    council.Usage // of day
}

// reservation is a line of reserved.jsonl.
type reservation struct {
	ID     string    `json:"call_id"`
	Time   time.Time `json:"timestamp"`
	Node   string    `json:"node"`
	Task   string    `json:"task_id"`
	Tokens int       `json:"tokens"`
}

// usageLine is a line of token_usage.jsonl.
type usageLine struct {
	ID         string    `json:"call_id"`
	Time       time.Time `json:"timestamp"`
	Node       string    `json:"node"`
	Task       string    `json:"task_id"`
	Model      string    `json:"model"`
	Input      int       `json:"input_tokens"`
	Output     int       `json:"output_tokens"`
	CacheRead  int       `json:"cache_read_tokens"`
	CacheWrite int       `json:"cache_creation_tokens"`
	Cost       float64   `json:"cost,omitempty"` // in US dollars
	CallType   string    `json:"call_type"`
}

// usage returns what a call has cost.
func (l usageLine) usage() council.Usage {
	return council.Usage{Calls: 1, TokensIn: l.Input + l.CacheRead + l.CacheWrite, TokensOut: l.Output, Cost: l.Cost}
}

// OpenBudget returns the budget of a council with what was spent before. root is the folder of the council. now is the clock; nil means
// time.Now. A call that was reserved and never finished counts as spent.
func OpenBudget(root *os.Root, s council.Settings, now func() time.Time) (*Budget, error) {
	if now == nil {
		now = time.Now
	}
	b := &Budget{root: root, now: now, set: s.WithDefaults(),
		tasks: map[string]council.Usage{}, reserved: map[string]reservation{}}
	return b, b.load()
}

// load reads the files.
func (b *Budget) load() error {
	b.startDay()
	done := map[string]bool{}
	used, err := readBoth[usageLine](b.root, usageFile)
	if err != nil {
		return err
	}
	for _, l := range used {
		done[l.ID] = true
		b.count(l.Task, l.Time, l.usage())
	}
	reserved, err := readBoth[reservation](b.root, reservedFile)
	for _, r := range reserved {
		if !done[r.ID] {
			b.count(r.Task, r.Time, council.Usage{Calls: 1, TokensIn: r.Tokens})
		}
	}
	return err
}

// readBoth returns the lines of a file and of the one that was put aside.
func readBoth[T any](root *os.Root, name string) ([]T, error) {
	old, err := records.ReadLines[T](root, name+oldSuffix, math.MaxInt)
	now, err2 := records.ReadLines[T](root, name, math.MaxInt)
	return append(old, now...), errors.Join(err, err2)
}

// count adds to what was spent. The caller holds b.mu or is the only one.
func (b *Budget) count(task string, at time.Time, u council.Usage) {
	b.tasks[task] = b.tasks[task].Plus(u)
	if at.UTC().Format(time.DateOnly) == b.day {
		b.today = b.today.Plus(u)
	}
}

// startDay resets the count of a day after midnight UTC. The caller holds b.mu.
func (b *Budget) startDay() {
	if day := b.now().UTC().Format(time.DateOnly); day != b.day {
		b.day, b.today = day, council.Usage{}
	}
}

// Today returns what the calendar day in UTC has cost, with the tokens that are reserved.
func (b *Budget) Today() council.Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.startDay()
	return b.today.Plus(council.Usage{TokensIn: b.underWay("")})
}

// underWay returns the tokens reserved for a task, or for all with "". The caller holds b.mu.
func (b *Budget) underWay(task string) (tokens int) {
	for _, r := range b.reserved {
		if task == "" || r.Task == task {
			tokens += r.Tokens
		}
	}
	return tokens
}

// reserve reserves tokens for a call and returns its id. It returns an error that wraps ErrBudget if they are not left.
func (b *Budget) reserve(node, task string, tokens int) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.startDay()
	u := b.tasks[task]
	if spent := u.TokensIn + u.TokensOut + b.underWay(task); task != "" && spent+tokens > b.set.MaxTokensPerTask {
		return "", fmt.Errorf("%w: the task has %d of %d tokens left and the call may take %d; raise maxTokensPerTask to go on", ErrBudget, max(b.set.MaxTokensPerTask-spent, 0), b.set.MaxTokensPerTask, tokens)
	}
	if spent := b.today.TokensIn + b.today.TokensOut + b.underWay(""); spent+tokens > b.set.MaxTokensPerDay {
		return "", fmt.Errorf("%w: the day has %d of %d tokens left and the call may take %d; wait for tomorrow (UTC) or raise maxTokensPerDay", ErrBudget, max(b.set.MaxTokensPerDay-spent, 0), b.set.MaxTokensPerDay, tokens)
	}
	r := reservation{ID: rand.Text()[:16], Time: b.now().UTC(), Node: node, Task: task, Tokens: tokens}
	if err := b.appendLine(reservedFile, r); err != nil {
		return "", err
	}
	b.reserved[r.ID] = r
	return r.ID, nil
}

// cost returns what tokens of a model cost in US dollars; 0 without a price.
func (b *Budget) cost(model string, u llm.Usage) float64 {
	p, _ := b.set.PriceOf(model)
	return llm.Prices(p).Cost(u)
}

// settle replaces a reservation by what the call has cost.
func (b *Budget) settle(l usageLine) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.startDay()
	delete(b.reserved, l.ID)
	l.Time = b.now().UTC()
	b.count(l.Task, l.Time, l.usage())
	return b.appendLine(usageFile, l)
}

// appendLine appends a line of JSON to a file. The caller holds b.mu.
func (b *Budget) appendLine(name string, v any) error {
	return records.Lines{Root: b.root, Name: name, Max: maxMetrics, Aside: name + oldSuffix, Flush: true}.Append(v)
}
