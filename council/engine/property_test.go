package engine_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kioku/council"
	"kioku/council/counciltest"
	"kioku/council/engine"
	"kioku/council/flow"
)

// moves are the transitions of a status, as each of them is written. A crash between the record of a decision and the status leaves "decided"
// out.
var moves = map[string][]string{
	"":                                {council.StatusDiscussing},
	council.StatusDiscussing:          {council.StatusPendingAnnouncement, council.StatusArbitrating, council.StatusDecided, council.StatusRejected, council.StatusStalled, council.StatusCancelled},
	council.StatusArbitrating:         {council.StatusPendingAnnouncement, council.StatusDecided, council.StatusRejected, council.StatusStalled, council.StatusCancelled},
	council.StatusStalled:             {council.StatusPendingAnnouncement, council.StatusDecided, council.StatusRejected, council.StatusCancelled},
	council.StatusDecided:             {council.StatusPendingAnnouncement, council.StatusAnnouncing, council.StatusAnnounced, council.StatusExecuting, council.StatusCancelled},
	council.StatusPendingAnnouncement: {council.StatusAnnouncing, council.StatusAnnounced, council.StatusExecuting, council.StatusCancelled},
	council.StatusAnnouncing:          {council.StatusPendingAnnouncement, council.StatusAnnounced, council.StatusExecuting, council.StatusCancelled},
	council.StatusAnnounced:           {council.StatusExecuting, council.StatusReviewing, council.StatusCompleted, council.StatusFailed, council.StatusCancelled},
	council.StatusExecuting:           {council.StatusReviewing, council.StatusCompleted, council.StatusFailed, council.StatusCancelled},
	council.StatusReviewing:           {council.StatusRemediating, council.StatusCompleted, council.StatusFailed, council.StatusCancelled},
	council.StatusRemediating:         {council.StatusReviewing, council.StatusCompleted, council.StatusFailed, council.StatusCancelled},
}

// killed is what a test panics with in the place of kill -9.
type killed struct{ point string }

// lab is a council under a random schedule.
type lab struct {
	t      *rapid.T
	dir    string
	clock  *counciltest.Clock
	script *counciltest.Script
	set    council.Settings
	e      *engine.Engine
	// fuse is the number of points after which the engine is killed; negative for never.
	fuse int
	// once are files that must never change, by path; status is the last status of each task and cycle.
	once   map[string][32]byte
	status map[string]council.Status
	forged map[string]bool
}

func (l *lab) open() {
	o := engine.Options{Folder: l.dir + "/council", Settings: l.set, Workspace: l.dir + "/agent", Ask: l.script, Now: l.clock.Now, Crash: func(point string) {
		if point == "status.json:after" {
			l.checkStatus("task_1")
		}
		if l.fuse == 0 {
			l.fuse = -1
			panic(killed{point})
		}
		l.fuse--
	}}
	e, err := engine.OpenInline(o)
	if err != nil {
		l.t.Fatal(err)
	}
	l.e = e
}

// try runs a step. If the engine is killed in it, another one is opened.
func (l *lab) try(do func() error) (dead bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(killed); !ok {
				panic(p)
			}
			if err := l.e.Abandon(); err != nil {
				l.t.Fatal(err)
			}
			dead = true
			l.fuse = -1
			l.open()
		}
	}()
	if err := do(); err != nil && !errors.Is(err, engine.ErrState) && !errors.Is(err, engine.ErrNotFound) {
		l.t.Fatal(err)
	}
	return false
}

// quiet has everything done that is due, however often the engine is killed meanwhile.
func (l *lab) quiet() {
	for l.try(func() error { return l.e.Quiet(l.t.Context()) }) {
	}
}

// drawScript draws how the members vote in each turn.
func drawScript(t *rapid.T, set council.Settings) *counciltest.Script {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "votes"), 0))
	s := &counciltest.Script{Votes: map[counciltest.Key]string{}}
	kinds := []string{council.VoteApprove, council.VoteWithChanges, council.VoteReject, counciltest.Silent}
	for _, m := range set.Members {
		for round := 1; round <= 6; round++ {
			for attempt := 1; attempt <= 3; attempt++ {
				s.Votes[counciltest.Key{Member: m.Name, Phase: "opinion", Round: round, Attempt: attempt}] = kinds[r.IntN(len(kinds))]
			}
		}
	}
	for _, phase := range []string{"arbitration", "announcement", "answer", "review"} {
		s.Votes[counciltest.Key{Phase: phase}] = rapid.SampledFrom([]string{council.VoteApprove, council.VoteReject, counciltest.Silent}).Draw(t, phase)
	}
	return s
}

// drawSettings draws a council.
func drawSettings(t *rapid.T, dir string) council.Settings {
	set := counciltest.Settings(dir, rapid.IntRange(3, 5).Draw(t, "members"))
	set.Policy = rapid.SampledFrom([]string{council.PolicyMajority, council.PolicyMajority, council.PolicyChair}).Draw(t, "policy")
	set.MaxRounds = rapid.IntRange(1, 3).Draw(t, "rounds")
	set.Execution.Mode = rapid.SampledFrom([]string{council.ModeReport, council.ModeAnswer}).Draw(t, "mode")
	set.Execution.Review = rapid.Bool().Draw(t, "review")
	return set
}

func newLab(t *rapid.T, dir string) *lab {
	l := &lab{t: t, dir: dir, clock: counciltest.NewClock(), fuse: -1, once: map[string][32]byte{}, status: map[string]council.Status{}, forged: map[string]bool{}}
	l.set = drawSettings(t, dir)
	l.script = drawScript(t, l.set)
	l.open()
	return l
}

// late puts a file of a ballot into the folder, as a late member, a faulty one or a stranger would.
func (l *lab) late(id string) {
	round := rapid.IntRange(1, 3).Draw(l.t, "late round")
	name := rapid.SampledFrom(l.set.Roster()).Draw(l.t, "late member")
	task := fmt.Sprintf("%s/council/discussions/%s", l.dir, id)
	dir := fmt.Sprintf("%s/round_%d", task, round)
	if _, err := os.Stat(fmt.Sprintf("%s/.engine/round_%d", task, round)); err != nil {
		return
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		l.t.Fatal(err)
	}
	text := rapid.SampledFrom([]string{
		fmt.Sprintf(`{"node":%q,"round":%d,"vote":"approve","opinion":"forged"}`, name, round),
		fmt.Sprintf(`{"node":%q,"round":%d,"vote":"reject"}`, name, round),
		fmt.Sprintf(`{"node":"stranger","round":%d,"vote":"approve"}`, round), `I approve`, `{"vote":`,
	}).Draw(l.t, "late text")
	path := dir + "/" + name + ".json"
	l.forged[path] = true
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// owner does something that only a person does.
func (l *lab) owner(id string) {
	me, ctx := council.Author{Kind: "owner"}, l.t.Context()
	what := rapid.SampledFrom([]string{"round", "approve", "reject", "cancel", "report", "comment", "outcome"}).Draw(l.t, "owner")
	l.try(func() error {
		switch what {
		case "round":
			return l.e.RequestRound(ctx, id, me, "once more")
		case "approve":
			return l.e.Decide(ctx, id, council.Approved, "my way", "because", me)
		case "reject":
			return l.e.Decide(ctx, id, council.Rejected, "", "because", me)
		case "cancel":
			return l.e.Cancel(ctx, id, "no longer", me)
		case "report":
			return l.e.ReportResult(ctx, id, council.Result{Result: "done", Succeeded: rapid.Bool().Draw(l.t, "succeeded"), Author: me})
		case "outcome":
			return l.e.RecordOutcome(ctx, id, council.OutcomeWorked, "", me)
		}
		_, err := l.e.Comment(ctx, id, council.Comment{Author: me, Message: "I wonder."})
		return err
	})
}

// The invariants I1 to I12 under random schedules, crashes, late files and requests of owners.
func TestInvariantsHoldUnderEverySchedule(t *testing.T) {
	t.Parallel()
	base := counciltest.Dir(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		l := newLab(t, fmt.Sprintf("%s/%d", base, n))
		defer os.RemoveAll(l.dir)
		defer func() { l.e.Close() }()
		const id = "task_1"
		submitted := false
		for !submitted {
			l.fuse = rapid.IntRange(-1, 3).Draw(t, "fuse of the submission")
			l.try(func() error {
				_, err := l.e.Submit(t.Context(), council.Task{ID: id, Title: "A question of the house", Description: "What is to be done?"})
				if errors.Is(err, engine.ErrExists) {
					return nil
				}
				return err
			})
			_, err := l.e.Get(t.Context(), id)
			submitted = err == nil
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				l.late(id)
			case 1:
				l.owner(id)
			case 2, 3, 4:
				l.fuse = rapid.IntRange(0, 40).Draw(t, "fuse")
				l.try(func() error { return l.e.Pass(t.Context()) })
			case 5, 6:
				l.clock.Add(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, 6 * time.Minute, 16 * time.Minute, 3 * time.Hour}).Draw(t, "later"))
			default:
				l.try(func() error { return l.e.Pass(t.Context()) })
			}
			l.check(id)
		}
		l.quiet()
		l.check(id)
		l.settled(id)
	})
}

var onceOnly = regexp.MustCompile(`/(_seal|_open|claim|task|cycle_\d+|owner_\d+|arbitration(_\d+)?|announcement_\d+|approval_\d+|exec_\d+_\d+|result_\d+_\d+|review_\d+_\d+|superseded|noted_\d+)\.json$|/round_\d+(/attempt_\d+)?/[a-z]+\.json$`)

// check checks what must hold at any moment, also right after a crash.
func (l *lab) check(id string) {
	l.t.Helper()
	root := l.dir + "/council/discussions/" + id
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !onceOnly.MatchString(path) || l.forged[path] {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		if old, ok := l.once[path]; ok && old != sum {
			l.t.Fatalf("I1, I3: %s has changed:\n%s", path, data)
		}
		l.once[path] = sum
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	d, err := l.e.Get(l.t.Context(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	l.checkStatus(id)
	l.checkDecision(d)
	l.checkCalls(d)
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "council" && e.Name() != "agent" {
			l.t.Fatalf("I10, I12: there is %s beside the council", e.Name())
		}
	}
}

// checkStatus checks I6: that the status moves along the table.
func (l *lab) checkStatus(id string) {
	var now council.Status
	data, err := os.ReadFile(l.dir + "/council/discussions/" + id + "/status.json")
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || json.Unmarshal(data, &now) != nil {
		l.t.Fatal(err, string(data))
	}
	old := l.status[id]
	l.status[id] = now
	if old.Status == now.Status || old.Cycle < now.Cycle {
		return
	}
	if old.Cycle > now.Cycle {
		l.t.Fatalf("I6: back from cycle %d to %d", old.Cycle, now.Cycle)
	}
	if !slices.Contains(moves[old.Status], now.Status) {
		l.t.Fatalf("I6: from %s to %s", old.Status, now.Status)
	}
}

// checkDecision checks I2, I3 and I4: that a decision is what its seals say.
func (l *lab) checkDecision(d engine.Detail) {
	for _, r := range d.Rounds {
		if r.Seal == nil && len(r.Ballots) > 0 {
			l.t.Fatal("ballots of a round in progress are shown")
		}
		if r.Seal == nil {
			continue
		}
		if !slices.Equal(r.Seal.Roster, d.Status.Roster) || r.Seal.Need != d.Status.Need || r.Seal.Need != council.Need(len(l.set.Members)) {
			l.t.Fatalf("I3: roster %v, need %d", r.Seal.Roster, r.Seal.Need)
		}
		if len(r.Seal.Ballots)+len(r.Seal.Abstentions) != len(r.Seal.Roster) {
			l.t.Fatalf("I5: %d ballots and %d abstentions of %d", len(r.Seal.Ballots), len(r.Seal.Abstentions), len(r.Seal.Roster))
		}
		for _, v := range r.Seal.Ballots {
			if v.Ballot.Opinion == "forged" {
				l.t.Fatalf("I2: a ballot that nobody was asked for counts: %+v", v)
			}
		}
	}
	if d.Decision == nil {
		return
	}
	last := d.Rounds[max(0, len(d.Rounds)-1):]
	switch d.Decision.DecidedBy {
	case council.ByCouncil:
		if len(last) == 0 || last[0].Seal == nil {
			l.t.Fatal("I4: the council has decided without a sealed round")
		}
		if out := flow.Tally(*last[0].Seal, l.set.Policy, 1); string(out) != d.Decision.Decision {
			l.t.Fatalf("I4: %s by votes that say %s", d.Decision.Decision, out)
		}
	case council.ByArbiter:
		if len(last) == 0 || last[0].Seal == nil || len(last[0].Seal.Ballots) < last[0].Seal.Need || len(d.Arbitrations) == 0 {
			l.t.Fatal("I4: the arbiter has decided without a quorum, or without a word")
		}
	case council.ByOwner:
	default:
		l.t.Fatalf("I4: decided by %q", d.Decision.DecidedBy)
	}
}

// checkCalls checks I9: the bound of calls of models for a decision.
func (l *lab) checkCalls(d engine.Detail) {
	rounds, calls := map[string]bool{}, 0
	for _, r := range d.Rounds {
		rounds[fmt.Sprint(r.Round, r.Attempt)] = true
		for _, turn := range r.Turns {
			if turn.Calls > flow.MaxCalls {
				l.t.Fatalf("I9: %d calls in a turn", turn.Calls)
			}
		}
	}
	for _, q := range l.script.Asked() {
		if q.Phase == "opinion" || q.Phase == "arbitration" || q.Phase == "announcement" {
			calls++
		}
	}
	// A turn that has made its two calls is asked in vain at most: Counting refuses it, and the question is counted here all the same.
	if bound := len(l.set.Members)*len(rounds)*flow.MaxCalls + 4*d.Status.Cycle; calls > bound {
		l.t.Fatalf("I9: %d calls, at most %d are allowed", calls, bound)
	}
}

// settled checks what must hold once nothing is due: I7, that doing it again changes nothing, and I11, that the memory is what the record
// says.
func (l *lab) settled(id string) {
	before := tree(l.t, l.dir)
	l.quiet()
	if err := l.e.Close(); err != nil {
		l.t.Fatal(err)
	}
	l.open()
	l.quiet()
	if after := tree(l.t, l.dir); !bytes.Equal(before, after) {
		l.t.Fatalf("I7: doing it again changes something:\n%s\n---\n%s", before, after)
	}
	d, err := l.e.Get(l.t.Context(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	if d.Decision != nil {
		if _, err := os.Stat(l.dir + "/agent/" + d.Decision.MemoryPath); err != nil {
			l.t.Fatalf("I11: %v", err)
		}
	}
}

// tree returns the names and hashes of all files but logs, activities and health.json.
func tree(t interface{ Fatal(...any) }, dir string) []byte {
	var b bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/logs/") || strings.HasSuffix(path, "activity.json") || strings.HasSuffix(path, "health.json") || strings.HasSuffix(path, ".lock") {
			return err
		}
		data, err := os.ReadFile(path)
		sum := sha256.Sum256(data)
		fmt.Fprintln(&b, strings.TrimPrefix(path, dir), hex.EncodeToString(sum[:8]))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
