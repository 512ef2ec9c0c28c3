package llm

import (
	"context"
	"errors"
	"sync"
	"time"

	"kioku/internal/modelhttp"
)

// Sources of a window.
const (
	WindowSet    = "set"                // by the settings
	WindowTold   = "told by the server" // of the model as it runs
	WindowKnown  = "known by name"
	WindowLearnt = "learnt" // from a request that was refused as too long
)

// WindowSource says where Window of m comes from: one of the constants, or empty if the window is unknown.
func WindowSource(m Model) string {
	if s, ok := m.(interface{ WindowSource() string }); ok {
		return s.WindowSource()
	}
	if m.Window() > 0 {
		return WindowSet
	}
	return ""
}

const (
	// askTimeout bounds all requests that ask a server for the window of its model.
	askTimeout = 2 * time.Second
	// askAgainFirst and askAgainLongest are the pauses after a server did not answer.
	askAgainFirst, askAgainLongest = time.Minute, time.Hour
	// guessHolds is how long a guess holds: whatever the server meant, it does not keep the window small for ever.
	guessHolds = time.Hour
	// minLearnt is the smallest window in tokens that a refusal can teach.
	minLearnt = 512
	// minSample is the estimated size in tokens from which a request tells the factor of a tokenizer. In a shorter one the
	// server's own frame counts too much.
	minSample = 500
	// maxFactor is the largest factor of a tokenizer.
	maxFactor = 4
	// riseWeight and fallWeight are how much one answer moves the factor: up quickly, since too large a window loses a request,
	// and down slowly.
	riseWeight, fallWeight = 0.5, 0.1
)

// errNotLoaded is returned by a server that tells the window of its model only after it has loaded it.
var errNotLoaded = errors.New("the model is not loaded yet")

// window is what is known of the window of a model. It is safe for concurrent use.
type window struct {
	// set and known are the windows of the settings and of the model's name, 0 if there is none.
	set, known int
	// ask asks the server. It returns 0 and no error if the server does not say. nil if there is no server to ask.
	ask func(context.Context) (int, error)
	// now is the clock.
	now func() time.Time

	asking sync.Mutex // held by the caller that asks the server
	mu     sync.Mutex // guards the fields below

	told     int       // by the server, 0 if it did not say
	askAt    time.Time // when the server may be asked again
	askPause time.Duration
	answered bool // the server has answered ask
	unloaded bool // the server tells the window once it has answered a request

	limit int // the number in a refusal, in the tokens of the model; 0 if none has said one
	guess int // the window after a refusal without a useful number, in estimated tokens; 0 if there was none
	// guessUntil is when the guess ends.
	guessUntil time.Time
	above      float64 // how much larger than 1 the factor of the tokenizer is
}

func newWindow(set, known int, now func() time.Time) *window {
	return &window{set: set, known: known, now: now}
}

// tokens returns the window in estimated tokens and its source: 0 and "" if it is not known.
func (w *window) tokens() (int, string) {
	w.askServer()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.estimated()
}

// model returns the window in the tokens of the model, as far as settings, server and name tell it.
func (w *window) model() int {
	w.askServer()
	w.mu.Lock()
	defer w.mu.Unlock()
	tokens, _ := w.nominal()
	return tokens
}

// nominal is the window in the tokens of the model before anything was learnt. The caller holds mu.
func (w *window) nominal() (int, string) {
	switch {
	case w.set > 0:
		return w.set, WindowSet
	case w.told > 0:
		return w.told, WindowTold
	case w.known > 0:
		return w.known, WindowKnown
	}
	return 0, ""
}

// estimated is the window in estimated tokens. What was learnt only makes it smaller. The caller holds mu.
func (w *window) estimated() (int, string) {
	tokens, source := w.nominal()
	if w.limit > 0 && (tokens == 0 || w.limit < tokens) {
		tokens, source = w.limit, WindowLearnt
	}
	tokens = int(float64(tokens) / (1 + w.above))
	if w.guess > 0 && w.now().Before(w.guessUntil) && (tokens == 0 || w.guess < tokens) {
		tokens, source = w.guess, WindowLearnt
	}
	return tokens, source
}

// askServer asks the server for the window, once, unless it is set. While the server does not answer, it is asked again after
// a pause.
func (w *window) askServer() {
	if w.set > 0 || w.ask == nil {
		return
	}
	w.asking.Lock()
	defer w.asking.Unlock()
	if !w.mayAsk() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	told, err := w.ask(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.told, w.answered = told, true
		return
	}
	w.unloaded = errors.Is(err, errNotLoaded)
	w.askPause = min(max(2*w.askPause, askAgainFirst), askAgainLongest)
	w.askAt = w.now().Add(w.askPause)
}

func (w *window) mayAsk() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.answered && !w.now().Before(w.askAt)
}

// learnAnswer takes the usage of an answered request of an estimated number of tokens. A server that has loaded its model for
// the request may be asked again.
func (w *window) learnAnswer(estimate int, used Usage, images bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unloaded {
		w.askAt = time.Time{}
	}
	if estimate < minSample || used.Prompt() == 0 || images {
		return
	}
	sample := factorAbove(used.Prompt(), estimate)
	weight := fallWeight
	if sample > w.above {
		weight = riseWeight
	}
	w.above += (sample - w.above) * weight
}

// learnRefusal takes the refusal of a request as too long, with the estimated tokens of its prompt and the number of tokens
// that its answer could have. After it, the window is smaller than the request.
func (w *window) learnRefusal(prompt, answer int, said modelhttp.TokenCount) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if said.Limit >= minLearnt {
		w.limit, w.guess = said.Limit, 0
	}
	if prompt >= minSample && said.Asked > 0 {
		w.above = max(w.above, factorAbove(said.Asked, prompt))
	}
	if now, _ := w.estimated(); now == 0 || now >= prompt+answer {
		w.guess, w.guessUntil = max((prompt+answer)*4/5, minLearnt), w.now().Add(guessHolds)
	}
}

// factorAbove returns how much larger than 1 the model's count of a text is than the estimate, within the bounds.
func factorAbove(counted, estimate int) float64 {
	return min(max(float64(counted)/float64(estimate), 1), maxFactor) - 1
}
