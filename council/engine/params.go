package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"kioku/council"
	"kioku/council/folder"
	"kioku/council/member"
	"kioku/internal/records"
)

func paramsPath(name string) string { return fmt.Sprintf("%s/%s/params.json", folder.Nodes, name) }
func historyPath(name string) string {
	return fmt.Sprintf("%s/%s/params_history.jsonl", folder.Nodes, name)
}

// file reads the parameters of a member, and everything else that its file contains.
func (e *Engine) file(name string) (params council.Params, rest map[string]json.RawMessage, err error) {
	data, err := e.f.ReadBytes(paramsPath(name), 64<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return council.Params{}, map[string]json.RawMessage{}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return readParams(paramsPath(name), data)
}

// readParams reads the text of a file of parameters.
func readParams(rel string, data []byte) (params council.Params, rest map[string]json.RawMessage, err error) {
	rest = map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &rest); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", rel, err)
	}
	params = council.Params{}
	for _, key := range council.ParamNames {
		raw, ok := rest[key]
		if !ok {
			continue
		}
		var v float64
		if err := json.Unmarshal(raw, &v); err != nil || string(raw) == "null" {
			return nil, nil, fmt.Errorf("%s: %s is not a number", rel, key)
		}
		params[key] = v
		delete(rest, key)
	}
	if err := council.CheckParams(params); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", rel, err)
	}
	return params, rest, nil
}

// params returns the parameters of a member, 0.5 for those that are missing. If its file is bad, it returns the last good ones together
// with the error.
func (e *Engine) params(name string) (council.Params, error) {
	p, _, err := e.file(name)
	e.paramsMu.Lock()
	defer e.paramsMu.Unlock()
	if err != nil {
		if good, ok := e.good[name]; ok {
			return good, err
		}
		return e.lastChanged(name), err
	}
	e.good[name] = p.Known()
	return e.good[name], nil
}

// changes returns how the parameters of a member were changed, oldest first.
func (e *Engine) changes(name string) ([]council.ParamsChange, error) {
	return records.ReadLines[council.ParamsChange](e.f.Root(), historyPath(name), 1000)
}

// lastChanged returns the parameters that the history of changes leads to, for an engine that has never read a good file.
func (e *Engine) lastChanged(name string) council.Params {
	p := council.Params{}
	changes, err := e.changes(name)
	if err != nil {
		e.opt.Log.Warn("history of parameters", "member", name, "error", err)
	}
	for _, c := range changes {
		maps.Copy(p, c.After)
	}
	return p.Known()
}

// Params returns the parameters of a member, and how they were changed, newest first.
func (e *Engine) Params(_ context.Context, name string) (council.Params, []council.ParamsChange, error) {
	if _, err := e.set.Member(name); err != nil {
		return nil, nil, err
	}
	p, _ := e.params(name)
	changes, err := e.changes(name)
	slices.Reverse(changes)
	return p, changes, err
}

// SetParams changes parameters of a member, those that are named. Prompts contain them from the next one on.
func (e *Engine) SetParams(_ context.Context, name string, changed council.Params, author council.Author, reason string) (council.Params, error) {
	if err := e.writable(); err != nil {
		return nil, err
	}
	for key := range changed {
		if !slices.Contains(council.ParamNames, key) {
			return nil, council.Invalid(key, "is no parameter; parameters are %v", council.ParamNames)
		}
	}
	if err := council.CheckParams(changed); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.change(name, changed, council.ParamsChange{Who: author, Why: reason})
}

// change writes parameters and a line to their history. The line comes first: it can be told from the file whether it has happened.
func (e *Engine) change(name string, changed council.Params, c council.ParamsChange) (council.Params, error) {
	if _, err := e.set.Member(name); err != nil {
		return nil, err
	}
	before, bad := e.params(name)
	_, rest, err := e.file(name)
	if err != nil {
		rest = map[string]json.RawMessage{}
	}
	c.Member, c.At, c.Before, c.After = name, e.now(), council.Params{}, council.Params{}
	after := maps.Clone(before)
	for key, v := range changed {
		if v != before[key] || bad != nil {
			c.Before[key], c.After[key], after[key] = before[key], v, v
		}
	}
	if len(c.After) == 0 {
		return before, nil
	}
	file := map[string]any{}
	for key, raw := range rest {
		file[key] = raw
	}
	for key, v := range after {
		file[key] = v
	}
	if err := e.f.AppendLines(historyPath(name), 16<<20, c); err != nil {
		return nil, err
	}
	if err := e.f.Write(paramsPath(name), file); err != nil {
		return nil, err
	}
	e.stream.emit(EventParams, "", name, c.At)
	return e.params(name)
}

// Rollback takes the last change of the parameters of a member back that was not taken back yet.
func (e *Engine) Rollback(_ context.Context, name string, author council.Author) (council.Params, error) {
	if err := e.writable(); err != nil {
		return nil, err
	}
	if _, err := e.set.Member(name); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	changes, err := e.changes(name)
	if err != nil {
		return nil, err
	}
	undone := 0
	for _, c := range slices.Backward(changes) {
		switch {
		case c.Rollback:
			undone++
		case undone > 0:
			undone--
		default:
			why := "takes back the change of " + c.At.Format(time.RFC3339)
			return e.change(name, c.Before, council.ParamsChange{Who: author, Why: why, Rollback: true})
		}
	}
	return nil, fmt.Errorf("%w: the parameters of %s were never changed", ErrState, name)
}

// Members returns the members as they are now, in the order of the settings.
func (e *Engine) Members(_ context.Context) ([]MemberState, error) {
	paused := e.paused()
	var all []MemberState
	for _, m := range e.set.Members {
		s := MemberState{Member: m, Family: e.family(m.Name), Unknown: council.Params{}, PausedUntil: paused[m.Name]}
		if a, err := member.Program(m); err == nil && m.Preset != "" {
			s.Program = a.Line()
		}
		p, bad := e.params(m.Name)
		s.Params = p
		if bad != nil {
			s.ParamsError = bad.Error()
		}
		if _, rest, err := e.file(m.Name); err == nil {
			for key, raw := range rest {
				var v float64
				if json.Unmarshal(raw, &v) == nil {
					s.Unknown[key] = v
				}
			}
		}
		s.Activity = e.activityOfMember(m.Name)
		all = append(all, s)
	}
	return all, nil
}

// activityOfMember returns what a member does now, idle if it is not known.
func (e *Engine) activityOfMember(name string) council.Activity {
	a := council.Activity{Member: name, Status: council.ActivityIdle}
	if err := e.f.Read(fmt.Sprintf("%s/%s/activity.json", folder.Nodes, name), &a); err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.opt.Log.Warn("activity", "member", name, "error", err)
	}
	return a
}

// Activity returns what the members do now.
func (e *Engine) Activity(_ context.Context) ([]council.Activity, error) {
	var all []council.Activity
	for _, name := range e.set.Roster() {
		all = append(all, e.activityOfMember(name))
	}
	return all, nil
}
