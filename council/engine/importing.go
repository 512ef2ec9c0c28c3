package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"kioku/council"
	"kioku/council/flow"
	"kioku/council/folder"
)

// ImportReport says what Import has copied, or would.
type ImportReport struct {
	DryRun bool `json:"dry_run"` // nothing was copied
	// Numbers of what was copied.
	Tasks       int `json:"tasks"`
	Attachments int `json:"attachments"` // files
	Discussions int `json:"discussions"`
	Decisions   int `json:"decisions"`
	Evaluations int `json:"evaluations"`
	Params      int `json:"params"` // of members
	Logs        int `json:"logs"`   // files, which are in the archive
	Commands    int `json:"commands"`
	Suggestions int `json:"suggestions"`
	Actions     int `json:"actions"` // requests of rebuilds
	// Continued are unfinished discussions that go on under this council's policy.
	Continued []string `json:"continued"`
	// Skipped are files that were not copied, and why.
	Skipped []string `json:"skipped"`
}

// importer copies the shared folder of another program of the article's layout. The folder is not changed.
type importer struct {
	e      *Engine
	src    *folder.Folder
	report ImportReport
}

// Import copies the tasks, discussions, decisions, evaluations, parameters, logs, rebuild requests, commands and suggestions of a folder in the article's layout.
// What is finished keeps its decision and becomes memory; an unfinished discussion goes on under the policy of this council. What is here
// already is not copied again. With dryRun nothing is written.
func (e *Engine) Import(_ context.Context, dir string, dryRun bool) (ImportReport, error) {
	if err := e.writable(); err != nil {
		return ImportReport{}, err
	}
	dir, err := sharedFolder(dir)
	if err != nil {
		return ImportReport{}, err
	}
	src, err := folder.Look(dir)
	if err != nil {
		return ImportReport{}, err
	}
	defer src.Close()
	e.mu.Lock()
	defer e.mu.Unlock()
	i := &importer{e: e, src: src, report: ImportReport{DryRun: dryRun, Continued: []string{}, Skipped: []string{}}}
	err = errors.Join(i.inbox(), i.discussions(), i.params(), i.evaluations(), i.logs(), i.actions())
	if len(e.set.Workers) > 0 {
		err = errors.Join(err, i.commands(e.set.Workers[0]), i.suggestions(e.set.Workers[0]))
	} else if src.Exists("bot_commands") || src.Exists(oldSuggestions) || src.Exists(folder.Suggestions) {
		i.skip("commands and suggestions", "are of a worker, and this council has none: add one with kioku council workers add NAME, and import again")
	}
	if !dryRun {
		e.wake()
	}
	return i.report, err
}

// sharedFolder returns the folder of a council: dir, or shared/ in it.
func sharedFolder(dir string) (string, error) {
	for _, shared := range []string{dir + "/shared", dir} {
		for _, sub := range []string{folder.Discussions, folder.Inbox, folder.Decisions} {
			if info, err := os.Stat(shared + "/" + sub); err == nil && info.IsDir() {
				return shared, nil
			}
		}
	}
	return "", council.Invalid("folder", "%s has no folder discussions, inbox or decisions, nor has shared/ in it; name the folder that the council's programs share", dir)
}

// skip notes a file that is not copied.
func (i *importer) skip(rel, format string, args ...any) {
	i.report.Skipped = append(i.report.Skipped, rel+": "+strings.TrimPrefix(fmt.Sprintf(format, args...), rel+": "))
}

// write does something unless this is a dry run. What is there already stays.
func (i *importer) write(do func() error) error {
	if i.report.DryRun {
		return nil
	}
	if err := do(); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// put publishes a file unless it is here, and counts it.
func (i *importer) put(rel string, v any, count *int) error {
	if i.e.f.Exists(rel) {
		return nil
	}
	*count++
	return i.write(func() error { return i.e.f.Publish(rel, v) })
}

// replace writes a file of a discussion that is not complete before its task is there.
func (i *importer) replace(rel string, v any) error {
	return i.write(func() error { return i.e.f.Write(rel, v) })
}

// each calls do with the ids of the JSON files of a folder that v can be read from, and with their paths.
func (i *importer) each(dir string, v func() any, do func(id, rel string) error) error {
	names, err := i.src.Names(dir)
	errs := []error{err}
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ".json")
		if !ok || !council.ValidID(id) {
			continue
		}
		if err := i.src.Read(dir+"/"+name, v()); err != nil {
			i.skip(dir+"/"+name, "%v", err)
			continue
		}
		errs = append(errs, do(id, dir+"/"+name))
	}
	return errors.Join(errs...)
}

// oldAttachment is how the article's page describes a file in attachments/<task> or attachments/<task>/comments/<comment>.
type oldAttachment struct {
	council.Attachment
	Filename     string `json:"filename"`
	OriginalName string `json:"original_name"`
}

// attachments copies the files that a record lists from one of the folders from to the folder to, and returns how they are listed here.
func (i *importer) attachments(rel string, list []oldAttachment, from []string, to, prefix string) (all []council.Attachment, err error) {
	for n, old := range list {
		name := cmp.Or(old.Filename, old.File)
		data, err := i.attachment(name, from)
		if n >= council.MaxAttachments {
			err = fmt.Errorf("at most %d are taken", council.MaxAttachments)
		}
		if err != nil {
			i.skip(rel, "attachment %.80q: %v", name, err)
			continue
		}
		a := council.Attachment{Name: cmp.Or(old.OriginalName, old.Name, name), File: prefix + fileName(name, n), Size: int64(len(data))}
		if err := i.write(func() error { return i.e.f.PublishBytes(to+"/"+a.File, data) }); err != nil {
			return nil, err
		}
		i.report.Attachments++
		all = append(all, a)
	}
	return all, nil
}

// attachment reads a file from the first of some folders that has it.
func (i *importer) attachment(name string, folders []string) (data []byte, err error) {
	if err := council.CheckFile(name); err != nil {
		return nil, err // a path, which is not followed
	}
	for _, dir := range folders {
		if data, err = i.src.ReadBytes(dir+"/"+name, maxUpload); err == nil {
			return data, nil
		}
	}
	return nil, err
}

// task makes a task of the other folder valid. Its attachments are copied to the folder files.
func (i *importer) task(rel, id, files string) (t council.Task, ok bool, err error) {
	var old struct {
		council.Task
		Attachments []oldAttachment `json:"attachments"`
	}
	if err := i.src.Read(rel, &old); err != nil {
		i.skip(rel, "%v", err)
		return t, false, nil
	}
	t = old.Task
	t.ID, t.Status, t.Source = cmp.Or(t.ID, id), council.StatusPending, cmp.Or(t.Source, "import")
	if t.Type != council.TypeQuestion {
		t.Type = council.TypeTask
	}
	if err := t.Check(); err != nil {
		i.skip(rel, "%v", err)
		return t, false, nil
	}
	if t.ID != id {
		i.skip(rel, "has the id %.80q, not that of its name", t.ID)
		return t, false, nil
	}
	from := []string{"attachments/" + id, "discussions/" + id + "/attachments", "inbox/attachments/" + id}
	t.Attachments, err = i.attachments(rel, old.Attachments, from, files, "")
	return t, err == nil, err
}

// inbox copies tasks that nobody has discussed.
func (i *importer) inbox() error {
	return i.each(folder.Inbox, func() any { return new(council.Task) }, func(id, rel string) error {
		if i.src.Exists(folder.TaskDir(id)) || i.e.taken(id) {
			return nil
		}
		t, ok, err := i.task(rel, id, folder.Inbox+"/attachments/"+id)
		if !ok {
			return err
		}
		return i.put(rel, t, &i.report.Tasks)
	})
}

// discussions copies discussions and decisions.
func (i *importer) discussions() error {
	ids, err := i.src.TaskIDs()
	for _, id := range ids {
		if i.e.f.Exists(folder.TaskDir(id)+"/task.json") || i.e.f.ArchivedDir(id) != "" {
			continue
		}
		if err := i.discussion(id); err != nil {
			return fmt.Errorf("import %s: %w", id, err)
		}
	}
	lone := i.each(folder.Decisions, func() any { return new(json.RawMessage) }, func(id, rel string) error {
		if council.ValidTaskID(id) && !i.src.Exists(folder.TaskDir(id)+"/task.json") && i.e.f.ArchivedDir(id) == "" && !strings.HasSuffix(id, "_result") && !strings.HasSuffix(id, "_history") {
			i.skip(rel, "there is no discussion of it")
		}
		return nil
	})
	return errors.Join(err, lone)
}

// discussion copies a discussion: the ballots as they are, a seal for each finished round, and the decision if there is one. The task comes
// last, so that what a crash has left is copied again.
func (i *importer) discussion(id string) error {
	dir := folder.TaskDir(id)
	t, ok, err := i.task(dir+"/task.json", id, dir+"/attachments")
	if !ok {
		return err
	}
	s, err := i.src.Task(id)
	if err != nil {
		return err
	}
	d := s.Decision
	if d == nil && i.src.Exists(folder.DecisionPath(id, "")) { // to discuss again what was decided might carry it out twice
		i.skip(folder.DecisionPath(id, ""), "%s; the discussion is not copied without it", strings.Join(s.Problems, "; "))
		return nil
	}
	decided := d != nil && (d.Decision == council.Approved || d.Decision == council.Rejected)
	roster := i.e.set.Roster()
	if decided {
		i.report.Decisions++
		roster = voters(s)
	} else {
		i.report.Continued = append(i.report.Continued, id)
	}
	i.report.Discussions++
	errs := []error{i.comments(id)}
	for _, a := range s.Rounds {
		errs = append(errs, i.round(s, a, roster, decided))
	}
	if decided {
		errs = append(errs, i.replace(folder.Own(dir)+"/imported.json", i.decision(*d, t, s)))
	}
	if r := (council.Result{}); decided && i.src.Read(folder.DecisionPath(id, "_result"), &r) == nil {
		r.TaskID, r.Attempt, r.Succeeded, r.CompletedAt = id, 1, d.Status != council.StatusFailed, cmp.Or(r.CompletedAt, d.DecidedAt, i.e.now()).UTC()
		errs = append(errs, i.replace(folder.Own(dir)+"/result_1_1.json", r))
	}
	set := i.e.set
	begun := time.Time{}
	if s.Status != nil {
		begun = s.Status.StartedAt
	}
	claim := council.Claim{TaskID: id, ClaimedAt: cmp.Or(begun, t.CreatedAt, i.e.now()).UTC(), Roster: roster, Need: council.Need(len(roster)), Policy: set.Policy,
		MinRounds: set.MinRounds, MaxRounds: max(set.MaxRounds, len(s.Rounds)), Discuss: set.Discuss, Arbiter: set.WithRole(council.RoleArbiter)}
	if err := errors.Join(append(errs, i.replace(folder.Own(dir)+"/claim.json", claim))...); err != nil {
		return err
	}
	return i.replace(dir+"/task.json", t)
}

// voters returns who has a ballot in a discussion, sorted.
func voters(s *flow.Snapshot) []string {
	var names []string
	for _, a := range s.Rounds {
		for name, b := range a.Ballots {
			if b.Problem == "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// comments copies the comments of a discussion, whose author is a word.
func (i *importer) comments(id string) error {
	rel := folder.TaskDir(id) + "/comments.json"
	var old []struct {
		council.Comment
		Attachments []oldAttachment `json:"attachments"`
		Author      string          `json:"author"`
	}
	if err := i.src.Read(rel, &old); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		i.skip(rel, "%v", err)
		return nil
	}
	var all []council.Comment
	for _, o := range old {
		c := o.Comment
		c.Author = council.Author{Kind: "stranger", Name: o.Author}
		if o.Author == "user" {
			c.Author.Kind = "owner"
		}
		if len(o.Attachments) > 0 && council.ValidID(c.ID) {
			var err error
			from := []string{"attachments/" + id + "/comments/" + c.ID, folder.TaskDir(id) + "/attachments"}
			if c.Attachments, err = i.attachments(rel, o.Attachments, from, folder.TaskDir(id)+"/attachments", c.ID+"-"); err != nil {
				return err
			}
		}
		all = append(all, c)
	}
	return i.replace(rel, all)
}

// round copies the ballots of a round, and seals it unless the discussion goes on there. Only ballots of members of this council are in a
// discussion that goes on.
func (i *importer) round(s *flow.Snapshot, a flow.Attempt, roster []string, decided bool) error {
	dir := folder.RoundDir(folder.TaskDir(s.ID), a.Round, 1)
	own := folder.RoundDir(folder.OwnDir(s.ID), a.Round, 1)
	seal := council.Seal{Round: a.Round, Attempt: 1, Roster: roster, Need: council.Need(len(roster)), Ballots: []council.SealedVote{}, Abstentions: map[string]string{}, Families: 1}
	for name, b := range a.Ballots {
		if b.Problem != "" {
			i.skip(dir+"/"+name+".json", "%s", b.Problem)
		}
	}
	var first time.Time // a vote of the round
	for _, name := range roster {
		b, ok := a.Ballots[name]
		if !ok || b.Problem != "" {
			seal.Abstentions[name] = council.AbstainError
			continue
		}
		rel := dir + "/" + name + ".json"
		data, err := i.src.ReadBytes(rel, council.MaxTaskBytes)
		if err != nil {
			return err
		}
		if err := i.write(func() error { return i.e.f.PublishBytes(rel, data) }); err != nil {
			return err
		}
		turn := council.Turn{Member: name, Phase: "opinion", Attempt: 1, StartedAt: b.Timestamp, Reason: "imported", BallotSHA256: b.SHA256}
		if err := i.replace(own+"/_turn_"+name+".json", turn); err != nil {
			return err
		}
		if at := b.Timestamp.UTC(); first.IsZero() || at.Before(first) {
			first = at
		}
		if b.Timestamp.After(seal.SealedAt) {
			seal.SealedAt = b.Timestamp.UTC()
		}
		seal.Ballots = append(seal.Ballots, council.SealedVote{Member: name, Vote: b.Vote, SHA256: b.SHA256, Attempt: 1, Ballot: &b.Ballot})
	}
	opened := council.Opened{Cycle: 1, Round: a.Round, Attempt: 1, OpenedAt: cmp.Or(first, i.e.now()), Deadline: i.e.now().Add(i.e.set.Timeouts.Round)}
	if err := i.replace(own+"/_open.json", opened); err != nil || !decided && len(seal.Abstentions) > 0 {
		return err // the others are asked
	}
	return i.replace(own+"/_seal.json", seal)
}

// oldStatus are the words of both versions of the article that this council does not use, by what they mean here.
var oldStatus = map[string]string{
	"consensus_reached": council.StatusDecided, "pending": council.StatusPendingAnnouncement, "post_processing": council.StatusReviewing,
	"done": council.StatusCompleted, "error": council.StatusFailed, "archived": council.StatusCompleted,
}

// decision returns the record of a decision with our words. What was not finished is not begun again: a person sees to it.
func (i *importer) decision(d council.Decision, t council.Task, s *flow.Snapshot) council.Decision {
	d.TaskID, d.Cycle, d.Status = t.ID, 1, cmp.Or(oldStatus[d.Status], d.Status, council.StatusAnnounced)
	switch {
	case d.Decision == council.Rejected:
		d.Status = council.StatusRejected
	case d.Status != council.StatusFailed && i.src.Exists(folder.DecisionPath(t.ID, "_result")):
		d.Status = council.StatusCompleted
	}
	d.DecidedBy = cmp.Or(d.DecidedBy, council.ByCouncil)
	if d.DecidedBy != council.ByCouncil && d.DecidedBy != council.ByOwner {
		d.DecidedBy = council.ByArbiter
	}
	d.DecidedAt = cmp.Or(d.DecidedAt, t.CreatedAt, i.e.now()).UTC().Truncate(time.Second)
	d.Votes, d.Usage = []council.RoundVotes{}, map[string]council.Usage{}
	for _, a := range s.Rounds {
		v := council.RoundVotes{Round: a.Round, Attempt: 1, Votes: map[string]string{}}
		for name, b := range a.Ballots {
			if b.Problem == "" {
				v.Votes[name] = b.Vote
			}
		}
		d.Votes = append(d.Votes, v)
	}
	d.Degraded = append(d.Degraded, "Imported: decided by another program, by its rules.")
	d.MemoryPath = fmt.Sprintf("%s/%s-%s.md", council.DecisionNotes, d.DecidedAt.Format(time.DateOnly), t.ID)
	return d
}
