package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"kioku/council"
	"kioku/council/folder"
)

// importer copies the shared folder of another program of the article's layout. The folder is not changed.
type importer struct {
	e      *Engine
	src    *folder.Folder
	dry    bool
	report ImportReport
}

// Import copies the tasks, discussions, decisions, evaluations, parameters, commands, suggestions, requests and logs of a folder in the
// article's layout. What is finished keeps its decision and becomes memory; an unfinished discussion goes on under the policy of this
// council. What is here already is not copied again. With dryRun nothing is written.
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
	i := &importer{e: e, src: src, dry: dryRun}
	err = errors.Join(i.inbox(), i.discussions(), i.params(), i.evaluations(), i.commands(), i.files("rebuild_requests", &i.report.Actions), i.logs(), i.suggestions())
	slices.Sort(i.report.Continued)
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
	i.report.Skipped = append(i.report.Skipped, rel+": "+fmt.Sprintf(format, args...))
}

// put publishes a file, and reports whether it was not here before.
func (i *importer) put(rel string, v any) (bool, error) {
	if i.e.f.Exists(rel) {
		return false, nil
	}
	if i.dry {
		return true, nil
	}
	return true, i.e.f.Publish(rel, v)
}

// task reads a task of the other folder and makes it valid. Its attachments are copied to the folder files.
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
	t.ID, t.Status = cmp.Or(t.ID, id), council.StatusPending
	t.Type = cmp.Or(t.Type, council.TypeTask)
	if t.Type != council.TypeTask && t.Type != council.TypeQuestion {
		t.Type = council.TypeTask
	}
	t.Source = cmp.Or(t.Source, "import")
	if err := t.Check(); err != nil || t.ID != id {
		i.skip(rel, "id %.80q, %v", t.ID, err)
		return t, false, nil
	}
	from := []string{"attachments/" + id, "discussions/" + id + "/attachments", "inbox/attachments/" + id}
	t.Attachments, err = i.attachments(rel, old.Attachments, from, files, "")
	return t, err == nil, err
}

// inbox copies tasks that nobody has discussed.
func (i *importer) inbox() error {
	names, err := i.src.Names("inbox")
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ".json")
		if !ok || i.src.Exists("discussions/"+id) || i.e.f.Exists(folder.TaskDir(id)) {
			continue
		}
		if i.e.f.Exists("inbox/" + name) {
			continue
		}
		t, ok, err := i.task("inbox/"+name, id, folder.Inbox+"/attachments/"+id)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		did, err := i.put("inbox/"+name, t)
		if err != nil {
			return err
		}
		if did {
			i.report.Tasks++
		}
	}
	return err
}

// discussions copies discussions and decisions.
func (i *importer) discussions() error {
	names, err := i.src.Names("discussions")
	for _, id := range names {
		if !council.ValidTaskID(id) || i.e.f.Exists(folder.TaskDir(id)+"/task.json") || i.e.archivedDir(id) != "" {
			continue
		}
		if err := i.discussion(id); err != nil {
			return fmt.Errorf("import %s: %w", id, err)
		}
	}
	return err
}

var oldRound = regexp.MustCompile(`^round_([1-9][0-9]?)$`)

// discussion copies a discussion: the ballots as they are, a seal for each finished round, and the decision if there is one. The task comes
// last, so that what a crash has left is copied again.
func (i *importer) discussion(id string) error {
	dir := "discussions/" + id
	t, ok, err := i.task(dir+"/task.json", id, folder.TaskDir(id)+"/attachments")
	if !ok {
		return err
	}
	var d council.Decision
	decided := i.src.Read("decisions/"+id+".json", &d) == nil && (d.Decision == council.Approved || d.Decision == council.Rejected)
	rounds, roster, err := i.rounds(dir)
	if err != nil {
		return err
	}
	if decided {
		i.report.Decisions++
	} else {
		roster = i.e.set.Roster()
		i.report.Continued = append(i.report.Continued, id)
	}
	i.report.Discussions++
	if err := i.comments(id); err != nil || i.dry {
		return err
	}
	for _, r := range rounds {
		if err := i.round(id, r, roster, decided); err != nil {
			return err
		}
	}
	if decided {
		imported := i.decision(d, t, rounds)
		if err := i.replace(folder.TaskDir(id)+"/imported.json", imported); err != nil {
			return err
		}
	}
	if result := (council.Result{}); i.src.Read("decisions/"+id+"_result.json", &result) == nil {
		if err := i.replace(folder.DecisionPath(id, "_result"), result); err != nil {
			return err
		}
	}
	set := i.e.set
	claim := council.Claim{TaskID: id, ClaimedAt: cmp.Or(t.CreatedAt, i.e.now()).UTC(), Roster: roster, Need: council.Need(len(roster)), Policy: set.Policy,
		MinRounds: set.MinRounds, MaxRounds: max(set.MaxRounds, len(rounds)), Arbiter: set.WithRole(council.RoleArbiter)}
	if err := i.replace(folder.TaskDir(id)+"/claim.json", claim); err != nil {
		return err
	}
	return i.replace(folder.TaskDir(id)+"/task.json", t)
}

// replace writes a file of a discussion that is not complete before its task is there.
func (i *importer) replace(rel string, v any) error {
	_, err := i.e.f.Write(rel, v)
	return err
}

// oldBallots are the ballots of a round.
type oldBallots struct {
	round   int
	ballots map[string]council.Ballot
}

// rounds reads the rounds of a discussion and who has taken part.
func (i *importer) rounds(dir string) (all []oldBallots, roster []string, err error) {
	names, err := i.src.Names(dir)
	seen := map[string]bool{}
	for _, name := range names {
		m := oldRound.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		r := oldBallots{ballots: map[string]council.Ballot{}}
		fmt.Sscanf(m[1], "%d", &r.round)
		files, err := i.src.Names(dir + "/" + name)
		if err != nil {
			return nil, nil, err
		}
		for _, file := range files {
			node, ok := strings.CutSuffix(file, ".json")
			var b council.Ballot
			rel := path.Join(dir, name, file)
			if !ok || !council.ValidName(node) {
				continue
			}
			if err := i.src.Read(rel, &b); err != nil {
				i.skip(rel, "%v", err)
				continue
			}
			if problem := folder.BallotProblem(b, node, r.round); problem != "" {
				i.skip(rel, "%s", problem)
				continue
			}
			r.ballots[node], seen[node] = b, true
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b oldBallots) int { return cmp.Compare(a.round, b.round) })
	return all, slices.Sorted(maps.Keys(seen)), err
}

// round writes the ballots of a round, and its seal unless the discussion goes on there. Only ballots of members of this council are in
// a discussion that goes on.
func (i *importer) round(id string, r oldBallots, roster []string, decided bool) error {
	dir := folder.RoundDir(id, r.round, 1)
	seal := council.Seal{Round: r.round, Attempt: 1, Roster: roster, Need: council.Need(len(roster)), Ballots: []council.SealedVote{}, Abstentions: map[string]string{}, Families: 1}
	for _, name := range roster {
		b, ok := r.ballots[name]
		if !ok {
			seal.Abstentions[name] = council.AbstainError
			continue
		}
		data, err := json.MarshalIndent(b, "", "  ")
		if err != nil {
			return err
		}
		if err := i.e.f.PublishBytes(dir+"/"+name+".json", append(data, '\n')); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := i.replace(dir+"/_turn_"+name+".json", council.Turn{Member: name, Phase: "opinion", Attempt: 1, StartedAt: b.Timestamp, Reason: "imported", BallotSHA256: folder.Sum(append(data, '\n'))}); err != nil {
			return err
		}
		if b.Timestamp.After(seal.SealedAt) {
			seal.SealedAt = b.Timestamp.UTC()
		}
		seal.Ballots = append(seal.Ballots, council.SealedVote{Member: name, Vote: b.Vote, SHA256: folder.Sum(append(data, '\n')), Attempt: 1, Ballot: &b})
	}
	opened := council.Opened{Cycle: 1, Round: r.round, Attempt: 1, OpenedAt: i.e.now(), Deadline: i.e.now().Add(i.e.set.Timeouts.Round)}
	if err := i.replace(dir+"/_open.json", opened); err != nil {
		return err
	}
	if !decided && len(seal.Abstentions) > 0 {
		return nil // the others are asked
	}
	return i.replace(dir+"/_seal.json", seal)
}

// oldStatus are the words of both versions of the article that this council does not use, by what they mean here.
var oldStatus = map[string]string{
	"consensus_reached": council.StatusDecided, "pending": council.StatusPendingAnnouncement, "post_processing": council.StatusReviewing,
	"done": council.StatusCompleted, "error": council.StatusFailed, "archived": council.StatusCompleted,
}

// decision returns the record of a decision with our words. What was not finished is not begun again: a person sees to it.
func (i *importer) decision(d council.Decision, t council.Task, rounds []oldBallots) council.Decision {
	d.TaskID, d.Cycle = t.ID, 1
	if word, ok := oldStatus[d.Status]; ok {
		d.Status = word
	}
	if d.Decision == council.Rejected {
		d.Status = council.StatusRejected
	} else if d.Status != council.StatusFailed {
		d.Status = cmp.Or(map[bool]string{true: council.StatusCompleted}[i.src.Exists("decisions/"+t.ID+"_result.json")], d.Status, council.StatusAnnounced)
	}
	d.DecidedBy = cmp.Or(d.DecidedBy, council.ByCouncil)
	if d.DecidedBy != council.ByCouncil && d.DecidedBy != council.ByOwner {
		d.DecidedBy = council.ByArbiter
	}
	if d.DecidedAt.IsZero() {
		d.DecidedAt = cmp.Or(t.CreatedAt, i.e.now())
	}
	d.DecidedAt = d.DecidedAt.UTC().Truncate(time.Second)
	d.Votes, d.Usage = []council.RoundVotes{}, map[string]council.Usage{}
	for _, r := range rounds {
		v := council.RoundVotes{Round: r.round, Attempt: 1, Votes: map[string]string{}}
		for name, b := range r.ballots {
			v.Votes[name] = b.Vote
		}
		d.Votes = append(d.Votes, v)
	}
	d.Degraded = append(d.Degraded, "Imported: decided by another program, by its rules.")
	d.MemoryPath = fmt.Sprintf("%s/%s-%s.md", council.DecisionNotes, d.DecidedAt.Format(time.DateOnly), t.ID)
	return d
}

// params copies the parameters of members of this council that have none yet.
func (i *importer) params() error {
	var errs []error
	for _, name := range i.e.set.Roster() {
		rel := paramsPath(name)
		var p map[string]any
		if i.src.Read(rel, &p) != nil {
			continue
		}
		did, err := i.put(rel, p)
		errs = append(errs, err)
		if did {
			i.report.Params++
		}
	}
	return errors.Join(errs...)
}

// evaluations copies evaluation cycles. One without a result is not gone on with.
func (i *importer) evaluations() error {
	ids, err := i.src.Names("evaluations")
	errs := []error{err}
	for _, id := range ids {
		if !council.ValidID(id) || !i.src.Exists("evaluations/"+id+"/request.json") || i.e.f.Exists(cycleDir(id)) {
			continue
		}
		i.report.Evaluations++
		if !i.dry && !i.src.Exists("evaluations/"+id+"/result.json") {
			errs = append(errs, i.e.f.Publish(cycleDir(id)+"/result.json", council.CycleResult{CycleID: id, CompletedAt: i.e.now(), RetuneTargets: []string{}, Status: council.CycleIncomplete, Reason: "imported"}))
		}
		n := 0
		errs = append(errs, i.files("evaluations/"+id, &n))
	}
	return errors.Join(errs...)
}

// files copies the JSON files of a folder as they are.
func (i *importer) files(dir string, count *int) error {
	names, err := i.src.Names(dir)
	errs := []error{err}
	for _, name := range names {
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		var v any
		if err := i.src.Read(dir+"/"+name, &v); err != nil {
			i.skip(dir+"/"+name, "%v", err)
			continue
		}
		did, err := i.put(dir+"/"+name, v)
		errs = append(errs, err)
		if did {
			*count++
		}
	}
	return errors.Join(errs...)
}

// commands copies commands of a bot that were answered, as its history. bot_commands/<x>.json has no name of the worker: it is that of
// the first worker of the settings.
func (i *importer) commands() error {
	if len(i.e.set.Workers) == 0 {
		return nil
	}
	worker := i.e.set.Workers[0]
	names, err := i.src.Names("bot_commands")
	errs := []error{err}
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ".json")
		var c struct {
			council.Command
			ProcessedAt  time.Time `json:"processed_at"`
			Result       string    `json:"result"`
			ResultDetail string    `json:"result_detail"`
			CreatedAt    time.Time `json:"created_at"`
		}
		if !ok || !council.ValidID(id) {
			continue
		}
		if err := i.src.Read("bot_commands/"+name, &c); err != nil {
			i.skip("bot_commands/"+name, "%v", err)
			continue
		}
		c.Command.ID, c.Worker, c.IssuedAt, c.ExpiresAt = id, worker, c.CreatedAt, c.CreatedAt.Add(commandLife)
		c.IssuedBy = council.Author{Kind: "engine", Name: "import"}
		did, err := i.put(commandPath(worker, id), c.Command)
		errs = append(errs, err)
		if !did {
			continue
		}
		i.report.Commands++
		ack := council.Ack{ID: id, Status: council.AckExpired, ProcessedAt: cmp.Or(c.ProcessedAt, i.e.now()), Result: cmp.Or(c.Result, "imported"), ResultDetail: c.ResultDetail}
		_, err = i.put(ackPath(worker, id), ack)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// suggestions copies suggestions of a bot, to be looked at like new ones.
func (i *importer) suggestions() error {
	if len(i.e.set.Workers) == 0 {
		return nil
	}
	worker := i.e.set.Workers[0]
	errs := []error{}
	for _, dir := range []string{"openclaw-suggestions", "suggestions"} {
		names, err := i.src.Names(dir)
		errs = append(errs, err)
		for _, name := range names {
			var s council.Suggestion
			id, ok := strings.CutSuffix(name, ".json")
			if !ok || !council.ValidID(id) || i.src.Read(dir+"/"+name, &s) != nil {
				continue
			}
			did, err := i.put(suggestionPath(worker, id), council.Suggestion{Title: s.Title, Description: s.Description, SubmittedAt: s.SubmittedAt})
			errs = append(errs, err)
			if did {
				i.report.Suggestions++
			}
		}
	}
	return errors.Join(errs...)
}

// logs copies the plain logs beside ours.
func (i *importer) logs() error {
	names, err := i.src.Names("logs")
	errs := []error{err}
	for _, name := range names {
		data, err := i.src.ReadBytes("logs/"+name, 10<<20)
		if err != nil || !strings.HasSuffix(name, ".log") {
			continue
		}
		i.report.Logs++
		if !i.dry && !i.e.f.Exists("logs/imported/"+name) {
			errs = append(errs, i.e.f.PublishBytes("logs/imported/"+name, data))
		}
	}
	return errors.Join(errs...)
}
