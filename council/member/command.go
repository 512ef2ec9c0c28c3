package member

import (
	"context"

	"kioku/agent/program"
	"kioku/council"
	"kioku/llm"
)

// Program returns how the program of a member is started; it has no command for a member without one. The error is an *InputError for a
// preset that does not exist, or does not fit the other settings.
func Program(m council.Member) (program.Agent, error) {
	if m.Preset == "" {
		return program.Agent{Command: m.Command, Env: m.Env, Output: m.Output, Reads: m.Reads}, nil
	}
	return program.ByName(m.Preset, program.Options{Model: m.Model, Reads: m.Reads, Args: m.Args, Env: m.Env})
}

// commandSpeaker asks an external program.
type commandSpeaker struct {
	program.Agent
	name string // of the model
}

func (s commandSpeaker) model() string { return s.name }
func (s commandSpeaker) window() int   { return 0 }
func (s commandSpeaker) remote() bool  { return false }

// speak implements speaker.
func (s commandSpeaker) speak(ctx context.Context, q Question, req llm.Request) (llm.Response, error) {
	return s.Ask(ctx, req, q.Call)
}

// Remedy says what a person can do about an error of Ask; empty if the error says it itself.
func Remedy(m council.Member, err error) string {
	a, _ := Program(m) // of a member that was asked
	switch KindOf(err) {
	case council.AbstainTimeout:
		return "raise timeouts.turn of council.yaml, or give the member a faster model"
	case council.AbstainMalformed:
		if len(m.Command) > 0 {
			return "run it by hand on a short text and set output to the field of its JSON that has the reply; its replies are in logs/" + m.Name
		}
		return "a larger model keeps the contract better; its replies are in logs/" + m.Name
	case council.AbstainRecused:
		return "read logs/" + m.Name + "; the persona or the mission may read like something that the provider refuses"
	case council.AbstainBudget:
		return ""
	}
	if len(a.Command) > 0 {
		return "run " + a.Command[0] + " by hand as the user of the daemon: is it logged in, and does env name the variables that it needs?"
	}
	return "kioku doctor says whether the model of the settings answers; check the name of the model, its key and its base URL"
}
