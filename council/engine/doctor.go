package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"kioku/agent/program"
	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
	"kioku/council/member"
)

// Doctor looks for what is wrong with the council or is not what one may think, without changing anything.
func (e *Engine) Doctor(ctx context.Context) []Finding {
	d := &doctor{e: e}
	d.folder()
	d.members(ctx)
	d.tasks()
	d.network()
	d.schedules()
	return d.found
}

// maxTrial is how long a trial waits for an answer.
const maxTrial = time.Minute

// Trial is Doctor, and asks all members at once a question too, which costs a call of each model.
func (e *Engine) Trial(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, min(e.set.Timeouts.Turn, maxTrial))
	defer cancel()
	tried := make([]Finding, len(e.set.Members))
	var group sync.WaitGroup
	for i, m := range e.set.Members {
		group.Go(func() { tried[i] = e.tryMember(ctx, m) })
	}
	found := e.Doctor(ctx)
	group.Wait()
	return append(found, tried...)
}

// tryMember returns what came of a question to a member.
func (e *Engine) tryMember(ctx context.Context, m council.Member) Finding {
	f := Finding{Name: "trial of " + m.Name, Level: LevelOK, Text: "answers with a valid ballot"}
	if m.Remote() {
		f.Text = "not asked: it runs elsewhere and fetches its turns"
		return f
	}
	start := time.Now()
	_, err := e.trial(ctx, m.Name)
	if err == nil {
		f.Text += fmt.Sprintf(", after %.1f s", time.Since(start).Seconds())
		return f
	}
	f.Level, f.Text = LevelError, err.Error()
	if ctx.Err() != nil {
		f.Text = fmt.Sprintf("has not answered after %.0f s, at which a trial ends: %v", time.Since(start).Seconds(), err)
	}
	if remedy := member.Remedy(m, err); remedy != "" {
		f.Text += ". What to do: " + remedy
	}
	return f
}

type doctor struct {
	e     *Engine
	found []Finding
}

func (d *doctor) add(name, level, format string, args ...any) {
	d.found = append(d.found, Finding{Name: name, Level: level, Text: fmt.Sprintf(format, args...)})
}

// folder checks who can write the folder, and who runs the council.
func (d *doctor) folder() {
	info, err := os.Stat(d.e.f.Path())
	switch {
	case err != nil:
		d.add("folder", LevelError, "%v", err)
	case info.Mode().Perm()&0o077 != 0:
		d.add("folder", LevelError, "%s has the permissions %o: others of this machine can write tasks and ballots; chmod 700 it", d.e.f.Path(), info.Mode().Perm())
	default:
		d.add("folder", LevelOK, "%s belongs to one user. Whoever runs as that user can write it", d.e.f.Path())
	}
	if d.e.f.Locked() {
		d.add("engine", LevelOK, "this process runs the council")
	} else if err := d.e.f.Probe(); err != nil {
		d.add("engine", LevelOK, "%v", err)
	} else {
		d.add("engine", LevelWarning, "nobody runs the council: tasks wait until `kioku council serve`, or a kioku serve with a council, is started")
	}
	if names, err := d.e.f.Names("inbox/rejected"); err == nil && len(names) > 0 {
		d.add("inbox", LevelWarning, "%d files in inbox/rejected were not taken; a .reason beside each says why", (len(names)+1)/2)
	}
}

// members checks workspaces, parameters and independence.
func (d *doctor) members(ctx context.Context) {
	all, err := d.e.Members(ctx)
	if err != nil {
		d.add("members", LevelError, "%v", err)
		return
	}
	for _, m := range all {
		switch info, err := os.Stat(m.Member.Workspace); {
		case m.Member.Remote():
			d.add("member "+m.Member.Name, LevelOK, "runs elsewhere and fetches its turns")
		case err != nil || !info.IsDir():
			d.add("member "+m.Member.Name, LevelWarning, "has no workspace %q, so no persona and no memory", m.Member.Workspace)
		case m.ParamsError != "":
			d.add("member "+m.Member.Name, LevelError, "%s; the last good values are used", m.ParamsError)
		default:
			d.add("member "+m.Member.Name, LevelOK, "model %s, family %s", m.Member.ModelName(), m.Family)
		}
		d.command(m.Member)
	}
	d.independence(all)
	if d.e.set.WithRole(council.RoleArbiter) == "" {
		d.add("arbiter", LevelWarning, "no member is the arbiter: a task without majority is stalled")
	}
}

// command checks the program of a member.
func (d *doctor) command(m council.Member) {
	if !m.External() {
		return
	}
	name := "program of " + m.Name
	a, err := member.Program(m)
	if err != nil {
		d.add(name, LevelError, "%v", err)
		return
	}
	if _, err := exec.LookPath(a.Command[0]); err != nil {
		d.add(name, LevelError, "%v; install it, or correct members.%s", err, m.Name)
	}
	switch dangerous, unwise := program.Check(a.Command); {
	case dangerous != "":
		d.add(name, LevelError, "%s", dangerous)
	case unwise != "":
		d.add(name, LevelWarning, "%s", unwise)
	default:
		d.add(name, LevelWarning, "%q runs as this user with this user's network", a.Command[0])
	}
}

// independence checks whether the members can make different mistakes.
func (d *doctor) independence(all []MemberState) {
	by := map[string][]string{}
	for _, m := range all {
		by[m.Family] = append(by[m.Family], m.Member.Name)
	}
	switch need := d.e.set.MinFamilies; {
	case len(by) < need:
		d.add("independence", LevelError, "the members run on %d families of models, and minFamilies needs %d: every task will be stalled. "+
			"Give a member a model of another family, or name it: model beside command, remote:NAME for one elsewhere", len(by), need)
	case len(by) == 1:
		d.add("independence", LevelOK, "all members run on one family of models (%s), so they may make the same mistakes. minFamilies: 2 has a task "+
			"wait until one of them has a model of another maker", all[0].Family)
	default:
		d.add("independence", LevelOK, "%d families of models", len(by))
	}
	if unknown := by[council.UnknownFamily]; len(unknown) > 0 {
		d.add("independence", LevelWarning, "nobody knows who has made the models of %s; all of them count as one family", strings.Join(unknown, ", "))
	}
}

// tasks compares the files of ballots with what was sealed.
func (d *doctor) tasks() {
	ids, err := d.e.f.TaskIDs()
	if err != nil {
		d.add("tasks", LevelError, "%v", err)
		return
	}
	w := d.e.lockedWorld()
	bad, stalled := 0, 0
	for _, id := range ids {
		s, err := d.e.f.Task(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			d.add("task "+id, LevelError, "%v", err)
			bad++
			continue
		}
		if flow.Where(s, w).Status == council.StatusStalled {
			stalled++
		}
		bad += d.task(s)
	}
	if stalled > 0 {
		d.add("tasks", LevelWarning, "%d are stalled and wait for a person: decide, request a round, or cancel", stalled)
	}
	if bad == 0 {
		d.add("tasks", LevelOK, "%d tasks, all as their sealed ballots say", len(ids))
	}
}

// task returns how many things are wrong with a task.
func (d *doctor) task(s *flow.Snapshot) int {
	bad := 0
	for _, p := range s.Problems {
		d.add("task "+s.ID, LevelError, "%s", p)
		bad++
	}
	for _, a := range s.Rounds {
		if _, tampered := s.Sealed(a); len(tampered) > 0 {
			d.add("task "+s.ID, LevelError, "round %d: the ballots of %s are not those that were sealed. The decision stands on the sealed ones", a.Round, strings.Join(tampered, ", "))
			bad++
		}
	}
	return bad
}

// network says which limits of the network hold, and which only the host can set.
func (d *doctor) network() {
	d.add("network", LevelOK, "models are reached at the addresses of the settings only, with no redirect to another host, and not at all with --offline. "+
		"Addresses in private networks are not refused")
	var programs []string
	for _, m := range d.e.set.Members {
		if m.External() {
			programs = append(programs, "member "+m.Name)
		}
	}
	if x := d.e.set.Execution; x.Mode == council.ModeCommand {
		who := map[bool]string{true: " without a person"}[x.Approval == council.ApprovalNone]
		programs = append(programs, "execution.command"+who)
		d.program("execution.command", x.Command)
	}
	for _, name := range slices.Sorted(maps.Keys(d.e.set.Actions)) {
		programs = append(programs, "action "+name)
		d.program("actions."+name, d.e.set.Actions[name].Command)
	}
	if len(programs) > 0 {
		d.add("network of programs", LevelWarning, "Kioku does not limit what the programs reach (%s). Limit them on the host: IPAddressDeny of a systemd unit, "+
			"or networks of their own in a compose file", strings.Join(programs, ", "))
	}
}

// program checks that the program of a setting is there.
func (d *doctor) program(setting string, argv []string) {
	if err := program.Find(argv[0], path.Join(d.e.f.Path(), folder.Workspace, "task")); err != nil {
		d.add(setting, LevelError, "%v; install it, or correct the command in council.yaml", err)
	}
}

// schedules says of each schedule when it comes and what it has done.
func (d *doctor) schedules() {
	for _, c := range d.e.set.Schedules {
		when := fmt.Sprintf("%q %s", c.At, cmp.Or(c.Zone, "UTC"))
		if c.Search != "" {
			when = fmt.Sprintf("for new notes on %q", c.Search)
		}
		level, verb := LevelOK, "suggested"
		if c.DryRun == nil || *c.DryRun {
			level, verb = LevelWarning, "would have suggested"
		}
		last := "it has not fired yet"
		if f, ok := d.e.lastFired(c.Name); ok {
			last = fmt.Sprintf("last %s %s", verb, f.Due.Format(time.RFC3339))
			if f.Reason != "" {
				last += ", not made: " + f.Reason
			}
		}
		if level == LevelWarning {
			last += ". It only writes that down; dryRun: false has it suggest"
		}
		d.add("schedule "+c.Name, level, "%s, as %s, %q: %s", when, c.Worker, c.Title, last)
	}
}
