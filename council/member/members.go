package member

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"kioku/agent/program"
	"kioku/agent/prompt"
	"kioku/council"
	"kioku/internal/text"
	"kioku/llm"
	"kioku/llm/ask"
	"kioku/llm/echo"
	"kioku/memory"
)

// maxTries is how often a member is asked at most: once more if its reply breaks the contract.
const maxTries = 2

// Options of Members.
type Options struct {
	// Settings of the council.
	Settings council.Settings
	// Model returns the model of a name that is neither council.ModelEcho nor council.ModelRemote. It is called once for each member.
	Model func(name string) (llm.Model, error)
	// Budget bounds tokens; nil bounds none.
	Budget *Budget
	// Logs gets a line for each turn, and replies that break the contract; nil writes none.
	Logs *Logs
	// Key makes frames and letters unpredictable; nil is a random one.
	Key []byte
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Members asks the members of a council by their models, their commands or the desk. It implements Asker.
type Members struct {
	budget *Budget
	logs   *Logs
	key    []byte
	desk   *Desk
	seats  map[string]seat
}

// seat is how a member is asked.
type seat struct {
	speaker
	family string
	// looksUp says that the member may have tools, and alone that it calls them within one call.
	looksUp, alone bool
}

// speaker gets the reply to a prompt.
type speaker interface {
	// speak returns the reply to a request. The response beside an error contains the usage as far as it is known.
	speak(ctx context.Context, q Question, req llm.Request) (llm.Response, error)
	// model returns the name of the model.
	model() string
	// window returns the number of tokens of a prompt with its reply; 0 if that is not known.
	window() int
	// remote reports whether the member runs elsewhere and is told at once what is wrong with a reply.
	remote() bool
}

// New returns the members that the settings describe. The error is an *InputError for a member that cannot be asked.
func New(o Options) (*Members, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Key == nil {
		o.Key = []byte(rand.Text())
	}
	m := &Members{budget: o.Budget, logs: o.Logs, key: o.Key, desk: newDesk(o.Now), seats: map[string]seat{}}
	for _, c := range o.Settings.Members {
		s, err := m.seat(c, o.Model)
		if err != nil {
			return nil, &memory.InputError{Field: "members." + c.Name, Problem: err.Error()}
		}
		m.seats[c.Name] = s
	}
	return m, nil
}

// seat returns how a member is asked.
func (m *Members) seat(c council.Member, model func(string) (llm.Model, error)) (seat, error) {
	switch {
	case c.External():
		a, err := Program(c)
		return seat{commandSpeaker{a, c.ModelName()}, c.Family(), a.TakesTools(), true}, err
	case c.Model == council.ModelEcho:
		return seat{speaker: &modelSpeaker{&echo.Model{}}, family: council.ModelEcho}, nil
	case c.Remote():
		return seat{deskSpeaker{m.desk, c.ModelName()}, c.Family(), true, true}, nil
	case model == nil:
		return seat{}, fmt.Errorf("the model %q is not available: set it to %q or %q, or configure a model", c.Model, council.ModelEcho, council.ModelRemote)
	}
	got, err := model(c.Model)
	if err != nil {
		return seat{}, err
	}
	return seat{&modelSpeaker{got}, council.FamilyOf(got.Name()), true, false}, nil
}

// Family returns the family of the model of a member, council.UnknownFamily for a member that is none of the council.
func (m *Members) Family(member string) string {
	if s, known := m.seats[member]; known {
		return s.family
	}
	return council.UnknownFamily
}

// Today returns what the day has cost; known is false without a budget.
func (m *Members) Today() (spent council.Usage, known bool) {
	if m.budget == nil {
		return spent, false
	}
	return m.budget.Today(), true
}

// Desk returns the desk at which members elsewhere fetch their turns.
func (m *Members) Desk() *Desk { return m.desk }

// Ask implements Asker. A question that nobody can be asked is an *InputError. A reply that breaks the contract is given back once,
// with what is wrong with it.
func (m *Members) Ask(ctx context.Context, q Question) (reply Reply, err error) {
	if err := q.check(); err != nil {
		return Reply{}, err
	}
	s, known := m.seats[q.Member]
	if !known {
		return Reply{}, &memory.InputError{Field: "member", Problem: fmt.Sprintf("%.60q is no member of the council", q.Member)}
	}
	t := turn{Members: m, q: q, seat: s}
	t.cost.Model, t.cost.Family = s.model(), s.family
	defer func() {
		if p := recover(); p != nil {
			reply, err = t.cost, &Abstention{Kind: council.AbstainError, Reason: fmt.Sprintf("the model has crashed: %v", p)}
		}
		t.logEnd(err)
	}()
	return t.run(ctx)
}

// Speak returns what a member says to a request, as it is. A program calls the tools of the request by call.
func (m *Members) Speak(ctx context.Context, member string, req llm.Request, call program.Call) (llm.Response, error) {
	s := m.seats[member]
	if !s.looksUp || !s.alone {
		req.Tools = nil
	}
	return s.speak(ctx, Question{Member: member, Call: call}, req)
}

// turn is one question to one member.
type turn struct {
	*Members
	q    Question
	seat seat
	cost Reply      // what the turn has cost
	mu   sync.Mutex // guards lookups
	// lookups are the results of tools so far, as the member got them; "" for a call that was not made.
	lookups []string
}

// run asks until a reply keeps the contract.
func (t *turn) run(ctx context.Context) (reply Reply, err error) {
	t.q.Tools = t.offered()
	first := Assemble(t.q, t.key, t.seat.window())
	t.cost.PromptSHA256 = first.SHA256()
	q := ask.Question{Request: first.request(t.q), Call: t.exchange, Before: t.countTry, Broken: t.logBroken, Shown: prompt.EscapeHidden, Tries: maxTries}
	if t.seat.remote() {
		q.Tries = 1 // it was told at once
	}
	q.Read = func(resp llm.Response) error {
		if resp.Stop == llm.StopLength {
			return errCut
		}
		if reply, err = Parse(t.q, resp.Message.Text); err == nil {
			if more := ask.Further(resp.Message.Text, t.q.fields()); len(more) > 0 {
				t.log(LevelInfo, "the reply has further fields, which do not count: "+text.Shorten(prompt.EscapeHidden(strings.Join(more, ", ")), maxItem))
			}
		}
		return err
	}
	err = ask.Ask(ctx, q)
	if invalid, ok := errors.AsType[*ask.InvalidError](err); ok {
		return t.cost, &Abstention{Kind: council.AbstainMalformed, Reason: text.Shorten(text.OneLine(invalid.Error()), maxItem), Err: invalid.Err}
	}
	if err != nil {
		return t.cost, err
	}
	return t.complete(reply), nil
}

// countTry tells the caller that a try follows.
func (t *turn) countTry() error {
	if t.q.Counting == nil {
		return nil
	}
	if err := t.q.Counting(); err != nil {
		return &Abstention{Kind: council.AbstainError, Reason: "the call could not be counted: " + err.Error(), Err: err}
	}
	return nil
}

// logBroken writes down a reply that breaks the contract.
func (t *turn) logBroken(said string, wrong error) {
	t.log(LevelWarn, fmt.Sprintf("the reply breaks the contract: %v\n%s", wrong, said))
}

// call makes one call within the budget.
func (t *turn) call(ctx context.Context, req llm.Request) (llm.Response, error) {
	resp, err := ask.Call(ctx, t, req, func(ctx context.Context, req llm.Request) (llm.Response, error) {
		t.cost.Calls++
		q := t.q
		q.Call = t.lookUp // for a program, which calls tools by itself
		return t.seat.speak(ctx, q, req)
	})
	switch {
	case err != nil:
		return llm.Response{}, abstention(ctx, err)
	case resp.Stop == llm.StopRefusal:
		return llm.Response{}, &Abstention{Kind: council.AbstainRecused, Reason: "the model or its provider has declined to answer"}
	}
	return resp, nil
}

// Reserve implements ask.Ledger.
func (t *turn) Reserve(tokens int) (string, error) {
	if t.budget == nil {
		return "", nil
	}
	return t.budget.reserve(t.q.Member, t.q.Task.ID, tokens)
}

// Settle implements ask.Ledger. What a member elsewhere tells counts up to the tokens of a task, so that it cannot use up the day.
func (t *turn) Settle(id string, reserved int, u llm.Usage) {
	if t.seat.remote() && t.budget != nil {
		left := max(reserved, t.budget.set.MaxTokensPerTask)
		for _, n := range []*int{&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output} {
			*n = min(*n, left)
			left -= *n
		}
	}
	line := usageLine{ID: id, Node: t.q.Member, Task: t.q.Task.ID, Model: t.seat.model(), Input: u.Input, Output: u.Output, CacheRead: u.CacheRead,
		CacheWrite: u.CacheWrite, CallType: t.q.Phase}
	if line.Cost = u.Dollars; line.Cost == 0 && t.budget != nil {
		line.Cost = t.budget.cost(line.Model, u)
	}
	t.cost.Usage = t.cost.Usage.Plus(line.usage())
	if id == "" {
		return
	}
	if err := t.budget.settle(line); err != nil {
		t.log(LevelError, "the cost of a call could not be stored: "+err.Error())
	}
}

// complete returns a reply with what the turn has cost.
func (t *turn) complete(r Reply) Reply {
	r.Model, r.Family, r.Calls, r.Usage, r.PromptSHA256 = t.cost.Model, t.cost.Family, t.cost.Calls, t.cost.Usage, t.cost.PromptSHA256
	if r.Ballot != nil {
		r.Ballot.Model, r.Ballot.Usage, r.Ballot.PromptSHA256 = r.Model, r.Usage, r.PromptSHA256
	}
	if r.Arbitration != nil {
		r.Arbitration.Usage = r.Usage
	}
	return r
}

// abstention returns what an error of a call means: nothing about the member if the caller gives up, otherwise an abstention.
func abstention(ctx context.Context, err error) error {
	kind := council.AbstainError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case ctx.Err() != nil:
		kind = council.AbstainTimeout
	case errors.Is(err, ErrBudget), llm.KindOf(err) == llm.KindBudget:
		kind = council.AbstainBudget
	case llm.KindOf(err) == llm.KindAnswer:
		kind = council.AbstainMalformed
	}
	return &Abstention{Kind: kind, Reason: text.Shorten(text.OneLine(err.Error()), maxItem), Err: err}
}

func (t *turn) log(level, message string) {
	// A log that cannot be written is no reason to give up a turn.
	_ = t.logs.Write(t.q.Member, council.LogLine{Level: level, Task: t.q.Task.ID, Phase: t.q.Phase, Text: message})
}

// logEnd writes how the turn has ended.
func (t *turn) logEnd(err error) {
	switch {
	case err == nil:
		t.log(LevelInfo, fmt.Sprintf("has answered; calls %d, tokens in %d, out %d", t.cost.Calls, t.cost.Usage.TokensIn, t.cost.Usage.TokensOut))
	case KindOf(err) != "":
		t.log(LevelWarn, err.Error())
	}
}

// modelSpeaker asks a language model.
type modelSpeaker struct{ llm llm.Model }

func (s *modelSpeaker) model() string { return s.llm.Name() }
func (s *modelSpeaker) window() int   { return s.llm.Window() }
func (s *modelSpeaker) remote() bool  { return false }

// speak implements speaker.
func (s *modelSpeaker) speak(ctx context.Context, _ Question, req llm.Request) (llm.Response, error) {
	return s.llm.Generate(ctx, req, nil)
}
