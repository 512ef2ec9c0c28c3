package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"kioku/council"
	"kioku/council/folder"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// params brings the parameters of members of this council. The change is in their history, and can be taken back; parameters that were
// changed here before stay as they are.
func (i *importer) params() error {
	var errs []error
	for _, name := range i.e.set.Roster() {
		rel := paramsPath(name)
		if i.src.Exists(rel) {
			errs = append(errs, i.retune(name, rel))
		}
	}
	return errors.Join(errs...)
}

// retune changes the parameters of a member to those of the other folder.
func (i *importer) retune(name, rel string) (err error) {
	var old council.Params
	var rest map[string]json.RawMessage
	data, err := i.src.ReadBytes(rel, 64<<10)
	if err == nil {
		old, rest, err = readParams(rel, data)
	}
	if err != nil {
		i.skip(rel, "%v", err)
		return nil
	}
	if len(rest) > 0 {
		i.skip(rel, "what no council knows is left out: %s", strings.Join(slices.Sorted(maps.Keys(rest)), ", "))
	}
	now, _ := i.e.params(name)
	if maps.Equal(old.Known(), now) {
		return nil
	}
	if changes, err := i.e.changes(name); err != nil || len(changes) > 0 {
		i.skip(rel, "the parameters of %s were changed here, and stay as they are: kioku council params set %[1]s changes them", name)
		return err
	}
	i.report.Params++
	return i.write(func() error {
		_, err := i.e.change(name, old, council.ParamsChange{Who: council.Author{Kind: "engine", Name: "import"}, Why: "imported from " + i.src.Path()})
		return err
	})
}

// isLog is the path of a log, of the progress of an execution, or of how a decision or parameters have changed.
var isLog = regexp.MustCompile(`^(logs/.*|decisions/[^/]*_(progress\.jsonl|history\.json)|nodes/[^/]*/params_history\.jsonl)$`)

// logs copies the logs as they are to the archive: those of this council are its own, and end after 30 days.
func (i *importer) logs() error {
	return fs.WalkDir(i.src.Root().FS(), ".", func(rel string, entry fs.DirEntry, err error) error {
		to := folder.Archived + "/" + rel
		if err != nil || !entry.Type().IsRegular() || !isLog.MatchString(rel) || i.e.f.Exists(to) {
			return err
		}
		data, err := i.src.ReadBytes(rel, maxUpload)
		if err != nil {
			i.skip(rel, "%v", err)
			return nil
		}
		i.report.Logs++
		return i.write(func() error { return i.e.f.PublishBytes(to, data) })
	})
}

// evaluations copies evaluation cycles. One without a result is not gone on with.
func (i *importer) evaluations() error {
	ids, err := i.src.Names(folder.Evaluations)
	errs := []error{err}
	for _, id := range ids {
		dir := cycleDir(id)
		if !council.ValidID(id) || !i.src.Exists(dir+"/request.json") || i.e.f.Exists(dir) {
			continue
		}
		i.report.Evaluations++
		files := 0
		if !i.src.Exists(dir + "/result.json") {
			var old council.CycleRequest
			_ = i.src.Read(dir+"/request.json", &old) // what cannot be read is told below
			result := council.CycleResult{CycleID: id, CompletedAt: cmp.Or(old.TriggeredAt, i.e.now()), RetuneTargets: []string{}, Status: council.CycleIncomplete, Reason: "imported"}
			if old.Status == council.CycleCompleted {
				result.Status = council.CycleCompleted
			}
			errs = append(errs, i.put(dir+"/result.json", result, &files))
		}
		var v any
		errs = append(errs, i.each(dir, func() any { return &v }, func(_, rel string) error { return i.put(rel, v, &files) }))
	}
	return errors.Join(errs...)
}

// actions copies rebuild requests. One that waits, or was approved by another program, is looked at like a new one; one that had begun is
// not done again.
func (i *importer) actions() error {
	var r council.ActionRequest
	return i.each(folder.Actions, func() any { r = council.ActionRequest{}; return &r }, func(id, rel string) error {
		_, stranger := i.e.set.Member(r.RequestedBy)
		r.ID, r.Approved = id, nil
		switch r.Status {
		case council.ActionPending, council.ActionApproved:
			if i.e.allowed(r.Service) != nil {
				i.skip(rel, "%.80q is no action of this council; name its command below actions in council.yaml, and import again", r.Service)
				return nil
			}
			if stranger != nil {
				i.skip(rel, "%v", stranger)
				return nil
			}
			r.Status, r.RequestedAt = council.ActionPending, time.Time{}
		case council.ActionExecuting:
			r.Status, r.Result, r.EndedAt = council.ActionFailed, "imported: it had begun, and is not done again", i.e.now()
		}
		return i.put(rel, r, &i.report.Actions)
	})
}

// commands copies the commands of a bot, as its history. bot_commands/<x>.json has no name of the worker.
func (i *importer) commands(worker string) error {
	type oldCommand struct {
		council.Command
		IssuedBy     any       `json:"issued_by"`
		CreatedAt    time.Time `json:"created_at"`
		Timestamp    time.Time `json:"timestamp"`
		ProcessedAt  time.Time `json:"processed_at"`
		Result       string    `json:"result"`
		ResultDetail string    `json:"result_detail"`
	}
	var c oldCommand
	return i.each("bot_commands", func() any { c = oldCommand{}; return &c }, func(id, _ string) error {
		cmd, unanswered := c.Command, 0
		c.CreatedAt = cmp.Or(c.CreatedAt, c.Timestamp, i.e.now())
		cmd.ID, cmd.Worker, cmd.Status, cmd.IssuedAt, cmd.ExpiresAt = id, worker, council.StatusPending, c.CreatedAt, c.CreatedAt.Add(commandLife)
		cmd.IssuedBy = council.Author{Kind: "engine", Name: "import"}
		ack := council.Ack{ID: id, Status: council.AckExpired, ProcessedAt: cmp.Or(c.ProcessedAt, i.e.now()), Result: cmp.Or(c.Result, "imported"), ResultDetail: c.ResultDetail}
		return errors.Join(i.put(ackPath(worker, id), ack, &unanswered), i.put(commandPath(worker, id), cmd, &i.report.Commands))
	})
}

// oldSuggestions is the article's folder of suggestions.
const oldSuggestions = "openclaw-suggestions"

// suggestions copies suggestions of a bot, to be looked at like new ones.
func (i *importer) suggestions(worker string) error {
	var errs []error
	for _, dir := range []string{oldSuggestions, folder.Suggestions} {
		var s council.Suggestion
		errs = append(errs, i.each(dir, func() any { s = council.Suggestion{}; return &s }, func(id, _ string) error {
			return i.put(suggestionPath(worker, id), council.Suggestion{Title: s.Title, Description: s.Description}, &i.report.Suggestions)
		}))
	}
	return errors.Join(errs...)
}
