package council

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Autonomy of a council.
const (
	AutonomySupervised = "supervised"
	AutonomyFull       = "full"
)

// Approvals of executions and suggestions.
const (
	ApprovalOwner = "owner"
	ApprovalNone  = "none"
)

// Platforms on which owners are known.
var Platforms = []string{"discord", "slack", "github", "telegram"}

// WithDefaults returns the settings with defaults in the place of zero values. Autonomy "full" means execution "answer" and no approvals
// unless the settings say otherwise.
func (s Settings) WithDefaults() Settings {
	approval, mode := ApprovalOwner, ModeReport
	s.Autonomy = cmp.Or(s.Autonomy, AutonomySupervised)
	if s.Autonomy == AutonomyFull {
		approval, mode = ApprovalNone, ModeAnswer
	}
	s.Policy = cmp.Or(s.Policy, PolicyMajority)
	s.MinRounds, s.MaxRounds = cmp.Or(s.MinRounds, 1), cmp.Or(s.MaxRounds, 3)
	s.MaxTokensPerTask, s.MaxTokensPerDay = cmp.Or(s.MaxTokensPerTask, 200_000), cmp.Or(s.MaxTokensPerDay, 2_000_000)
	s.Parallel, s.MinFamilies = cmp.Or(s.Parallel, 3), cmp.Or(s.MinFamilies, 1)
	s.Execution.Mode, s.Execution.Approval = cmp.Or(s.Execution.Mode, mode), cmp.Or(s.Execution.Approval, approval)
	s.Evaluation.Every, s.Reflect = cmp.Or(s.Evaluation.Every, "6h"), cmp.Or(s.Reflect, ReflectNever)
	s.Suggestions.Approval = cmp.Or(s.Suggestions.Approval, approval)
	yes := true
	if s.Suggestions.Verify == nil {
		s.Suggestions.Verify = &yes
	}
	if s.Anonymise == nil {
		s.Anonymise = &yes
	}
	s.Timeouts.each(func(_ string, d *time.Duration, standard time.Duration) { *d = cmp.Or(*d, standard) })
	return s
}

// each calls do with each timeout: its name, its place and its default.
func (t *Timeouts) each(do func(name string, at *time.Duration, standard time.Duration)) {
	do("turn", &t.Turn, 10*time.Minute)
	do("round", &t.Round, 15*time.Minute)
	do("arbitration", &t.Arbitration, 15*time.Minute)
	do("announcement", &t.Announcement, 5*time.Minute)
	do("execution", &t.Execution, 2*time.Hour)
	do("review", &t.Review, 10*time.Minute)
	do("evaluationCycle", &t.EvaluationCycle, 30*time.Minute)
	do("action", &t.Action, 5*time.Minute)
	do("suggestion", &t.Suggestion, 24*time.Hour)
}

// Validate returns a memory.InputError that says what is wrong with the settings, nil if nothing is. It takes them with or without
// defaults.
func (s Settings) Validate() error {
	s = s.WithDefaults()
	switch {
	case !ValidName(s.Agent):
		return Invalid("agent", "is %.80q; must be the id of the agent whose memory has the decisions", s.Agent)
	case s.Policy != PolicyMajority && s.Policy != PolicyChair:
		return Invalid("policy", "is %.40q; must be %q or %q", s.Policy, PolicyMajority, PolicyChair)
	case s.MinRounds < 1 || s.MaxRounds < s.MinRounds || s.MaxRounds > 9:
		return Invalid("maxRounds", "is %d and minRounds %d; need 1 <= minRounds <= maxRounds <= 9", s.MaxRounds, s.MinRounds)
	case s.Autonomy != AutonomySupervised && s.Autonomy != AutonomyFull:
		return Invalid("autonomy", "is %.40q; must be %q or %q", s.Autonomy, AutonomySupervised, AutonomyFull)
	case s.MinFamilies > len(s.Members):
		return Invalid("minFamilies", "is %d; the %d members cannot have more families of models than they are", s.MinFamilies, len(s.Members))
	case s.Parallel < 1 || s.MaxTokensPerDay < 0 || s.MaxTokensPerTask < 0 || s.MinFamilies < 1:
		return Invalid("parallel", "and the limits of tokens and families must be positive")
	}
	if err := s.checkMembers(); err != nil {
		return err
	}
	if err := s.checkExecution(); err != nil {
		return err
	}
	return s.checkRest()
}

// checkMembers checks number, names and roles of members.
func (s Settings) checkMembers() error {
	if n := len(s.Members); n < MinMembers || n > MaxMembers {
		return Invalid("members", "are %d; a council has %d to %d", n, MinMembers, MaxMembers)
	}
	seen := map[string]bool{s.Agent: true}
	for _, m := range s.Members {
		if !ValidName(m.Name) {
			return Invalid("members", "name %.80q: must be an agent id: lower case letters, digits, '_' and '-'", m.Name)
		}
		if seen[m.Name] {
			return Invalid("members", "name %q is used twice, or is that of the council agent", m.Name)
		}
		seen[m.Name] = true
		if m.Preset != "" && len(m.Command) > 0 || m.Preset == "" && len(m.Args) > 0 {
			return Invalid("members", "%s has a command or args that do not go with its preset; the preset is the command", m.Name)
		}
		for _, role := range m.Roles {
			if !slices.Contains(roles, role) {
				return Invalid("members", "%s has the role %.40q; roles are %s", m.Name, role, strings.Join(roles, ", "))
			}
		}
	}
	if s.Policy == PolicyChair && len(s.withRole(RoleArbiter)) == 0 {
		return Invalid("policy", "%q needs a member with the role %q", PolicyChair, RoleArbiter)
	}
	if len(s.withRole(RoleArbiter)) > 1 {
		return Invalid("members", "have %d arbiters; one is enough", len(s.withRole(RoleArbiter)))
	}
	return nil
}

// checkExecution checks how approved tasks are done.
func (s Settings) checkExecution() error {
	e := s.Execution
	switch {
	case !slices.Contains([]string{ModeReport, ModeAnswer, ModeCommand}, e.Mode):
		return Invalid("execution.mode", "is %.40q; must be report, answer or command", e.Mode)
	case e.Mode == ModeCommand && len(e.Command) == 0:
		return Invalid("execution.command", "is empty; mode command needs the program and its arguments")
	case e.Approval != ApprovalOwner && e.Approval != ApprovalNone:
		return Invalid("execution.approval", "is %.40q; must be %q or %q", e.Approval, ApprovalOwner, ApprovalNone)
	}
	return nil
}

// checkRest checks evaluation, workers, owners, actions and timeouts.
func (s Settings) checkRest() error {
	if s.Evaluation.Every != "off" {
		if d, err := time.ParseDuration(s.Evaluation.Every); err != nil || d < time.Minute {
			return Invalid("evaluation.every", "is %.40q; must be a time of at least 1m, such as 6h, or off", s.Evaluation.Every)
		}
	}
	if a := s.Suggestions.Approval; a != ApprovalOwner && a != ApprovalNone {
		return Invalid("suggestions.approval", "is %.40q; must be %q or %q", a, ApprovalOwner, ApprovalNone)
	}
	if !slices.Contains([]string{ReflectNever, ReflectDissent, ReflectAlways}, s.Reflect) {
		return Invalid("reflect", "is %.40q; must be never, dissent or always", s.Reflect)
	}
	if err := s.checkSchedules(); err != nil {
		return err
	}
	for _, w := range s.Workers {
		if !ValidName(w) {
			return Invalid("workers", "name %.80q: must be an agent id", w)
		}
	}
	for platform := range s.Owners {
		if !slices.Contains(Platforms, platform) {
			return Invalid("owners", "platform %.40q; must be one of %s", platform, strings.Join(Platforms, ", "))
		}
	}
	for model, p := range s.Prices {
		if p.Input < 0 || p.Output < 0 || p.CacheRead < 0 || p.CacheWrite < 0 {
			return Invalid("prices", "%.80q has a price below 0; prices are US dollars per million tokens", model)
		}
	}
	for name, a := range s.Actions {
		if !ValidName(name) || len(a.Command) == 0 {
			return Invalid("actions", "%.40q: needs a name in lower case and a command", name)
		}
	}
	var err error
	s.Timeouts.each(func(name string, d *time.Duration, _ time.Duration) {
		if *d <= 0 {
			err = Invalid("timeouts."+name, "is %v; must be positive", *d)
		}
	})
	return err
}

// withRole returns the names of the members with a role.
func (s Settings) withRole(role string) []string {
	var names []string
	for _, m := range s.Members {
		if slices.Contains(m.Roles, role) {
			names = append(names, m.Name)
		}
	}
	return names
}

// Member returns the member of that name.
func (s Settings) Member(name string) (Member, error) {
	for _, m := range s.Members {
		if m.Name == name {
			return m, nil
		}
	}
	return Member{}, Invalid("member", "%.80q is not in this council, whose members are %s", name, strings.Join(s.Roster(), ", "))
}

// Roster returns the names of the members in the order of the settings.
func (s Settings) Roster() []string {
	names := make([]string, len(s.Members))
	for i, m := range s.Members {
		names[i] = m.Name
	}
	return names
}

// WithRole returns the first member with a role. If there is none, it is the arbiter for announcer and executor, the first member who
// is neither named in not for reviewer, approver and runner, and "" for the arbiter, without whom a task without majority is stalled.
func (s Settings) WithRole(role string, not ...string) string {
	for _, name := range s.withRole(role) {
		if !slices.Contains(not, name) {
			return name
		}
	}
	switch role {
	case RoleArbiter:
		return ""
	case RoleAnnouncer, RoleExecutor:
		if a := s.withRole(RoleArbiter); len(a) == 1 && !slices.Contains(not, a[0]) {
			return a[0]
		}
	}
	for _, name := range s.Roster() {
		if !slices.Contains(not, name) {
			return name
		}
	}
	return ""
}
