package council

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"kioku/memory"
)

// Limits of councils and of what is written to them.
const (
	MinMembers      = 3
	MaxMembers      = 9
	MaxTitle        = 200
	MaxDescription  = 20_000
	MaxTaskBytes    = 256 << 10
	MaxAttachments  = 5
	MaxOpinion      = 8_000
	MaxMission      = 2_000
	MaxExtraRounds  = 3
	MaxExtraTries   = 2
	MaxRepairs      = 2
	MaxAttempts     = 12 // at an execution, with repairs and those that an owner has had tried again
	MaxComment      = 8_000
	MaxPastedText   = 50 << 10
	MaxDirectives   = 5
	MaxDirective    = 200
	MaxSuggestTitle = 200
	MaxSuggestText  = 2_000
)

// DecisionNotes is the folder of the notes on decisions in the workspace of the council agent.
const DecisionNotes = "memory/decisions"

// Roles of members.
const (
	RoleArbiter     = "arbiter"
	RoleExecutor    = "executor"
	RoleReviewer    = "reviewer"
	RoleApprover    = "approver"
	RoleRunner      = "runner"
	RoleAnnouncer   = "announcer"
	RoleCoordinator = "coordinator"
)

var roles = []string{RoleArbiter, RoleExecutor, RoleReviewer, RoleApprover, RoleRunner, RoleAnnouncer, RoleCoordinator}

var (
	taskID = regexp.MustCompile(`^[a-z]+_[0-9A-Za-z_-]{1,60}$`)
	// agentID is the rule of agents' ids, without a leading underscore, which the engine's own files have.
	agentID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)
	fileID  = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,79}$`)
)

// ValidTaskID reports whether id can be that of a task.
func ValidTaskID(id string) bool { return taskID.MatchString(id) }

// ValidName reports whether name can be that of a member or worker.
func ValidName(name string) bool { return agentID.MatchString(name) }

// ValidID reports whether id can be that of a command, suggestion, action request or cycle.
func ValidID(id string) bool { return fileID.MatchString(id) }

// Invalid returns a memory.InputError of a field.
func Invalid(field, format string, args ...any) error {
	return &memory.InputError{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// Need returns how many of n members must agree: two thirds, rounded up.
func Need(n int) int { return (2*n + 2) / 3 }

// Check returns a memory.InputError that says what is wrong with a task, nil if nothing is.
func (t *Task) Check() error {
	switch {
	case !ValidTaskID(t.ID):
		return Invalid("id", "is %.80q; must be a word in lower case, an underscore and 1 to 60 of A-Z, a-z, 0-9, '_' and '-'", t.ID)
	case t.Type != TypeTask && t.Type != TypeQuestion:
		return Invalid("type", "is %.40q; must be %q or %q", t.Type, TypeTask, TypeQuestion)
	case strings.TrimSpace(t.Title) == "":
		return Invalid("title", "is empty; say in a line what is to be decided")
	case utf8.RuneCountInString(t.Title) > MaxTitle:
		return Invalid("title", "has more than %d characters; put the rest into the description", MaxTitle)
	case utf8.RuneCountInString(t.Description) > MaxDescription:
		return Invalid("description", "has more than %d characters; attach the rest as files", MaxDescription)
	case !slices.Contains([]string{"", PriorityLow, PriorityMedium, PriorityHigh}, t.Priority):
		return Invalid("priority", "is %.40q; must be low, medium or high", t.Priority)
	case len(t.Attachments) > MaxAttachments:
		return Invalid("attachments", "are %d; at most %d are taken", len(t.Attachments), MaxAttachments)
	case t.Supersedes != "" && !ValidTaskID(t.Supersedes):
		return Invalid("supersedes", "is not the id of a task: %.80q", t.Supersedes)
	}
	return checkAttachments(t.Attachments)
}

// checkAttachments checks the names of attachments.
func checkAttachments(all []Attachment) error {
	for _, a := range all {
		if err := CheckFile(a.File); err != nil {
			return err
		}
	}
	return nil
}

// CheckFile returns a memory.InputError for what is no plain name of an attachment.
func CheckFile(name string) error {
	if name == "" || strings.ContainsAny(name, "/\\\x00") || strings.HasPrefix(name, ".") || len(name) > 200 {
		return Invalid("attachments", "file %.80q: must be a plain file name of at most 200 bytes", name)
	}
	return nil
}

// CheckParams returns a memory.InputError if a known parameter is not a number in [0,1]. Unknown ones are not looked at.
func CheckParams(p Params) error {
	for _, name := range ParamNames {
		if v, ok := p[name]; ok && (math.IsNaN(v) || v < 0 || v > 1) {
			return Invalid(name, "is %v; must lie between 0 and 1", v)
		}
	}
	return nil
}

// Known returns the known parameters, 0.5 for those that are missing.
func (p Params) Known() Params {
	known := Params{}
	for _, name := range ParamNames {
		known[name] = 0.5
		if v, ok := p[name]; ok {
			known[name] = v
		}
	}
	return known
}
